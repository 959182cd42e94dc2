"""Checks of values that callers send: variables, texts, ranges and names.

Variables of the server and of guilds are texts, numbers and booleans, checked as in the engine.
"""

import math
import re
from collections.abc import Callable, Mapping

import msgspec

from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField, ReservedName, WrongValueType
from gamekeeper.ground.settings import Settings

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


MAX_REASON_CHARACTERS = 255
_UNSTORABLE_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_UNWRITABLE_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def require_text(text: str, field: str, longest: int | None) -> str:
    return _check_text(text, field, longest, _UNWRITABLE_TEXT)


def require_game_text(text: str, field: str, longest: int | None) -> str:
    """Check a text that a game sent. U+0080 to U+009F are allowed: games that confuse cp1252 with Latin-1 send them."""
    return _check_text(text, field, longest, _UNSTORABLE_TEXT)


def _check_text(text: str, field: str, longest: int | None, unfit: re.Pattern[str]) -> str:
    if longest is not None and len(text) > longest:
        raise BadField(field=field, problem=f"must have at most {longest} characters")
    if unfit.search(text):
        raise BadField(field=field, problem="has characters that cannot be stored")
    return text


def require_order(field: str, start: int | None, end: int | None) -> None:
    """Refuse a range that ends before it begins. `field`: the name of its start; None: no limit on that side."""
    if start is not None and end is not None and start > end:
        raise BadField(field=field, problem="must not be after the end of the range")


# a name pattern that can be explained in words: a set of characters, and the allowed length
_SIMPLE_PATTERN = re.compile(r"\[([^\\\[\]^]+)\]\{(\d+),(\d+)\}")
_PATTERN_WORDS = (  # parts of a regular expression's character class and their description, the longest first
    ("A-Za-z", "letters from A to Z"),
    ("a-zA-Z", "letters from A to Z"),
    ("A-Z", "capital letters from A to Z"),
    ("a-z", "small letters from a to z"),
    ("0-9", "digits"),
    (" ", "spaces"),
    ("_", "underscores"),
    (".", "full stops"),
    ("'", "apostrophes"),
    ("-", "hyphens"),
)
_ANY_LETTER = re.compile(r"\\w\{(\d+),(\d+)\}")  # letters of every alphabet
UNEXPLAINED = "is not a name that this server allows"


def explain_name_pattern(pattern: str) -> str:
    """Describe the names that a pattern allows. The pattern must be one set of characters with a length."""
    if found := _ANY_LETTER.fullmatch(pattern):
        allowed = "letters of every alphabet, digits and underscores"
        return f"must have {found[1]} to {found[2]} characters; {allowed} are allowed"
    found = _SIMPLE_PATTERN.fullmatch(pattern)
    if found is None:
        return UNEXPLAINED
    rest, kinds = found[1], list[str]()
    for part, words in _PATTERN_WORDS:
        if part in rest:
            rest = rest.replace(part, "", 1)
            kinds.append(words)
    if rest:
        return UNEXPLAINED
    allowed = " and ".join([*([", ".join(kinds[:-1])] if kinds[1:] else []), kinds[-1]])
    return f"must have {found[2]} to {found[3]} characters; {allowed} are allowed"


RESERVED_NAMES = frozenset({"rank", "online", "bag", "register"})


def require_name(name: str, field: str, settings: Settings) -> str:
    """Check a name for a new or renamed account or player."""
    if lookup.fold(name) in RESERVED_NAMES:
        raise ReservedName(name=name)
    if lookup.parse_guid(name):
        raise BadField(field=field, problem="must not look like an id")
    if not re.fullmatch(settings.name_pattern, name) or not lookup.is_nameable(name):
        raise BadField(field=field, problem=explain_name_pattern(settings.name_pattern))
    return name


def require_email(email: str, field: str) -> str:
    """Check an email address. Return it as it was sent, not normalised: clients compare it with the answer."""
    try:
        split_email(email)
    except ValueError as error:
        raise BadField(field=field, problem=f"is not an email address: {error}".rstrip(".")) from None
    return email


def split_email(email: str, *, globally_deliverable: bool = True) -> tuple[str, str]:
    """Return the local part and the ASCII domain of an email address. Raise ValueError if it is not one."""
    import email_validator  # noqa: PLC0415 - it loads slowly, and few commands check an address

    email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()  # accept .test and .local: local networks use such addresses
    found = email_validator.validate_email(email, check_deliverability=False, globally_deliverable=globally_deliverable)
    return found.local_part, found.ascii_domain
