"""Variables of the server, with their values."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)


class ServerVariable(NamedTuple):
    id: str
    name: str
    type: str  # Integer, Boolean, String or Number
    text_id: str
    folder: str
    value: str | None  # JSON; None: never set
    created_at: int


async def count(tx: Reading) -> int:
    row = await tx.one(SQL.count)
    return row[0] if row else 0


async def read_page(tx: Reading, limit: int, offset: int) -> list[ServerVariable]:
    """Read one page of the variables, by id."""
    return [ServerVariable(*row) for row in await tx.all(SQL.page, limit, offset)]


async def find(tx: Reading, variable_id: str) -> ServerVariable | None:
    row = await tx.one(SQL.variable, variable_id)
    return ServerVariable(*row) if row else None


async def lock(tx: Reading, variable_id: str) -> ServerVariable | None:
    row = await tx.one(SQL.lock, variable_id)
    return ServerVariable(*row) if row else None


def set_value(tx: Writing, variable_id: str, value: str | None) -> None:
    """Set the value, as JSON; None: as if never set."""
    tx.defer(SQL.set_value, variable_id, value)


def load(tx: Writing, variables: Iterable[Row]) -> None:
    """Insert many variables; the values are in the order of ServerVariable."""
    tx.load(SQL.load, variables)


async def find_known_ids(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known, as_table({"id": each} for each in ids))}
