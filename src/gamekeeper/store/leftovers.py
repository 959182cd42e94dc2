"""Leftovers: rows of an imported game that Gamekeeper does not use, kept as JSON for a program that may need them."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("leftovers")
PLAYERS, USERS, GUILDS = "players", "users", "guilds"  # owners of leftovers
_KNOWN = {PLAYERS: SQL.known_of_players, USERS: SQL.known_of_users, GUILDS: SQL.known_of_guilds}
_LOAD = {PLAYERS: SQL.load_of_players, USERS: SQL.load_of_users, GUILDS: SQL.load_of_guilds}


class Leftover(NamedTuple):
    owner_id: str
    kind: str  # what the rows are, such as friends
    data: str  # JSON list of the rows


async def find_known(tx: Reading, owners: str, ids: Iterable[str]) -> set[tuple[str, str]]:
    """Return owner and kind of the leftovers that these accounts, players or guilds have."""
    rows = await tx.all(_KNOWN[owners], as_table({"id": each} for each in ids))
    return {(owner_id, kind) for owner_id, kind in rows}


def load(tx: Writing, owners: str, leftovers: Iterable[Leftover]) -> None:
    tx.load(_LOAD[owners], leftovers)


async def read_of_person(tx: Reading, user_id: str) -> list[Leftover]:
    """Return the leftovers of an account and of its players."""
    return [Leftover(*row) for row in await tx.all(SQL.of_person, user_id)]


async def read_of_player(tx: Reading, player_id: str) -> list[Leftover]:
    return [Leftover(*row) for row in await tx.all(SQL.of_player, player_id)]


def insert_of_player(tx: Writing, leftovers: Iterable[Leftover]) -> None:
    tx.defer(SQL.insert_of_player, as_table(each._asdict() for each in leftovers))
