"""Readers of single query parameters: parse the text, or raise a refusal that names the parameter.

`MailCursor` is the position in a list that is sorted by time, newest first: the next page starts after it.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gamekeeper.game.access import security_log
from gamekeeper.game.audit.history import KINDS, PointInTime
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField
from gamekeeper.ground import instants
from gamekeeper.store.audit.history import NEVER


class MailCursor(NamedTuple):
    at: int
    id: str  # tie-breaker: mails of the same time follow in descending order of their ids

    def __str__(self) -> str:
        return f"{self.at}-{self.id}"


START = MailCursor(NEVER, lookup.ZERO_GUID)


# function that parses a query parameter; arguments: text, name of the parameter
SERVER = "[A-Za-z0-9._:-]{1,64}"
_SERVER = re.compile(SERVER, re.ASCII)
ReadValue = Callable[[str, str], object]

CHANGE_NUMBER = "[0-9]{1,18}"  # pattern of a change number: 18 digits always fit into 64 bits
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
TIME = "must be a time such as 2026-11-15T12:00:00Z"
MOMENT = "must be a time such as 2026-11-15 12:00 or 2026-11-15T12:00:00Z, or the number of a change such as 1234"
TRUTH = {"true": True, "false": False}
REST_OF_SECOND_MS = 999
_MAX_DIGITS = 19  # digits of an integer query parameter; no limit of a parameter has more
_CHANGE_NUMBER = re.compile(CHANGE_NUMBER, re.ASCII)
_SHOWN_UTC = re.compile(" UTC$")  # the console shows times with this ending; it is replaced by `Z` before parsing
# Pattern of the time of day in a timestamp, and its fraction of a second.
_CLOCK = re.compile(r"[^\d+-]\d\d:?\d\d(?::?\d\d)?(?P<fraction>[.,]\d+)?(?:Z|[+-][\d:.]+)?$")


def make_integer_reader(least: int, most: int, cut: int | None) -> ReadValue:
    """Make a reader for an integer query parameter from `least` to `most`. Numbers above `cut` count as `cut`."""
    largest = most if cut is None else cut

    def read(text: str, name: str) -> object:
        if text.isdigit() and text.isascii() and len(text) <= _MAX_DIGITS and least <= (value := int(text)) <= most:
            return min(value, largest)
        raise BadField(field=name, problem=f"must be a whole number from {least} to {most}")

    return read


def make_lenient_reader(default: int, least: int, most: int) -> ReadValue:
    """Make a reader for operations of the engine: a number that is out of range counts as the nearest one.

    A text that is no number counts as the default, such as `0pageSize=25` of a client that forgets the `&`. Control
    characters are refused: no client sends them.
    """

    def read(text: str, name: str) -> object:
        _refuse_controls(text, name)
        digits = text.strip().removeprefix("-").removeprefix("+")
        if not digits.isdigit() or not digits.isascii():
            return default
        if len(digits) > _MAX_DIGITS:
            return least if text.strip().startswith("-") else most
        return max(least, min(int(text), most))

    return read


def read_lenient_direction(text: str, name: str) -> str:
    """Read the engine's sort direction, by name or number; any other text counts as ascending."""
    _refuse_controls(text, name)
    return "Descending" if text.strip().lower() in {"descending", "1"} else "Ascending"


def make_lenient_choice_reader(options: Sequence[str]) -> ReadValue:
    """Make a reader for operations of the engine: any text that is none of the options counts as the first one."""
    known = {each.lower(): each for each in options}

    def read(text: str, name: str) -> object:
        _refuse_controls(text, name)
        return known.get(text.strip().lower(), options[0])

    return read


def make_choice_reader(options: Sequence[str]) -> ReadValue:
    """Make a reader for a query parameter that is one of the options, in any letter case."""
    known = {each.lower(): each for each in options}

    def read(text: str, name: str) -> object:
        found = known.get(text.lower())
        if found is None:
            raise BadField(field=name, problem=f"must be {' or '.join(options)}")
        return found

    return read


def make_word_reader(words: Sequence[str], otherwise: ReadValue) -> ReadValue:
    """Make a reader for a query parameter that is one of the words, in any case; other texts go to `otherwise`."""
    known = {each.lower(): each for each in words}

    def read(text: str, name: str) -> object:
        return known.get(text.lower()) or otherwise(text, name)

    return read


def make_text_reader(longest: int | None) -> ReadValue:
    problem = f"must be at most {longest} printable characters" if longest else "must have no control characters"

    def read(text: str, name: str) -> object:
        if CONTROL.search(text) or (longest and len(text) > longest):
            raise BadField(field=name, problem=problem)
        return text

    return read


def make_id_reader(problem: str) -> ReadValue:
    def read(text: str, name: str) -> object:
        found = lookup.parse_guid(text)
        if found is None:
            raise BadField(field=name, problem=problem)
        return found

    return read


def read_boolean(text: str, name: str) -> bool:
    found = TRUTH.get(text.lower())
    if found is None:
        raise BadField(field=name, problem="must be true or false")
    return found


def read_start(text: str, name: str) -> int:
    """Read the start of a time range as milliseconds since 1970."""
    return _read_time(text, name, TIME)


def read_end(text: str, name: str) -> int:
    """Read the end of a time range in ms since 1970. Without a fraction it means the last millisecond of its second."""
    return _read_time(text, name, TIME, to_end=True)


def read_moment(text: str, name: str) -> PointInTime:
    """Read a query parameter that is a time or the number of a change."""
    if text.isascii() and text.isdigit():
        return PointInTime(seq=read_change_number(text, name))
    return PointInTime(at=_read_time(text, name, MOMENT, to_end=True))


def read_change_number(text: str, name: str) -> int:
    if not _CHANGE_NUMBER.fullmatch(text):
        raise BadField(field=name, problem="must be the number of a change")
    return int(text)


def read_session_cursor(text: str, name: str) -> int:
    if not _CHANGE_NUMBER.fullmatch(text):
        raise BadField(field=name, problem="must be the Next of the previous page")
    return int(text)


def read_server(text: str, name: str) -> str:
    if not _SERVER.fullmatch(text):
        raise BadField(field=name, problem="must have 1 to 64 characters: letters from A to Z, digits, and . _ : -")
    return text


def read_kind(text: str, name: str) -> str:
    """Read a query parameter that is a kind of change. The refusal suggests similar kinds."""
    if CONTROL.search(text):
        raise BadField(field=name, problem="must have no control characters")
    if text in KINDS:
        return text
    near = difflib.get_close_matches(text.lower(), KINDS)
    meant = f"did you mean {' or '.join(near)}?" if near else f"the kinds are {', '.join(KINDS)}"
    raise BadField(field=name, problem=f"is not a kind of change: {meant}")


def read_event_kind(text: str, name: str) -> str:
    """Read a query parameter that is a kind of event of the security log."""
    if text in security_log.KINDS:
        return text
    raise BadField(field=name, problem=f"must be one of {', '.join(security_log.KINDS)}")


def read_mail_cursor(text: str, name: str) -> MailCursor:
    at, _, last = text.partition("-")
    found = lookup.parse_guid(last)
    if not _CHANGE_NUMBER.fullmatch(at) or found is None:
        raise BadField(field=name, problem="must be the Next of the previous page")
    return MailCursor(int(at), found)


def _refuse_controls(text: str, name: str) -> None:
    if CONTROL.search(text):
        raise BadField(field=name, problem="must have no control characters")


def _read_time(text: str, name: str, problem: str, *, to_end: bool = False) -> int:
    text = _SHOWN_UTC.sub("Z", text)
    try:
        return instants.parse_typed_time(text) + (_find_remaining_ms(text) if to_end else 0)
    except (ValueError, OverflowError):
        raise BadField(field=name, problem=problem) from None


def _find_remaining_ms(text: str) -> int:
    """Return 999 for a time without a fraction of a second, else 0 (in ms). Browsers omit the seconds `:00`."""
    clock = _CLOCK.search(text)
    return REST_OF_SECOND_MS if clock and not clock["fraction"] else 0
