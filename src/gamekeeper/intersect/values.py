"""Values of Intersect's columns: parse guids, times, flags, numbers and lists of numbers.

`FIELDS` has the fields of the game's objects: for each column its type and its name in the engine's answers.
"""

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, cast

import msgspec

from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import NO_BUFFS

MAX_INT = 2**31 - 1  # largest 32-bit integer
MAX_LONG = 2**63 - 1
MAX_DOUBLE = sys.float_info.max
GUID_BYTES = 16
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# ms since 1970; a ban or mute that ends in the year 9999, .NET's largest, is permanent
NEVER = (datetime(9999, 1, 1, tzinfo=UTC) - EPOCH).days * 86_400_000
LAST_TIME = 253_402_300_799_999  # ms since 1970: the end of the year 9999, after which no time can be written
STAT_COUNT = 5
# most slots of a bag, as in the API; slots of inventory and bank beyond the configured size are kept up to this
MAX_SLOTS = 1000
_BOOLEAN_TYPE, _INTEGER_TYPE, _STRING_TYPE, _NUMBER_TYPE = 1, 2, 3, 4  # Intersect's numbers of data types
_TICK_BITS = 62  # the two highest bits of a .NET time are not part of it
_TICKS_AT_1970, _TICKS_PER_MS = 621_355_968_000_000_000, 10_000
REPLACEMENT = "\ufffd"  # replacement character for invalid UTF-8
NOT_UTF8 = f"some of its text is not UTF-8: invalid bytes were replaced by {REPLACEMENT}"


def parse_guid(raw: object) -> str | None:
    """Parse a guid from text or from 16 bytes in .NET's order (first three groups little-endian)."""
    if isinstance(raw, bytes):
        if len(raw) != GUID_BYTES:
            return None
        first = raw[3::-1].hex()
        return f"{first}-{raw[5:3:-1].hex()}-{raw[7:5:-1].hex()}-{raw[8:10].hex()}-{raw[10:].hex()}"
    # `lookup.parse_guid` is faster for guids in lower case
    return lookup.parse_guid(raw.strip().lower()) if isinstance(raw, str) else None


def encode_guid(text: str) -> bytes:
    """Encode a guid as 16 bytes in .NET's order."""
    raw = bytes.fromhex(text.replace("-", ""))
    return raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]


def show_id(raw: object) -> str:
    """Return an id as text for the report, even if it is invalid."""
    return parse_guid(raw) or (raw.hex() if isinstance(raw, bytes) else str(raw))


class GuidCache(dict[object, str | None]):
    """Cache of parsed guids: most values occur many times."""

    def __missing__(self, raw: object) -> str | None:
        found = self[raw] = parse_guid(raw)
        return found


def parse_time(raw: object) -> int | None:
    """Parse a time to milliseconds since 1970; None if it is invalid or not after the start of 1970."""
    milliseconds = _parse_milliseconds(raw)
    return milliseconds if milliseconds is not None and milliseconds > 0 else None


def parse_ticks(raw: object) -> int:
    """Convert a .NET time code (ticks of 100 ns since the year 1, and two bits) to milliseconds since 1970, or 0."""
    ticks = raw % 2**_TICK_BITS if isinstance(raw, int) else 0
    return max(0, (ticks - _TICKS_AT_1970) // _TICKS_PER_MS)


def parse_end(raw: object) -> int | None:
    """Parse the end of a ban or mute to milliseconds; None if it is permanent. An end before 1970 becomes 0."""
    at = _parse_milliseconds(raw)
    if at is None:
        raise ValueError("not a valid time")
    return None if at >= NEVER else max(at, 0)


def _parse_milliseconds(raw: object) -> int | None:
    """Parse a time to milliseconds since 1970; None if it is invalid. Without a time zone it is UTC."""
    if isinstance(raw, str):
        try:
            raw = datetime.fromisoformat(raw.strip())
        except ValueError:
            return None
    if not isinstance(raw, datetime):
        return None
    since = (raw if raw.tzinfo else raw.replace(tzinfo=UTC)) - EPOCH
    return min(since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000, LAST_TIME)


def clean_text(raw: object) -> str:
    """Return the value as text that every database can store: valid UTF-8 without NUL."""
    if raw is None:
        return ""
    kept = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
    return kept.replace("\x00", "").encode(errors="replace").decode()


def has_replacement(row: Iterable[object]) -> bool:
    """Return whether a text of the row contains the character that replaces invalid UTF-8."""
    return any(isinstance(each, str) and REPLACEMENT in each for each in row)


def parse_flag(raw: object) -> bool:
    """Parse a boolean; MySQL may return a BIT column as bytes."""
    return any(raw) if isinstance(raw, bytes) else bool(raw)


def is_integer(raw: object) -> TypeGuard[int]:
    """Return whether a value is an integer: a boolean of JSON is an `int` in Python, but not in our documents."""
    return isinstance(raw, int) and not isinstance(raw, bool)


def parse_number(raw: object, least: int, most: int = MAX_INT) -> int | None:
    """Return the number, or None if it is not an integer within the limits."""
    return raw if is_integer(raw) and least <= raw <= most else None


def clamp_bag_size(raw: object) -> int:
    """Return a bag's size, limited to 1 … MAX_SLOTS."""
    return max(1, min(raw, MAX_SLOTS)) if isinstance(raw, int) else 1


def parse_scalar(raw: object) -> int | bool | float | str | None:
    """Parse a variable's value; None if it was never set or is invalid.

    It is JSON such as {"Type":2,"Value":5}, and this type wins over the declared one. Before June 2019 it was a number.
    """
    found = raw if isinstance(raw, int) else decode_json(raw)
    if not isinstance(found, dict):
        kind = _BOOLEAN_TYPE if isinstance(found, bool) else _INTEGER_TYPE
    else:
        value = cast("dict[str, Any]", found)
        kind, found = value.get("Type"), value.get("Value")
    if kind == _STRING_TYPE:
        return clean_text(found) if isinstance(found, str) else None
    if not isinstance(found, int | float):
        return None
    if kind == _BOOLEAN_TYPE:
        return bool(found)
    if kind == _NUMBER_TYPE and not isinstance(found, bool):
        return float(found) if -MAX_DOUBLE <= found <= MAX_DOUBLE else None
    return parse_number(found, -MAX_LONG - 1, MAX_LONG) if kind == _INTEGER_TYPE else None


def decode_json(raw: object) -> Any:  # noqa: ANN401 - JSON may be anything
    """Decode JSON; None if it is invalid."""
    if not isinstance(raw, str | bytes):
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def decode_object(raw: object) -> dict[str, object] | None:
    found = decode_json(raw)
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def decode_list(raw: object) -> list[object] | None:
    found = decode_json(raw)
    return cast("list[object]", found) if isinstance(found, list) else None


@lru_cache(maxsize=4096)
def parse_numbers(raw: str | bytes | None, count: int, missing: int = 0) -> tuple[int, ...] | None:
    """Parse a JSON list of numbers, cut or padded to `count`; None if it is invalid."""
    return _fit_numbers(decode_list(raw), count, missing)


@lru_cache(maxsize=4096)
def parse_buffs(raw: str | bytes | None) -> tuple[int, ...] | None:
    """Parse StatBuffs, or the StatModifiers of ItemProperties; None if invalid."""
    if raw is None or raw in ("", "null"):
        return NO_BUFFS
    found = decode_json(raw)
    if isinstance(found, dict):
        found = cast("dict[str, object]", found).get("StatModifiers")
        if found is None:
            return NO_BUFFS
    return _fit_numbers(found, STAT_COUNT, 0)


def _fit_numbers(found: object, count: int, missing: int) -> tuple[int, ...] | None:
    if not isinstance(found, list) or not all(is_integer(each) for each in cast("list[object]", found)):
        return None
    kept = [max(-MAX_INT, min(each, MAX_INT)) for each in cast("list[int]", found)[:count]]
    return tuple(kept + [missing] * (count - len(kept)))


OWN = "own"  # type of a column that is no further field: Gamekeeper stores and sends it itself


class Field(NamedTuple):
    kind: str  # type of the field: see `catalogue.READERS`
    path: Sequence[str]  # names in the answer, the outer one first


def _read_column(kind: str, written: str) -> tuple[str, Field]:
    column, _, name = written.partition(">")
    return column, Field(kind, (name or column.replace("_", ".")).split("."))


# Gamekeeper's name of an Intersect table → column → field
FIELDS: Mapping[str, Mapping[str, Field]] = {
    noun: dict(_read_column(kind, column) for kind, columns in kinds.items() for column in columns.split())
    for noun, kinds in tomllib.loads(Path(__file__).with_name("fields.toml").read_text(encoding="utf-8")).items()
}
