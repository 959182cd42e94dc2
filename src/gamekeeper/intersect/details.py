"""Convert columns of Intersect's game data to the fields that the engine sends: details of catalogue entries."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import values
from gamekeeper.intersect.fields import FIELDS, Field, Kind
from gamekeeper.intersect.source import Row
from gamekeeper.intersect.vitals import VITAL_COUNT

MAX_BYTES = 65_536  # size of the details of one entry, the same as for entries that a game publishes
TOO_LARGE = "its further fields are too large: imported without them"


class TooLargeError(ValueError):
    """The further fields of an entry are larger than MAX_BYTES."""


def encode_details(noun: str, columns: Sequence[str | None], row: Row) -> str | None:
    """Encode the fields of a row as a JSON object; None if there are none."""
    fields: dict[str, Any] = {}
    for column, raw in zip(columns, row[1:], strict=True):
        if column is None:
            continue
        known = FIELDS[noun].get(column)
        if known:
            _add_field(fields, known, raw)
        elif not isinstance(raw, bytes):  # a column of somebody's own version of the engine: its type is unknown
            fields[column] = values.clean_text(raw) if isinstance(raw, str) else raw
    if noun == "items":
        _tell_droppable(fields)
    encoded = msgspec.json.encode(fields)
    if len(encoded) > MAX_BYTES:
        raise TooLargeError
    return encoded.decode() if fields else None


def _add_field(fields: dict[str, Any], known: Field, raw: object) -> None:
    if known.kind is Kind.OWN:
        return
    *outer, name = known.path
    for each in outer:
        fields = fields.setdefault(each, {})
    fields[name] = _READERS[known.kind](raw)


def _tell_droppable(fields: dict[str, Any]) -> None:
    """Set CanDrop. The column Bound has held it since CanTrade exists; before that it meant the opposite."""
    if "Bound" in fields:
        bound = fields["Bound"] if "CanTrade" not in fields else not fields["Bound"]
        fields |= {"Bound": bound, "CanDrop": not bound}


# --- readers of one value: what the engine cannot have stored becomes the value of a new object ---------------------


def _read_integer(raw: object) -> int:
    return int(_read_number(raw)) if isinstance(raw, float) else raw if values.is_integer(raw) else 0


def _read_number(raw: object) -> float:
    return float(raw) if isinstance(raw, int | float) and math.isfinite(raw) else 0.0


def _read_text(raw: object) -> str | None:
    return None if raw is None else values.clean_text(raw)


def _read_guid(raw: object) -> str:
    return values.parse_guid(raw) or ZERO_GUID


def _read_list(raw: object) -> list[object]:
    found = values.decode_json(raw)
    return cast("list[object]", found) if isinstance(found, list) else []


def _read_object(raw: object) -> dict[str, object]:
    found = values.decode_json(raw)
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _read_colour(raw: object) -> dict[str, object]:
    return _read_object(raw) or {"A": 255, "R": 255, "G": 255, "B": 255}


def _read_vitals(raw: object) -> list[int]:
    return _read_integers(raw, VITAL_COUNT)


def _read_stats(raw: object) -> list[int]:
    return _read_integers(raw, values.STAT_COUNT)


def _read_integers(raw: object, count: int) -> list[int]:
    found = [_read_integer(each) for each in _read_list(raw)[:count]]
    return found + [0] * (count - len(found))


def _read_conditions(raw: object) -> dict[str, str]:
    """Put the lists of conditions as text into an object, as the engine sends them."""
    return {"Lists": values.clean_text(raw) or "[]"}


_READERS: Mapping[Kind, Callable[[object], object]] = {
    Kind.FLAG: values.parse_flag,
    Kind.INTEGER: _read_integer,
    Kind.NUMBER: _read_number,
    Kind.TEXT: _read_text,
    Kind.GUID: _read_guid,
    Kind.COLOUR: _read_colour,
    Kind.LIST: _read_list,
    Kind.OBJECT: _read_object,
    Kind.VITALS: _read_vitals,
    Kind.STATS: _read_stats,
    Kind.CONDITIONS: _read_conditions,
}
