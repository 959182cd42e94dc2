"""What stands in Intersect's columns, as values of ours: guids, moments, flags, numbers and lists of them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast

import msgspec

from gamekeeper.game import lookup
from gamekeeper.game.inventory import NO_BUFFS

MAX_INT = 2**31 - 1  # of what is an integer there and here
MAX_LONG = 2**63 - 1
GUID_BYTES = 16
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = (datetime(9999, 1, 1, tzinfo=UTC) - EPOCH).days * 86_400_000  # the last year there is stands for it
STAT_COUNT = 5
MAX_SLOTS = 1000  # of a bag, as on the wire; of every other place too, unless the settings have more
REPLACEMENT = "\ufffd"  # what stands where text was not UTF-8
NOT_UTF8 = f"some of its text is not UTF-8: read with {REPLACEMENT} in its place"


def parse_guid(raw: object) -> str | None:
    """In .NET's order when it is bytes: the first three groups come with their last byte first."""
    if isinstance(raw, bytes):
        if len(raw) != GUID_BYTES:
            return None
        first = raw[3::-1].hex()
        return f"{first}-{raw[5:3:-1].hex()}-{raw[7:5:-1].hex()}-{raw[8:10].hex()}-{raw[10:].hex()}"
    return (
        lookup.parse_guid(raw.strip().lower()) if isinstance(raw, str) else None
    )  # what is lower case is read quickly


def encode_guid(text: str) -> bytes:
    """A guid of ours in .NET's order."""
    raw = bytes.fromhex(text.replace("-", ""))
    return raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]


def show_id(raw: object) -> str:
    """An id for people to read, whatever stands there."""
    return parse_guid(raw) or (raw.hex() if isinstance(raw, bytes) else str(raw))


class GuidCache(dict[object, str | None]):
    """Guids that come again and again, each read once."""

    def __missing__(self, raw: object) -> str | None:
        found = self[raw] = parse_guid(raw)
        return found


def parse_time(raw: object) -> int | None:
    """Milliseconds since 1970, and None for what is no moment or was before."""
    milliseconds = _parse_milliseconds(raw)
    return milliseconds if milliseconds is not None and milliseconds > 0 else None


def parse_end(raw: object) -> int | None:
    """When a ban ends; None: it does not. One that ended before 1970 is over like any other."""
    at = _parse_milliseconds(raw)
    if at is None:
        raise ValueError("it is no moment")
    return None if at >= NEVER else max(at, 0)


def _parse_milliseconds(raw: object) -> int | None:
    """Since 1970; None: it is no moment. One without a zone is UTC."""
    if isinstance(raw, str):
        try:
            raw = datetime.fromisoformat(raw.strip())
        except ValueError:
            return None
    if not isinstance(raw, datetime):
        return None
    since = (raw if raw.tzinfo else raw.replace(tzinfo=UTC)) - EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def clean_text(raw: object) -> str:
    """What every database can keep of it."""
    if raw is None:
        return ""
    kept = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
    return kept.replace("\x00", "").encode(errors="replace").decode()


def has_replacement(row: Iterable[object]) -> bool:
    """Whether a text in it was not UTF-8."""
    return any(isinstance(each, str) and REPLACEMENT in each for each in row)


def parse_flag(raw: object) -> bool:
    """MySQL may have it as a bit, which comes as a byte."""
    return any(raw) if isinstance(raw, bytes) else bool(raw)


def parse_number(raw: object, least: int, most: int = MAX_INT) -> int | None:
    """None when there is no such number."""
    return raw if isinstance(raw, int) and least <= raw <= most else None


def clamp_bag_size(raw: object) -> int:
    """Of a bag: as near to it as there is one."""
    return max(1, min(raw, MAX_SLOTS)) if isinstance(raw, int) else 1


def decode_json(raw: object) -> Any:  # noqa: ANN401 - JSON may be anything
    """None when it is no JSON."""
    if not isinstance(raw, str | bytes):
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        return None


@lru_cache(maxsize=4096)
def parse_numbers(raw: str | bytes | None, count: int, missing: int = 0) -> tuple[int, ...] | None:
    """A JSON list, cut or filled up to so many numbers; None when it is none."""
    found = decode_json(raw)
    return _fit_numbers(cast("list[object]", found), count, missing) if isinstance(found, list) else None


@lru_cache(maxsize=4096)
def parse_buffs(raw: str | bytes | None) -> tuple[int, ...] | None:
    """Of StatBuffs, or of the StatModifiers in ItemProperties; None when it cannot be read."""
    if raw is None or raw in ("", "null"):
        return NO_BUFFS
    found = decode_json(raw)
    if isinstance(found, dict):
        found = cast("dict[str, object]", found).get("StatModifiers")
        if found is None:
            return NO_BUFFS
    return _fit_numbers(cast("list[object]", found), STAT_COUNT, 0) if isinstance(found, list) else None


def _fit_numbers(found: list[object], count: int, missing: int) -> tuple[int, ...] | None:
    if not all(isinstance(each, int) for each in found):
        return None
    kept = [max(-MAX_INT, min(each, MAX_INT)) for each in cast("list[int]", found)[:count]]
    return tuple(kept + [missing] * (count - len(kept)))
