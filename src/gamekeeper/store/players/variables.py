"""The variables of players. Those that hold text or decimals have a table of their own, with JSON."""

from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statements

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


class TextRow(NamedTuple):
    variable_id: str
    type: str  # String or Number
    value: str  # JSON


class AssignedText(NamedTuple):
    player_id: str
    variable_id: str
    type: str
    value: str  # JSON


async def read_texts_between(tx: Reading, first: str, last: str) -> list[AssignedText]:
    """Read the texts and decimals of all players between two player ids."""
    return await tx.rows(AssignedText, SQL.texts_between, first, last)


PERSON = (PersonRows(10, "texts", SQL.of_person, json=("value",), is_long=True),)
