"""A place in a list that is ordered by time, the newest first: it goes on with what is before it."""

from typing import NamedTuple

from gamekeeper.game import lookup
from gamekeeper.store.history import NEVER


class MailCursor(NamedTuple):
    at: int
    id: str  # of those at that moment, the ones with smaller ids come after it

    def __str__(self) -> str:
        return f"{self.at}-{self.id}"


START = MailCursor(NEVER, lookup.ZERO_GUID)
