"""Bans and mutes. An ended one stays stored until the next replaces it; the view `user_records` leaves it out."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_column, build_name_parameters

SQL = Statements(__file__)


class Penalty(NamedTuple):
    reason: str
    moderator: str  # moderator's name, as given by the caller
    ends_at: int | None  # end of the ban or mute; None: permanent
    moderator_id: str | None = None  # account with the moderator's name; None: there was none, or it is erased


class ImposedPenalty(NamedTuple):
    """A ban or a mute with its start time."""

    user_id: str
    reason: str
    moderator: str
    started_at: int
    ends_at: int | None


class PlayerOwner(NamedTuple):
    user_id: str
    player_id: str
    player: str  # name of the online player


def save_ban(tx: Writing, user_id: str, ban: Penalty) -> None:
    tx.defer(SQL.save_ban, user_id, *ban)


def save_mute(tx: Writing, user_id: str, mute: Penalty) -> None:
    tx.defer(SQL.save_mute, user_id, *mute)


def load_bans(tx: Writing, bans: Iterable[ImposedPenalty]) -> None:
    tx.load(SQL.load_bans, bans)


def load_mutes(tx: Writing, mutes: Iterable[ImposedPenalty]) -> None:
    tx.load(SQL.load_mutes, mutes)


def backdate_ban(tx: Writing, user_id: str, started_at: int) -> None:
    """Set the start of a ban that was imposed earlier, for a load of earlier changes."""
    tx.defer(SQL.backdate_ban, user_id, started_at)


def backdate_mute(tx: Writing, user_id: str, started_at: int) -> None:
    tx.defer(SQL.backdate_mute, user_id, started_at)


def lift_ban(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.lift_ban, user_id)


def lift_mute(tx: Writing, user_id: str) -> None:
    tx.defer(SQL.lift_mute, user_id)


def blank_moderator(tx: Writing, user_id: str, names: Iterable[str]) -> None:
    """Remove an erased moderator from bans and mutes: by id, or by any of these names in lower case."""
    table = as_column("name", names)
    tx.defer(SQL.blank_bans_by, user_id, table)
    tx.defer(SQL.blank_mutes_by, user_id, table)


async def find_ban(tx: Reading, user_id: str) -> Penalty | None:
    return await tx.row(Penalty, SQL.ban_of, user_id)


async def find_mute(tx: Reading, user_id: str) -> Penalty | None:
    return await tx.row(Penalty, SQL.mute_of, user_id)


async def find_bans(tx: Reading, ids: Iterable[str]) -> list[ImposedPenalty]:
    """Find the bans of these accounts that are in force."""
    return await tx.rows(ImposedPenalty, SQL.bans_of, as_column("id", ids))


async def find_mutes(tx: Reading, ids: Iterable[str]) -> list[ImposedPenalty]:
    return await tx.rows(ImposedPenalty, SQL.mutes_of, as_column("id", ids))


async def find_owner_by_fold(tx: Reading, fold: str, name: str = "") -> PlayerOwner | None:
    return await tx.row(PlayerOwner, SQL.owner_by_fold, *build_name_parameters(fold, name))


async def find_owner_by_id(tx: Reading, player_id: str) -> PlayerOwner | None:
    return await tx.row(PlayerOwner, SQL.owner_by_id, player_id)


async def find_online_of_user(tx: Reading, user_id: str) -> list[tuple[str, str]]:
    """Return the ids of the account's players that are online, each with its game server."""
    return [(row[0], row[1]) for row in await tx.all(SQL.online_of_user, user_id)]


PERSON = (PersonRows(30, "penalties", SQL.of_person),)
