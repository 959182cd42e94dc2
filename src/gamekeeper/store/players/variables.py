"""The variables of players. Those that hold text or decimals have a table of their own, with JSON."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)


class VariableRow(NamedTuple):
    variable_id: str
    type: str
    value: int


class AnyVariableRow(NamedTuple):
    """A variable of any type: `value` of an integer or boolean, `text` of a text or decimal."""

    variable_id: str
    type: str
    value: int | None
    text: str | None  # JSON of a text or decimal; None: the value is an integer or a boolean


class AssignedVariable(NamedTuple):
    player_id: str
    variable_id: str
    type: str
    value: int


async def read_of_player(tx: Reading, player_id: str) -> list[VariableRow]:
    return await tx.rows(VariableRow, SQL.of_player, player_id)


async def read_all_of_player(tx: Reading, player_id: str) -> list[AnyVariableRow]:
    """Read all variables of a player, with those that hold text or decimals."""
    return await tx.rows(AnyVariableRow, SQL.all_of_player, player_id)


async def find_any_of_player(tx: Reading, player_id: str, variable_id: str) -> AnyVariableRow | None:
    return await tx.row(AnyVariableRow, SQL.any_of_player, player_id, variable_id)


async def read_between(tx: Reading, first: str, last: str) -> list[AssignedVariable]:
    """Read the variables of all players between two player ids."""
    return await tx.rows(AssignedVariable, SQL.between, first, last)


def save(tx: Writing, assigned: Iterable[AssignedVariable]) -> None:
    tx.defer(SQL.save, as_table(each._asdict() for each in assigned))


def clear(tx: Writing, player_id: str, variable_ids: Iterable[str]) -> None:
    tx.defer(SQL.clear, player_id, as_column("id", variable_ids))


def load(tx: Writing, assigned: Iterable[Row]) -> None:
    """Insert many variables; the values are in the order of AssignedVariable."""
    tx.load(SQL.load, assigned)


class TextRow(NamedTuple):
    variable_id: str
    type: str  # String or Number
    value: str  # JSON


class AssignedText(NamedTuple):
    player_id: str
    variable_id: str
    type: str
    value: str  # JSON


async def read_texts_of_player(tx: Reading, player_id: str) -> list[TextRow]:
    return await tx.rows(TextRow, SQL.of_player_text, player_id)


async def read_texts_between(tx: Reading, first: str, last: str) -> list[AssignedText]:
    """Read the texts and decimals of all players between two player ids."""
    return await tx.rows(AssignedText, SQL.between_text, first, last)


def insert_texts(tx: Writing, player_id: str, texts: Iterable[TextRow]) -> None:
    tx.defer(SQL.insert, as_table({"player_id": player_id, **each._asdict()} for each in texts))


def load_texts(tx: Writing, assigned: Iterable[Row]) -> None:
    """Insert many texts and decimals; the values are in the order of AssignedText."""
    tx.load(SQL.load_text, assigned)


PERSON = (PersonRows(10, "texts", SQL.of_person, json=("value",), is_long=True),)
