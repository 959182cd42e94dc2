"""Guilds, their members, and the variables that guilds can have."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_column, as_table

SQL = Statements(__file__)
_ORDERS = {
    ("name", False): SQL.by_name,
    ("name", True): SQL.by_name_desc,
    ("members", False): SQL.by_members,
    ("members", True): SQL.by_members_desc,
    ("foundingdate", False): SQL.by_founding,
    ("foundingdate", True): SQL.by_founding_desc,
}


class Guild(NamedTuple):
    id: str
    name: str
    founded_at: int
    bank_slots: int
    instance_id: str | None
    members: int  # number of its members, kept by the database


class GuildColumns(NamedTuple):
    """The columns of a guild that are written; the order of the values of a bulk load."""

    id: str
    name: str
    fold: str
    founded_at: int
    bank_slots: int
    instance_id: str | None


class GuildMember(NamedTuple):
    player_id: str
    guild_id: str
    rank: int  # 0: the owner
    joined_at: int | None


class RosterEntry(NamedTuple):
    """A member of a guild, with the values that a list of members is sorted by."""

    id: str
    fold: str
    level: int
    exp: int
    created_at: int
    play_time: int
    rank: int  # 0: the owner


class MiscountedGuild(NamedTuple):
    id: str
    name: str
    members: int
    counted: int


async def find(tx: Reading, guild_id: str) -> Guild | None:
    return await tx.row(Guild, SQL.guild, guild_id)


async def count(tx: Reading, most: int) -> int:
    """Count the guilds, up to a limit."""
    return await tx.value(SQL.count, most) or 0


async def read_page(tx: Reading, order: str, limit: int, offset: int, *, descending: bool) -> list[Guild]:
    """Read one page of all guilds, by `name`, `members` or `foundingdate`."""
    return await tx.rows(Guild, _ORDERS[order, descending], limit, offset)


async def search(tx: Reading, fold: str, candidates: int, limit: int) -> list[tuple[Guild, str]]:
    """Find the guilds whose name contains a folded text, with their folded names, in no order."""
    return [(Guild(*row[:-1]), row[-1]) for row in await tx.all(SQL.called, fold, candidates, limit)]


async def lock_all(tx: Reading, ids: Iterable[str]) -> dict[str, Guild]:
    """Lock these guilds in the order of their ids: id → guild."""
    return {row[0]: Guild(*row) for row in await tx.all(SQL.lock_all, as_column("id", sorted(set(ids))))}


async def lock_players(tx: Reading, ids: Iterable[str]) -> set[str]:
    """Lock these players in the order of presence and erasures; return those who exist."""
    return {row[0] for row in await tx.all(SQL.lock_players, as_column("id", sorted(set(ids))))}


def insert(tx: Writing, guild: GuildColumns) -> None:
    """Insert a new guild. If another transaction did so first, this one is run again."""
    tx.defer(SQL.insert, *guild)


def save(tx: Writing, guild: GuildColumns) -> None:
    """Insert a guild or replace its columns. Its members stay."""
    tx.defer(SQL.save, *guild)


def delete(tx: Writing, guild_id: str) -> None:
    """Delete a guild with its members' rows and its variables."""
    tx.defer(SQL.delete, guild_id)


def load(tx: Writing, guilds: Iterable[Row]) -> None:
    """Insert many guilds; the values are in the order of GuildColumns."""
    tx.load(SQL.load, guilds)


def load_members(tx: Writing, members: Iterable[Row]) -> None:
    """Insert many members, in the order of GuildMember. In a bulk load of lists, `recount` their guilds afterwards."""
    tx.load(SQL.load_members, members)


def recount(tx: Writing, guild_ids: Iterable[str]) -> None:
    """Count the members of guilds again: a bulk load pauses the triggers that count them."""
    tx.defer(SQL.recount, as_column("id", guild_ids))


async def read_members(tx: Reading, guild_id: str) -> list[GuildMember]:
    """Read all members of a guild, by rank."""
    return await tx.rows(GuildMember, SQL.members, guild_id)


async def read_roster(tx: Reading, guild_id: str, limit: int) -> list[RosterEntry]:
    """Read the members of a guild, at most `limit`, in no order."""
    return await tx.rows(RosterEntry, SQL.roster, guild_id, limit)


async def read_memberships(tx: Reading, player_ids: Iterable[str]) -> dict[str, GuildMember]:
    """Read which of these players are in a guild: player id → membership."""
    return {row[0]: GuildMember(*row) for row in await tx.all(SQL.memberships, as_column("id", player_ids))}


def save_members(tx: Writing, members: Iterable[GuildMember]) -> None:
    """Insert members or replace their guild, rank and time."""
    tx.defer(SQL.save_members, as_table(each._asdict() for each in members))


def restore_member(tx: Writing, member: GuildMember) -> None:
    """Insert a member, unless the guild does not exist any more."""
    tx.defer(SQL.restore_member, *member)


def delete_members(tx: Writing, player_ids: Iterable[str]) -> None:
    tx.defer(SQL.delete_members, as_column("id", player_ids))


async def find_miscounted(tx: Reading) -> list[MiscountedGuild]:
    return await tx.rows(MiscountedGuild, SQL.miscounted)


async def find_known_ids(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known, as_column("id", ids))}


async def find_names(tx: Reading, ids: Iterable[str]) -> dict[str, str]:
    """Find the names of guilds by id. A deleted guild has none."""
    return {row[0]: row[1] for row in await tx.all(SQL.names, as_column("id", ids))}


async def find_known_folds(tx: Reading, folds: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_folds, as_column("fold", folds))}


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


async def find_declaration(tx: Reading, variable_id: str) -> GuildVariableDeclaration | None:
    return await tx.row(GuildVariableDeclaration, SQL.declared, variable_id)


async def has_variables(tx: Reading) -> bool:
    return await tx.one(SQL.any_declared) is not None


def load_variables(tx: Writing, variables: Iterable[Row]) -> None:
    """Insert many declared variables; the values are in the order of GuildVariableDeclaration."""
    tx.load(SQL.load_variable, variables)


async def read_values_of_guild(tx: Reading, guild_id: str) -> list[GuildValueRow]:
    return await tx.rows(GuildValueRow, SQL.of_guild, guild_id)


async def find_value(tx: Reading, guild_id: str, variable_id: str) -> GuildValueRow | None:
    return await tx.row(GuildValueRow, SQL.of_guild_one, guild_id, variable_id)


def save_values(tx: Writing, values: Iterable[GuildValue]) -> None:
    tx.defer(SQL.save_values, as_table(each._asdict() for each in values))


def clear_values(tx: Writing, guild_id: str, variable_ids: Iterable[str]) -> None:
    tx.defer(SQL.clear_values, guild_id, as_column("id", variable_ids))


def load_values(tx: Writing, values: Iterable[Row]) -> None:
    """Insert many values; the values are in the order of GuildValue."""
    tx.load(SQL.load_values, values)


async def find_known_variables(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.known_variable, as_column("id", ids))}


PERSON = (PersonRows(20, "guilds", SQL.of_person),)
