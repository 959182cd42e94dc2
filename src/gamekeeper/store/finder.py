"""Whatever has a name, by its beginning; whatever has an id, by that."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("finder")
LAST = "\U0010ffff"  # no letter comes after it


class Player(NamedTuple):
    id: str
    name: str
    fold: str
    level: int


class User(NamedTuple):
    id: str
    name: str
    fold: str  # of the name or of the email: of what it was found by
    email: str


class Named(NamedTuple):
    kind: str
    id: str
    name: str


class Deleted(NamedTuple):
    kind: str
    before: bytes | str | None


async def players(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[Player]:
    return [Player(*row) for row in await tx.all(SQL.players, _ranges(beginnings), each, most)]


async def users(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[User]:
    return [User(*row) for row in await tx.all(SQL.users, _ranges(beginnings), each, most)]


async def emails(tx: Reading, beginnings: Iterable[str], each: int, most: int) -> list[User]:
    return [User(*row) for row in await tx.all(SQL.emails, _ranges(beginnings), each, most)]


async def catalogue(tx: Reading, pattern: str, most: int) -> list[Named]:
    return [Named(*row) for row in await tx.all(SQL.catalogue, pattern, most)]


async def by_id(tx: Reading, wanted: str) -> list[Named]:
    """A bag is its owner, found by the bag."""
    return [Named(*row) for row in await tx.all(SQL.by_id, wanted)]


async def deleted(tx: Reading, wanted: str) -> list[Deleted]:
    """A character or an account that had the id; it may be there again."""
    return [Deleted(*row) for row in await tx.all(SQL.deleted, wanted)]


def _ranges(beginnings: Iterable[str]) -> str:
    return as_table({"from": each, "to": each + LAST} for each in beginnings)
