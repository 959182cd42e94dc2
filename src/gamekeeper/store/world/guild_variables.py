"""Variables that guilds can have, and their values."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)


class GuildVariableDeclaration(NamedTuple):
    id: str
    name: str
    type: str  # Integer, Boolean, String or Number
    text_id: str
    folder: str
    created_at: int


class GuildValueRow(NamedTuple):
    """The value of a guild's variable, with the variable's name; '' if it is not declared."""

    variable_id: str
    name: str
    type: str
    value: str  # JSON


class GuildValue(NamedTuple):
    guild_id: str
    variable_id: str
    type: str
    value: str  # JSON


async def find(tx: Reading, variable_id: str) -> GuildVariableDeclaration | None:
    row = await tx.one(SQL.declared, variable_id)
    return GuildVariableDeclaration(*row) if row else None


async def has_any(tx: Reading) -> bool:
    return await tx.one(SQL.any_declared) is not None


def load(tx: Writing, variables: Iterable[Row]) -> None:
    """Insert many declared variables; the values are in the order of GuildVariableDeclaration."""
    tx.load(SQL.load, variables)


async def read_of_guild(tx: Reading, guild_id: str) -> list[GuildValueRow]:
    return [GuildValueRow(*row) for row in await tx.all(SQL.of_guild, guild_id)]


async def find_of_guild(tx: Reading, guild_id: str, variable_id: str) -> GuildValueRow | None:
    row = await tx.one(SQL.of_guild_one, guild_id, variable_id)
    return GuildValueRow(*row) if row else None


def save_values(tx: Writing, values: Iterable[GuildValue]) -> None:
    tx.defer(SQL.save_values, as_table(each._asdict() for each in values))


def clear_values(tx: Writing, guild_id: str, variable_ids: Iterable[str]) -> None:
    tx.defer(SQL.clear_values, guild_id, as_table({"id": each} for each in variable_ids))


def load_values(tx: Writing, values: Iterable[Row]) -> None:
    """Insert many values; the values are in the order of GuildValue."""
    tx.load(SQL.load_values, values)


async def find_known_ids(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known, as_table({"id": each} for each in ids))}
