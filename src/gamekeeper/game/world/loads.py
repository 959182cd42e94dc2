"""Parts that all bulk loads share, and the progress of an import."""

import contextlib
import gc
from collections.abc import Generator, Sequence

from gamekeeper.game.core.change import Unlogged, unlogged
from gamekeeper.store.core import ordered_lists
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import variables as variables_rows
from gamekeeper.store.players.variables import AssignedText
from gamekeeper.store.world import catalogue, guilds, imports, logs
from gamekeeper.store.world.catalogue import CatalogueEntry
from gamekeeper.store.world.guilds import GuildColumns, GuildMember, GuildValue
from gamekeeper.store.world.imports import Leftover
from gamekeeper.store.world.logs import ActivityEntry, TradeEntry


@contextlib.contextmanager
def pause_gc() -> Generator[None]:
    """Disable the cyclic garbage collector in a bulk load: rows have no cycles, and it costs a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@unlogged
async def save_progress(tx: Writing, state: imports.ImportState) -> None:
    """Store the progress of an import, in the same transaction as the imported rows."""
    tx.defer(imports.SQL.save, *state[:-1])


@unlogged
async def load_leftovers(tx: Writing, owners: str, rows: Sequence[Leftover]) -> None:
    """Store leftovers of an import. No rule uses them, so they are not in the audit log."""
    tx.load(imports.SQL.named[f"load_of_{owners}"], rows)


@unlogged
async def load_variables(tx: Writing, kind: str, variables: Sequence[CatalogueEntry]) -> None:
    """Store imported variables of the server with their values, or of guilds. One that exists is an error."""
    sql = catalogue.SQL
    statement, columns = (sql.load_server_variables, 7) if kind == "servervariables" else (sql.load_guild_variables, 6)
    tx.load(statement, [each[:columns] for each in variables])


@unlogged
async def load_guilds(tx: Writing, imported: Sequence[GuildColumns], values: Sequence[GuildValue]) -> None:
    """Store imported guilds, still without members, and the values of their variables."""
    tx.load(guilds.SQL.load, imported)
    tx.load(guilds.SQL.load_values, values)


@unlogged
async def load_memberships(tx: Writing, members: Sequence[GuildMember], texts: Sequence[AssignedText]) -> None:
    """Put imported players into their guilds, and store their text and fractions."""
    tx.load(guilds.SQL.load_members, members)
    guilds.recount(tx, sorted({each.guild_id for each in members}))
    tx.load(variables_rows.SQL.load_texts, texts)


@unlogged
async def load_activity(tx: Writing, entries: Sequence[ActivityEntry]) -> None:
    """Store imported entries of the log of activity. They are not changes, but a log."""
    await logs.add_activity(tx, entries)


@unlogged
async def load_trades(tx: Writing, entries: Sequence[TradeEntry]) -> None:
    """Store imported entries of the log of trades."""
    await logs.add_trades(tx, entries)


# PAUSE_LISTS and RESUME_LISTS enclose a bulk load: its rows bypass the change log of the ordered lists
PAUSE_LISTS, RESUME_LISTS = Unlogged(ordered_lists.begin_bulk_load), Unlogged(ordered_lists.end_bulk_load)
# DROP_INDEXES precedes the first batch of a bulk load: building indexes from all rows afterwards is faster
DROP_INDEXES = Unlogged(database_checks.drop_indexes)
