"""Values of variables of the server and of guilds: texts, numbers and booleans, checked as in the engine."""

import math
import re
from collections.abc import Callable, Mapping

import msgspec

from gamekeeper.game.refusals import BadField
from gamekeeper.game.world_refusals import WrongValueType

Value = bool | int | float | str
BOOLEAN, INTEGER, STRING, NUMBER = "Boolean", "Integer", "String", "Number"  # types; players have only the first two
MAX_CHARACTERS = 10_000
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
FORM_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}  # spellings in a form, which has only texts
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?\s*", re.ASCII | re.IGNORECASE)
MAX_DIGITS = 1_000  # characters of a number as text: parsing longer ones would be slow
# tabs and line breaks are allowed: a text can be a notice with several lines
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# the engine's names for the types of JSON values
_TYPE_NAMES: Mapping[type, str] = {
    bool: "Boolean",
    int: "Int64",
    float: "Double",
    str: "String",
    dict: "JObject",
    list: "JArray",
}


def read_value(sent: object, declared: str, *, from_form: bool = False, field: str = "value") -> Value:
    """Read a JSON value, or a text of a form, as a value of the variable's type."""
    if from_form and declared == BOOLEAN and isinstance(sent, str):
        sent = FORM_BOOLEANS.get(sent.lower(), sent)
    found = _READERS[declared](sent)
    if found is None:
        raise WrongValueType(type=declared, received=_TYPE_NAMES.get(type(sent), "null"))
    if problem := _find_problem(found):
        raise BadField(field=field, problem=problem)
    return found


def encode_value(value: Value | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def decode_value(stored: str | None) -> Value | None:
    return None if stored is None else msgspec.json.decode(stored)


def find_type(value: Value) -> str:
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, str):
        return STRING
    return NUMBER if isinstance(value, float) else INTEGER


def is_same_value(one: Value | None, other: Value | None) -> bool:
    """Tell whether two values are equal in type too: unlike in Python, 1, 1.0 and true differ."""
    return type(one) is type(other) and one == other


def _find_problem(value: Value) -> str:
    if isinstance(value, bool):
        return ""
    if isinstance(value, int):
        fits = MIN_INTEGER <= value <= MAX_INTEGER
        return "" if fits else f"must be a whole number from {MIN_INTEGER} to {MAX_INTEGER}"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "must be a finite number"
    if len(value) > MAX_CHARACTERS:
        return f"must have at most {MAX_CHARACTERS} characters"
    return "has characters that cannot be stored" if _UNSTORABLE.search(value) else ""


def _read_boolean(sent: object) -> Value | None:
    return sent if isinstance(sent, bool) else None


def _read_integer(sent: object) -> Value | None:
    if isinstance(sent, float):
        # infinity stands for a whole number with too many digits, which is out of range
        return int(sent) if sent.is_integer() else MAX_INTEGER + 1 if math.isinf(sent) else None
    if isinstance(sent, str):
        return int(sent) if len(sent) <= MAX_DIGITS and _INTEGER.fullmatch(sent) else None
    return sent if isinstance(sent, int) and not isinstance(sent, bool) else None


def _read_number(sent: object) -> Value | None:
    if isinstance(sent, str):
        return float(sent) if len(sent) <= MAX_DIGITS and _NUMBER.fullmatch(sent) else None
    return float(sent) if isinstance(sent, int | float) and not isinstance(sent, bool) else None


def _read_string(sent: object) -> Value | None:
    return "" if sent is None else sent if isinstance(sent, str) else None


_READERS: Mapping[str, Callable[[object], Value | None]] = {
    BOOLEAN: _read_boolean,
    INTEGER: _read_integer,
    STRING: _read_string,
    NUMBER: _read_number,
}
