"""The change feed: long polls that are answered as soon as there is something decided to tell."""

import asyncio
import contextlib
import time
from dataclasses import dataclass

from gamekeeper import log
from gamekeeper.game.refusals import ChangesTrimmed, CursorAhead, EpochChanged
from gamekeeper.store import feed
from gamekeeper.store.engine import DatabaseUnavailable, Store
from gamekeeper.store.feed import FeedRow, Horizon

POLL_SECONDS = 0.02
FAST_POLL_SECONDS = 0.005  # while a horizon is ahead, for most transactions are short; and while there is traffic
LONG_TRANSACTION_SECONDS = 1.0  # older ones are not: look less often, and do not keep a caller who did not want to wait
WINDOW_CHANGES = 5_000  # numbers looked at in one go: what is filtered out must not make a request long


@dataclass(frozen=True, slots=True)
class FeedQuery:
    after: int | None  # None: from now on
    limit: int
    wait_seconds: float  # seconds
    account_id: str
    include_own: bool
    epoch: str | None


@dataclass(frozen=True, slots=True)
class FeedPage:
    changes: list[FeedRow]
    next: int
    epoch: str


class Feed:
    """One task follows the ledger for all who ask in this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watermark = 0  # in the ledger, and with it every change before it
        self._last_horizon = 0  # the last horizon's number; those it has beyond `_watermark` were drawn for nothing
        self._pending: Horizon | None = None
        self._pending_since = 0.0
        self._waiters = 0
        self._follower: asyncio.Task[None] | None = None
        self._advanced = asyncio.Event()
        self._stopping = asyncio.Event()

    async def read_changes(self, asked: FeedQuery) -> FeedPage:
        began = time.monotonic()
        epoch, last, trimmed = await feed.read_state(self._store)
        if asked.epoch is not None and asked.epoch != epoch:
            raise EpochChanged(epoch=epoch)
        if asked.after is None:
            return FeedPage([], await self._find_current_cursor(last), epoch)
        if asked.after > last:
            raise CursorAhead(last=last)
        if asked.after < trimmed:
            raise ChangesTrimmed(trimmed=trimmed)
        cursor = asked.after
        while True:
            if cursor < self._watermark:
                found, cursor = await self._read_window(asked, cursor)
                trimmed = (await feed.read_state(self._store)).trimmed
                if trimmed > asked.after:  # while we looked: some may be missing
                    raise ChangesTrimmed(trimmed=trimmed)
                if found or cursor < self._watermark:
                    return FeedPage(found, cursor, epoch)
            # what was acknowledged before we were asked is told, also to those who do not wait
            patience = asked.wait_seconds if cursor >= last else max(asked.wait_seconds, LONG_TRANSACTION_SECONDS)
            if not await self._wait_for_number(cursor + 1, began + patience):
                return FeedPage([], cursor, epoch)

    def stop(self) -> None:
        """Answers everybody who waits, at once."""
        self._stopping.set()
        self._advanced.set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    async def wait_for_stop(self, seconds: float) -> bool:
        """Waits so long, or until this process is told to stop."""
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
        """A cursor with all before it that was acknowledged before we were asked."""
        if not await self._wait_for_number(last, time.monotonic() + LONG_TRANSACTION_SECONDS):
            raise DatabaseUnavailable("A transaction that was open when we were asked is taking too long.")
        return self._watermark

    async def _read_window(self, asked: FeedQuery, cursor: int) -> tuple[list[FeedRow], int]:
        upto = min(self._watermark, cursor + WINDOW_CHANGES)
        found = await feed.read_between(self._store, cursor, upto, asked.account_id, asked.limit, own=asked.include_own)
        return found, found[-1].seq if len(found) == asked.limit else upto

    async def _wait_for_number(self, number: int, deadline: float) -> bool:
        """Waits until this number is decided; not beyond the deadline, and not when we stop."""
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
            while self._waiters and not self.is_stopping:  # noqa: ASYNC110 - other processes write; no event tells us
                await asyncio.sleep(await self._advance())
        except Exception:  # noqa: BLE001 - the next who asks begins anew; this one is in the log
            log.failure("feed")
        finally:
            self._follower = None

    async def _advance(self) -> float:
        """How long to wait before the next."""
        with contextlib.suppress(DatabaseUnavailable):  # those who wait go on waiting; it may be back in time
            if self._pending is None:
                self._pending = await feed.take_horizon(self._store, self._last_horizon, self._watermark)
                self._pending_since = time.monotonic()
            if self._pending is None:
                return POLL_SECONDS
            if await feed.is_passed(self._store, self._pending):
                self._set_watermark(
                    await feed.read_last_written(self._store, self._pending.number), self._pending.number
                )
                return FAST_POLL_SECONDS
            if time.monotonic() - self._pending_since < LONG_TRANSACTION_SECONDS:
                return FAST_POLL_SECONDS
            # a database server that crashed may count its transactions from further back
            behind = await feed.read_own_transaction(self._store) < self._pending.transaction
            self._pending = None if behind else self._pending
        return LONG_TRANSACTION_SECONDS / 4

    def _set_watermark(self, decided: int, passed: int) -> None:
        self._pending, self._last_horizon = None, passed
        if decided > self._watermark:
            self._watermark = decided
            moved, self._advanced = self._advanced, asyncio.Event()
            moved.set()
