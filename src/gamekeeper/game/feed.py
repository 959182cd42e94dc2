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

FOLLOW_SECONDS = 0.02
LOOK_AGAIN_SECONDS = 0.005  # while a horizon is ahead, for most transactions are short; and while there is traffic
LONG_SECONDS = 1.0  # older ones are not: look less often, and do not keep a caller who did not want to wait
WINDOW = 5_000  # numbers looked at in one go: what is filtered out must not make a request long


@dataclass(frozen=True, slots=True)
class Asked:
    after: int | None  # None: from now on
    limit: int
    wait: float  # seconds
    account_id: str
    own: bool
    epoch: str | None


@dataclass(frozen=True, slots=True)
class Told:
    changes: list[FeedRow]
    next: int
    epoch: str


class Feed:
    """One task follows the ledger for all who ask in this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decided = 0  # in the ledger, and with it every change before it
        self._passed = 0  # the last horizon's number; those it has beyond `_decided` were drawn for nothing
        self._ahead: Horizon | None = None
        self._since = 0.0
        self._waiting = 0
        self._follower: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._stopping = asyncio.Event()

    async def changes(self, asked: Asked) -> Told:
        began = time.monotonic()
        epoch, last, trimmed = await feed.read_state(self._store)
        if asked.epoch is not None and asked.epoch != epoch:
            raise EpochChanged(epoch=epoch)
        if asked.after is None:
            return Told([], await self._now(last), epoch)
        if asked.after > last:
            raise CursorAhead(last=last)
        if asked.after < trimmed:
            raise ChangesTrimmed(trimmed=trimmed)
        cursor = asked.after
        while True:
            if cursor < self._decided:
                found, cursor = await self._look(asked, cursor)
                trimmed = (await feed.read_state(self._store)).trimmed
                if trimmed > asked.after:  # while we looked: some may be missing
                    raise ChangesTrimmed(trimmed=trimmed)
                if found or cursor < self._decided:
                    return Told(found, cursor, epoch)
            # what was acknowledged before we were asked is told, also to those who do not wait
            patience = asked.wait if cursor >= last else max(asked.wait, LONG_SECONDS)
            if not await self._decides(cursor + 1, began + patience):
                return Told([], cursor, epoch)

    def stop(self) -> None:
        """Answers everybody who waits, at once."""
        self._stopping.set()
        self._moved.set()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    async def stops_within(self, seconds: float) -> bool:
        """Waits so long, or until this process is told to stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return self.stopping

    async def close(self) -> None:
        self.stop()
        if self._follower:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)

    async def _now(self, last: int) -> int:
        """A cursor with all before it that was acknowledged before we were asked."""
        if not await self._decides(last, time.monotonic() + LONG_SECONDS):
            raise DatabaseUnavailable("A transaction that was open when we were asked is taking too long.")
        return self._decided

    async def _look(self, asked: Asked, cursor: int) -> tuple[list[FeedRow], int]:
        upto = min(self._decided, cursor + WINDOW)
        found = await feed.read_between(self._store, cursor, upto, asked.account_id, asked.limit, own=asked.own)
        return found, found[-1].seq if len(found) == asked.limit else upto

    async def _decides(self, number: int, deadline: float) -> bool:
        """Waits until this number is decided; not beyond the deadline, and not when we stop."""
        self._waiting += 1
        try:
            while self._decided < number and not self.stopping and time.monotonic() < deadline:
                self._follower = self._follower or asyncio.create_task(self._follow())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(deadline - time.monotonic()):
                        await self._moved.wait()
        finally:
            self._waiting -= 1
        return self._decided >= number

    async def _follow(self) -> None:
        try:
            while self._waiting and not self.stopping:  # noqa: ASYNC110 - other processes write; no event tells us
                await asyncio.sleep(await self._step())
        except Exception:  # noqa: BLE001 - the next who asks begins anew; this one is in the log
            log.failure("feed")
        finally:
            self._follower = None

    async def _step(self) -> float:
        """How long to wait before the next."""
        with contextlib.suppress(DatabaseUnavailable):  # those who wait go on waiting; it may be back in time
            if self._ahead is None:
                self._ahead = await feed.take_horizon(self._store, self._passed, self._decided)
                self._since = time.monotonic()
            if self._ahead is None:
                return FOLLOW_SECONDS
            if await feed.is_passed(self._store, self._ahead):
                self._move(await feed.read_last_written(self._store, self._ahead.number), self._ahead.number)
                return LOOK_AGAIN_SECONDS
            if time.monotonic() - self._since < LONG_SECONDS:
                return LOOK_AGAIN_SECONDS
            # a database server that crashed may count its transactions from further back
            behind = await feed.read_own_transaction(self._store) < self._ahead.transaction
            self._ahead = None if behind else self._ahead
        return LONG_SECONDS / 4

    def _move(self, decided: int, passed: int) -> None:
        self._ahead, self._passed = None, passed
        if decided > self._decided:
            self._decided = decided
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()
