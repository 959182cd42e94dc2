"""The change feed: long polls that are answered as soon as new changes are final.

The limits of the jobs that follow the audit log, the economy and the boards, are here too.
"""

import asyncio
import contextlib
import time

from msgspec import Struct

from gamekeeper.game.access.credentials import AccessKeeper
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.core.refusals import ChangesTrimmed, CursorAhead, EpochChanged
from gamekeeper.game.world.commands import SAVE_SECONDS, Cursors, select_for_server
from gamekeeper.ground import log
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import DatabaseUnavailable, Store
from gamekeeper.store.world import feed
from gamekeeper.store.world.feed import FeedRow

POLL_SECONDS = 0.02  # seconds between two polls of the feed while no transaction is pending
# seconds between two polls while open transactions may still add changes; short, because most of them end soon
FAST_POLL_SECONDS = 0.005
# seconds after which the feed polls less often for the end of open transactions, and requests with a short wait give up
LONG_TRANSACTION_SECONDS = 1.0
# longest wait of a job or report for the newest changes: with an open transaction it takes those before it
FINAL_SECONDS = 0.25
# changes that the feed reads per request: a filter that matches few changes must not make a request slow
WINDOW_CHANGES = 5_000


class FeedQuery(Struct, frozen=True):
    after: int | None  # cursor: number of the last change that the caller has; None: start at the present
    limit: int
    wait_seconds: float  # longest wait of the long poll, in seconds
    account_id: str
    include_own: bool
    epoch: str | None
    server: str | None = None  # the game server that polls: commands for others are left out


class FeedPage(Struct, frozen=True):
    changes: list[FeedRow]
    next: int
    epoch: str


class Feed:
    """Answers the change feed requests of a process. One task polls the audit log for all of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watermark = 0  # every transaction with a change number up to this one has ended
        self._last_horizon = 0  # number of the last horizon reached; no change is stored between the watermark and it
        self._pending: ledger.Horizon | None = None
        self._pending_since = 0.0
        self._waiters = 0
        self._follower: asyncio.Task[None] | None = None
        self._advanced = asyncio.Event()
        self._stopping = asyncio.Event()
        self.cursors = Cursors(store)

    async def read_changes(self, asked: FeedQuery) -> FeedPage:
        began = time.monotonic()
        epoch, last, trimmed = await ledger.read_state(self._store)
        if asked.epoch is not None and asked.epoch != epoch:
            raise EpochChanged(epoch=epoch)
        if asked.after is None:
            return FeedPage([], await self._find_current_cursor(last), epoch)
        if asked.after > last:
            raise CursorAhead(last=last)
        if asked.after < trimmed:
            raise ChangesTrimmed(trimmed=trimmed)
        self.cursors.note(asked.server, asked.after)
        cursor = asked.after
        while True:
            if cursor < self._watermark:
                found, cursor = await self._read_window(asked, cursor)
                trimmed = (await ledger.read_state(self._store)).trimmed
                if trimmed > asked.after:  # the audit log was trimmed during the read: some changes may be missing
                    raise ChangesTrimmed(trimmed=trimmed)
                if found or cursor < self._watermark:
                    return FeedPage(found, cursor, epoch)
            # even with a shorter wait, a request waits LONG_TRANSACTION_SECONDS for changes acknowledged before it
            patience = asked.wait_seconds if cursor >= last else max(asked.wait_seconds, LONG_TRANSACTION_SECONDS)
            if not await self._wait_for_number(cursor + 1, began + patience):
                return FeedPage([], cursor, epoch)

    async def find_watermark(self) -> int:
        """Return a change number up to which all changes are final; it covers every change acknowledged so far."""
        return await self._find_current_cursor((await ledger.read_state(self._store)).last)

    async def find_final(self) -> int:
        """Return a change number up to which all changes are final: the newest, unless a transaction is open longer."""
        last = (await ledger.read_state(self._store)).last
        await self._wait_for_number(last, time.monotonic() + FINAL_SECONDS)
        return self._watermark

    def stop(self) -> None:
        """Answer all waiting feed requests at once, for the shutdown."""
        self._stopping.set()
        self._advanced.set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    async def wait_for_stop(self, seconds: float) -> bool:
        """Wait this long, or until the shutdown of the process. True: the process shuts down."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return self.is_stopping

    async def close(self) -> None:
        self.stop()
        if self._follower:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)

    async def _find_current_cursor(self, last: int) -> int:
        """Return the highest feed cursor that covers every change acknowledged before this request."""
        if not await self._wait_for_number(last, time.monotonic() + LONG_TRANSACTION_SECONDS):
            raise DatabaseUnavailable("A transaction that was open when the request arrived is taking too long.")
        return self._watermark

    async def _read_window(self, asked: FeedQuery, cursor: int) -> tuple[list[FeedRow], int]:
        upto = min(self._watermark, cursor + WINDOW_CHANGES)
        found = await feed.read_between(self._store, cursor, upto, asked.account_id, asked.limit, own=asked.include_own)
        read = found[-1].seq if len(found) == asked.limit else upto
        return await select_for_server(self._store, found, asked.server), read

    async def _wait_for_number(self, number: int, deadline: float) -> bool:
        """Wait until the feed's watermark reaches a number. False: the deadline passed, or the process shuts down."""
        self._waiters += 1
        try:
            while self._watermark < number and not self.is_stopping and time.monotonic() < deadline:
                self._follower = self._follower or asyncio.create_task(self._follow())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(deadline - time.monotonic()):
                        await self._advanced.wait()
        finally:
            self._waiters -= 1
        return self._watermark >= number

    async def _follow(self) -> None:
        try:
            while self._waiters and not self.is_stopping:  # noqa: ASYNC110 - other processes write too, so there is no event to wait for
                await asyncio.sleep(await self._advance())
        except Exception:  # noqa: BLE001 - it is logged, and the next request starts a new task
            log.failure("feed")
        finally:
            self._follower = None

    async def _advance(self) -> float:
        """Move the feed's watermark if possible, and return the seconds until the next poll."""
        # ignore a lost database: it may be back before the waiting feed requests time out
        with contextlib.suppress(DatabaseUnavailable):
            if self._pending is None:
                self._pending = await ledger.take_horizon(self._store, self._last_horizon, self._watermark)
                self._pending_since = time.monotonic()
            if self._pending is None:
                return POLL_SECONDS
            if await ledger.is_passed(self._store, self._pending):
                self._set_watermark(
                    await ledger.read_last_written(self._store, self._pending.number), self._pending.number
                )
                return FAST_POLL_SECONDS
            if time.monotonic() - self._pending_since < LONG_TRANSACTION_SECONDS:
                return FAST_POLL_SECONDS
            # after a crash the database server may reuse transaction numbers: drop a horizon whose number lies ahead
            behind = (await self._store.value(ledger.SQL.own_transaction) or 0) < self._pending.transaction
            self._pending = None if behind else self._pending
        return LONG_TRANSACTION_SECONDS / 4

    def _set_watermark(self, decided: int, passed: int) -> None:
        self._pending, self._last_horizon = None, passed
        if decided > self._watermark:
            self._watermark = decided
            moved, self._advanced = self._advanced, asyncio.Event()
            moved.set()


FOLLOW_SECONDS = 2.0
# pause after a step, as a multiple of its duration: a job uses at most a third of the time
REST_FACTOR = 2
BATCH_CHANGES = 500  # changes counted per transaction: a few milliseconds
BATCH_PLAYERS = 400  # players swept per transaction, at most
MAX_AHEAD = 1_000  # a sweep waits while more changes than these are not counted yet
READ_STEPS = 8  # steps that a read takes before it answers, and a trim before it deletes


class WorldKeeper(AccessKeeper, frozen=True):
    feed: Feed


JOBS = (Job[WorldKeeper]("cursors", SAVE_SECONDS, lambda keeper: keeper.feed.cursors.save),)
