"""Views of the console's lists that staff saved under a name."""

from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)


class NewView(NamedTuple):
    id: str
    user_id: str
    list: str
    name: str
    query: str
    shared: bool
    created_at: int


class SavedView(NamedTuple):
    id: str
    user_id: str
    name: str
    query: str
    shared: bool


class PersonView(NamedTuple):
    list: str
    name: str
    query: str
    shared: bool
    created_at: int


def save(tx: Writing, new: NewView) -> None:
    """Save a view; one of the same account, list and name is replaced."""
    tx.defer(SQL.save, *new)


async def count_others(tx: Reading, user_id: str, listed: str, name: str) -> int:
    """Count the views of an account, without the one of this list and name."""
    row = await tx.one(SQL.count_others, user_id, listed, name)
    return row[0] if row else 0


async def read_of_viewer(tx: Reading, user_id: str, listed: str, most: int) -> list[SavedView]:
    """Read the views of an account, then those that others share; at most `most` of either."""
    return [SavedView(*row[:4], shared=bool(row[4])) for row in await tx.all(SQL.of_viewer, user_id, listed, most)]


async def is_shared(tx: Reading, view_id: str, user_id: str) -> bool:
    """Tell whether a view of this account is shared."""
    return await tx.one(SQL.is_shared, view_id, user_id) is not None


async def has_name(tx: Reading, view_id: str, user_id: str, name: str) -> bool:
    """Tell whether another view of the same list has this name."""
    return await tx.one(SQL.same_name, view_id, user_id, name) is not None


def rename(tx: Writing, view_id: str, user_id: str, name: str) -> None:
    tx.defer(SQL.rename, view_id, user_id, name)


def delete(tx: Writing, view_id: str, user_id: str, *, of_others: bool) -> None:
    """Delete a view of an account. `of_others`: also one that another account shares."""
    tx.defer(SQL.delete, view_id, user_id, of_others)


async def read_of_person(tx: Reading, user_id: str) -> list[PersonView]:
    rows = await tx.all(SQL.of_person, user_id)
    return [PersonView(*row[:3], shared=bool(row[3]), created_at=row[4]) for row in rows]
