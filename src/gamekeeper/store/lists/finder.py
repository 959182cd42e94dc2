"""Find players, accounts and catalogue entries by the start of their name, or by id."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)
LAST_CHARACTER = "\U0010ffff"  # the highest code point, which ends the range of names with a prefix


class FoundPlayer(NamedTuple):
    id: str
    name: str
    fold: str
    level: int


class FoundUser(NamedTuple):
    id: str
    name: str
    fold: str  # folded name or email, whichever matched the search
    email: str


class FoundEntry(NamedTuple):
    kind: str
    id: str
    name: str


class DeletedOwner(NamedTuple):
    kind: str
    before: bytes | str | None


async def find_players(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[FoundPlayer]:
    return [FoundPlayer(*row) for row in await tx.all(SQL.players, _to_ranges(beginnings), each, most)]


async def find_users(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[FoundUser]:
    return [FoundUser(*row) for row in await tx.all(SQL.users, _to_ranges(beginnings), each, most)]


async def find_users_by_email(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[FoundUser]:
    return [FoundUser(*row) for row in await tx.all(SQL.emails, _to_ranges(beginnings), each, most)]


async def find_catalogue_entries(tx: Reading, pattern: str, most: int) -> list[FoundEntry]:
    return [FoundEntry(*row) for row in await tx.all(SQL.catalogue, pattern, most)]


async def find_by_id_range(tx: Reading, first: str, last: str, most: int) -> list[FoundEntry]:
    """Find players and accounts whose ids lie in a range, at most `most` of each."""
    return [FoundEntry(*row) for row in await tx.all(SQL.by_id_range, first, last, most)]


async def find_by_id(tx: Reading, wanted: str) -> list[FoundEntry]:
    """Find the player, account or catalogue entry with an id; for a bag's id, return the bag's owner."""
    return [FoundEntry(*row) for row in await tx.all(SQL.by_id, wanted)]


async def find_deleted(tx: Reading, wanted: str) -> list[DeletedOwner]:
    """Find a deleted player or account that had the id; it may have been created again since."""
    return [DeletedOwner(*row) for row in await tx.all(SQL.deleted, wanted)]


def _to_ranges(beginnings: Iterable[str]) -> str:
    return as_table({"from": each, "to": each + LAST_CHARACTER} for each in beginnings)
