"""Which page is asked for, from a query or from a legacy body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from gamekeeper.game import lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http import wire

T = TypeVar("T")
DEFAULT_SIZE = 5
MOST = 2**31 - 1
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page:
    number: int
    size: int
    limit: int  # how many of the page's records are wanted

    @property
    def offset(self) -> int:
        return self.number * self.size


def from_query(query: Mapping[str, str], largest: int, default: int = DEFAULT_SIZE) -> Page:
    number = integer(query, "page", 0, 0)
    size = min(integer(query, "pageSize", 1, default), largest)
    limit = min(integer(query, "limit", 1, size), size)
    return Page(number, size, limit)


def from_body(body: wire.lists.LegacyPage, largest: int) -> Page:
    size = min(body.count if body.count > 0 else DEFAULT_SIZE, largest)
    return Page(body.page, size, size)


def ascending(query: Mapping[str, str], default: str) -> bool:
    direction = query.get("sortdirection", default).lower()
    if direction not in {"ascending", "descending"}:
        raise BadField(field="sortDirection", problem="must be Ascending or Descending")
    return direction == "ascending"


def sort(query: Mapping[str, str], sorts: Mapping[str, T]) -> T:
    """The order asked for, out of those there are; the first when nothing is asked for."""
    found = sorts.get(query.get("sortby", "").lower() or next(iter(sorts)))
    if found is None:
        raise BadField(field="sortBy", problem=f"must be {' or '.join(sorts)}")
    return found


def integer(query: Mapping[str, str], name: str, least: int, default: int, most: int = MOST) -> int:
    text = query.get(name.lower())
    if text is None:
        return default
    if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
        raise BadField(field=name, problem=f"must be a whole number from {least} to {most}")
    return int(text)


def guid(query: Mapping[str, str], name: str) -> str | None:
    """Whose, or which, where only part of a list is asked for."""
    text = query.get(name)
    if not text:
        return None
    found = lookup.guid(text)
    if found is None:
        raise BadField(field=name, problem="must be an id")
    return found
