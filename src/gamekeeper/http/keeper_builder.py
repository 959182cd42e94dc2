"""Opens a store and the keeper over it, for commands: they start without HTTP and the console, which load slowly."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from gamekeeper.game.access import security_log
from gamekeeper.game.access.guess_limits import PasswordQueues
from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.access.passwords import Passwords
from gamekeeper.game.access.security_log import FailedGuesses
from gamekeeper.game.audit.approval_gate import ApprovalGate
from gamekeeper.game.audit.approvals import parse_rules
from gamekeeper.game.audit.retention import Follower, ProvenClock
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.writes import ChangeApplier
from gamekeeper.game.insight import board_seasons
from gamekeeper.game.insight.board_follower import BoardFollower
from gamekeeper.game.insight.economy import Economy, parse_ranked
from gamekeeper.game.insight.signal_watch import SignalChecks
from gamekeeper.game.insight.signals import parse_limits
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists.ordered_lists import Lists
from gamekeeper.game.players import gift_limits
from gamekeeper.game.world.feed import Feed
from gamekeeper.ground.settings import BadSetting, Settings, show_value
from gamekeeper.http.audit import codec
from gamekeeper.store.engine import postgres_url
from gamekeeper.store.engine.interface import Store
from gamekeeper.store.engine.sqlite import SqliteStore
from gamekeeper.store.insight import economy as economy_rows

SQLITE, POSTGRES = "sqlite:///", ("postgresql://", "postgres://")
BAD_DATABASE_URL = (
    "The database URL is invalid: its host or port is malformed. In a password write / as %2F, ? as %3F, # as %23, "
    "[ as %5B, : as %3A and @ as %40."
)
SPELLING: Codec = codec
T = TypeVar("T")


def open_store(settings: Settings) -> Store:
    url = settings.database
    if url.startswith(SQLITE) and (file := Path(url.removeprefix(SQLITE))).name:
        return SqliteStore(file)
    if url.startswith(POSTGRES):
        from gamekeeper.store.engine.postgres import PostgresStore  # noqa: PLC0415 - asyncpg loads slowly, SQLite needs none

        if not postgres_url.has_numeric_ports(url):
            raise BadSetting(BAD_DATABASE_URL)
        try:
            return PostgresStore(url, settings.connections, settings.requests_in_flight // 2)
        except postgres_url.BadTimeout as error:
            raise BadSetting(str(error)) from None
    seen = show_value(settings, "database")
    raise BadSetting(
        f"The database URL '{seen}' is not supported. Use sqlite:///path/to/file.db or postgresql://user@host/name."
    )


def find_database_file(settings: Settings) -> Path | None:
    """Return the SQLite file's path, or None if the database is PostgreSQL."""
    return open_store(settings).path


def build_keeper(settings: Settings) -> Keeper:
    store = open_store(settings)
    feed, limits = Feed(store), parse_limits(settings.signals)
    gate = ApprovalGate(SPELLING, parse_rules(settings.approvals), settings.approval_hours)
    economy = Economy(store, SPELLING, feed, parse_ranked(settings.ranked), limits)
    boards = BoardFollower(store, SPELLING, feed)
    return Keeper(
        settings,
        store,
        ChangeApplier(store, SPELLING, gate, gift_limits.count_gifts, security_log.record_decision),
        Passwords(settings.hash_queue),
        # limit of waiting password checks: half of the requests in flight, so that other requests are still answered
        PasswordQueues(settings.requests_in_flight // 2),
        FailedGuesses(store),
        KeyFile(settings.secret_key_file, store.path),
        feed,
        ProvenClock(store),
        (
            Follower(economy.count_changes, economy_rows.find_counted),
            Follower(boards.refresh, board_seasons.find_counted),
        ),
        Lists(store),
        economy,
        boards,
        SignalChecks(store, SPELLING, limits),
    )


async def run_with_keeper(settings: Settings, work: Callable[[Keeper], Awaitable[T]], *, final: bool = False) -> T:
    """Open a keeper, run `work` on it, and close it, without serving HTTP.

    If Ctrl-C arrives while the keeper is closing, raise CancelledError, so that the command stops.
    With `final`, return the result instead: the change is committed, and the command should report it.
    """
    keeper = build_keeper(settings)
    try:
        await keeper.store.open()
        done = await work(keeper)
    finally:
        await _close_keeper(keeper)
    task = asyncio.current_task()
    if task and task.cancelling() and not final:
        raise asyncio.CancelledError
    return done


async def _close_keeper(keeper: Keeper) -> None:
    """Close the keeper completely even if the task is cancelled; the task still counts as cancelled afterwards."""
    closing = asyncio.ensure_future(keeper.store.close())
    while not closing.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(closing)
    keeper.passwords.close()
    closing.result()
