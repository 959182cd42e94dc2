"""The spells that players know."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)


class KnownSpell(NamedTuple):
    player_id: str
    slot: int
    spell_id: str


async def read_known(tx: Reading, player_id: str) -> dict[int, str]:
    return {row[0]: row[1] for row in await tx.all(SQL.known, player_id)}


def save(tx: Writing, known: Iterable[KnownSpell]) -> None:
    tx.defer(SQL.save, as_table(each._asdict() for each in known))


def load(tx: Writing, known: Iterable[Row]) -> None:
    """Insert many known spells; the values are in the order of KnownSpell."""
    tx.load(SQL.load, known)


def clear(tx: Writing, player_id: str, slots: Iterable[int]) -> None:
    tx.defer(SQL.clear, player_id, as_table({"slot": slot} for slot in slots))


async def read_between(tx: Reading, first: str, last: str) -> list[KnownSpell]:
    """Read the known spells of all players between two player ids."""
    return [KnownSpell(*row) for row in await tx.all(SQL.between, first, last)]


async def count_beyond(tx: Reading, size: int) -> int:
    """Count known spells in slots beyond the configured size, from slot number `size` on."""
    row = await tx.one(SQL.beyond, size)
    return row[0] if row else 0
