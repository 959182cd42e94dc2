"""The variables set for characters."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("variables")


class VariableRow(NamedTuple):
    variable_id: str
    type: str
    value: int


class Assigned(NamedTuple):
    player_id: str
    variable_id: str
    type: str
    value: int


async def of_player(tx: Reading, player_id: str) -> list[VariableRow]:
    return [VariableRow(*row) for row in await tx.all(SQL.of_player, player_id)]


async def of_player_one(tx: Reading, player_id: str, variable_id: str) -> VariableRow | None:
    row = await tx.one(SQL.of_player_one, player_id, variable_id)
    return VariableRow(*row) if row else None


async def between(tx: Reading, first: str, last: str) -> list[Assigned]:
    """Variables of all players from the first to the last id."""
    return [Assigned(*row) for row in await tx.all(SQL.between, first, last)]


def save(tx: Writing, assigned: Iterable[Assigned]) -> None:
    tx.later(SQL.save, as_table(each._asdict() for each in assigned))


def clear(tx: Writing, player_id: str, variable_ids: Iterable[str]) -> None:
    tx.later(SQL.clear, player_id, as_table({"id": each} for each in variable_ids))


def load(tx: Writing, assigned: Iterable[Assigned]) -> None:
    tx.load(SQL.load, assigned)
