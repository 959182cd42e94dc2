"""Cursor of the list of mails, which is sorted by time, newest first. The next page starts after it."""

from typing import NamedTuple

from gamekeeper.game import lookup
from gamekeeper.store.history import NEVER


class MailCursor(NamedTuple):
    at: int
    id: str  # tie-breaker: mails of the same time follow in descending order of their ids

    def __str__(self) -> str:
        return f"{self.at}-{self.id}"


START = MailCursor(NEVER, lookup.ZERO_GUID)
