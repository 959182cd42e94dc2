"""A place in a list that is ordered by time, the newest first: it goes on with what is before it."""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.game import lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http import paging
from gamekeeper.store.history import NEVER


class Mark(NamedTuple):
    at: int
    id: str  # of those at that moment, the ones with smaller ids come after it

    def __str__(self) -> str:
        return f"{self.at}-{self.id}"


START = Mark(NEVER, lookup.ZERO)


def number(query: Mapping[str, str]) -> int | None:
    """Of the change that a history goes on before; none is the start."""
    before = paging.integer(query, "before", 1, NEVER, NEVER)
    return None if before == NEVER else before


def read(text: str) -> Mark:
    """As a query has it; an empty one is the start."""
    if not text:
        return START
    at, _, last = text.partition("-")
    found = lookup.guid(last)
    if not (at.isascii() and at.isdigit() and len(at) < len(str(NEVER))) or found is None:
        raise BadField(field="before", problem="must be as the page before gives it")
    return Mark(int(at), found)
