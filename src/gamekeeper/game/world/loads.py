"""Parts that all bulk loads share, and the progress of an import."""

import contextlib
import gc
from collections.abc import Generator, Sequence

from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.insight import activity
from gamekeeper.store.core import ordered_lists
from gamekeeper.store.engine import indexes
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import player_texts, presence
from gamekeeper.store.players.player_texts import AssignedText
from gamekeeper.store.players.presence import SessionOfPlayer
from gamekeeper.store.world import guild_variables, guilds, imports, logs, server_variables
from gamekeeper.store.world.guild_variables import GuildValue, GuildVariableDeclaration
from gamekeeper.store.world.guilds import GuildColumns, GuildMember
from gamekeeper.store.world.imports import Leftover
from gamekeeper.store.world.logs import ActivityEntry, TradeEntry
from gamekeeper.store.world.server_variables import ServerVariable


@contextlib.contextmanager
def pause_gc() -> Generator[None]:
    """Disable the cyclic garbage collector in a bulk load: rows have no cycles, and it costs a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def save_progress(state: imports.ImportState) -> Unlogged:
    """Return the effect that stores the progress of an import, in the same transaction as the imported rows."""

    async def effect(tx: Writing) -> None:
        imports.save_import(tx, state)

    return Unlogged(effect)


def load_leftovers(owners: str, rows: Sequence[Leftover]) -> Unlogged:
    """Return the effect that stores leftovers of an import. No rule uses them, so they are not in the audit log."""

    async def effect(tx: Writing) -> None:
        imports.load_leftovers(tx, owners, rows)

    return Unlogged(effect)


def load_server_variables(variables: Sequence[ServerVariable]) -> Unlogged:
    """Return the effect that stores imported variables of the server with their values."""

    async def effect(tx: Writing) -> None:
        server_variables.load(tx, variables)

    return Unlogged(effect)


def load_guild_variables(variables: Sequence[GuildVariableDeclaration]) -> Unlogged:
    """Return the effect that stores imported declarations of guilds' variables."""

    async def effect(tx: Writing) -> None:
        guild_variables.load(tx, variables)

    return Unlogged(effect)


def load_guilds(imported: Sequence[GuildColumns], values: Sequence[GuildValue]) -> Unlogged:
    """Return the effect that stores imported guilds, still without members, and the values of their variables."""

    async def effect(tx: Writing) -> None:
        guilds.load(tx, imported)
        guild_variables.load_values(tx, values)

    return Unlogged(effect)


def load_memberships(members: Sequence[GuildMember], texts: Sequence[AssignedText]) -> Unlogged:
    """Return the effect that puts imported players into their guilds, and stores their text and fractions."""

    async def effect(tx: Writing) -> None:
        guilds.load_members(tx, members)
        guilds.recount(tx, sorted({each.guild_id for each in members}))
        player_texts.load(tx, texts)

    return Unlogged(effect)


def load_activity(entries: Sequence[ActivityEntry]) -> Unlogged:
    """Return the effect that stores imported entries of the log of activity. They are not changes, but a log."""

    async def effect(tx: Writing) -> None:
        await logs.add_activity(tx, entries)

    return Unlogged(effect)


def load_sessions(sessions: Sequence[SessionOfPlayer], since: int) -> Unlogged:
    """Return the effect that stores earlier play sessions, recorded since `since`, if none is counted yet."""

    async def effect(tx: Writing) -> None:
        presence.load_sessions(tx, sessions)
        await activity.backdate(tx, since)

    return Unlogged(effect)


def load_trades(entries: Sequence[TradeEntry]) -> Unlogged:
    """Return the effect that stores imported entries of the log of trades."""

    async def effect(tx: Writing) -> None:
        await logs.add_trades(tx, entries)

    return Unlogged(effect)


# PAUSE_LISTS and RESUME_LISTS enclose a bulk load: its rows bypass the change log of the ordered lists
PAUSE_LISTS, RESUME_LISTS = Unlogged(ordered_lists.begin_bulk_load), Unlogged(ordered_lists.end_bulk_load)
# DROP_INDEXES precedes the first batch of a bulk load: building indexes from all rows afterwards is faster
DROP_INDEXES = Unlogged(indexes.drop)
