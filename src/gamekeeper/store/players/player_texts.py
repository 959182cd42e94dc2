"""Variables of players that hold text or decimals, as JSON."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)


class TextRow(NamedTuple):
    variable_id: str
    type: str  # String or Number
    value: str  # JSON


class AssignedText(NamedTuple):
    player_id: str
    variable_id: str
    type: str
    value: str  # JSON


async def read_of_player(tx: Reading, player_id: str) -> list[TextRow]:
    return [TextRow(*row) for row in await tx.all(SQL.of_player, player_id)]


async def read_between(tx: Reading, first: str, last: str) -> list[AssignedText]:
    """Read the texts and decimals of all players between two player ids."""
    return [AssignedText(*row) for row in await tx.all(SQL.between, first, last)]


def insert(tx: Writing, player_id: str, texts: Iterable[TextRow]) -> None:
    tx.defer(SQL.insert, as_table({"player_id": player_id, **each._asdict()} for each in texts))


def load(tx: Writing, assigned: Iterable[Row]) -> None:
    """Insert many texts and decimals; the values are in the order of AssignedText."""
    tx.load(SQL.load, assigned)
