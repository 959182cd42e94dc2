"""Search for players, accounts and catalogue entries: by the start or a part of their name, or by id; saved views."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
PART_LETTERS = 3  # characters per part of a name in the search index: it is a trigram index


class PlayerMatch(NamedTuple):
    """Id and sort keys of a found player."""

    id: str
    fold: str
    level: int
    exp: int


class UserMatch(NamedTuple):
    id: str
    fold: str
    email_fold: str
    since: int = 0  # in a filtered list: start of the ban or mute, or the last sign-in


async def find_with_powers(tx: Reading, limit: int) -> list[UserMatch]:
    """Find accounts that have any permission, in order of name."""
    return await tx.rows(UserMatch, SQL.powerful, limit)


async def has_index(tx: Reading) -> bool:
    return bool(await tx.value(SQL.indexed))


async def filter_online(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.online_among, as_column("id", ids))}


async def filter_with_powers(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.powerful_among, as_column("id", ids))}


async def read_last_sign_ins(tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    """Read the last sign-in of each of these accounts that the security log has one of."""
    found = await tx.all(SQL.last_sign_ins, as_column("id", ids))
    return {row[0]: row[1] for row in found if row[1] is not None}


LAST_CHARACTER = "\U0010ffff"  # the highest code point, which ends the range of names with a prefix


class DeletedOwner(NamedTuple):
    kind: str
    before: bytes | str | None


def as_ranges(beginnings: Iterable[str]) -> str:
    """Make the parameter with the ranges of names that have one of these prefixes."""
    return as_table({"from": each, "to": each + LAST_CHARACTER} for each in beginnings)


class SavedView(NamedTuple):
    id: str
    user_id: str
    name: str
    query: str
    shared: bool


PERSON = (PersonRows(160, "saved_views", SQL.of_person, booleans=("shared",)),)
