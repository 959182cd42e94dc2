"""The PostgreSQL connection pool of a process, the queues for it, and the detection of half-open connections.

A row lock held by another session blocks a connection. So writes to the same player queue here, before they take a
connection: one locked player blocks one connection only. Some connections are reserved for reads and health checks,
which continue when all others are blocked. A long read keeps its connection while it pauses; long reads use at most
half of the connections, and never the reserved ones.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct, field

from gamekeeper.ground import log
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.engine.postgres_connection import CONNECTION_ERRORS, TRANSLATABLE, translate

# longest wait in this process for a write queue or a connection, and in PostgreSQL for a lock (lock_timeout)
LOCK_SECONDS = 5
CLOSE_SECONDS = 3
LONG_READ_SHARE = 2  # long reads use at most 1 connection of the pool in 2
RESERVED_SHARE = 4  # 1 connection of the pool in 4 is reserved for reads and health checks


class PooledConnection(Protocol):
    db: Any

    def is_idle(self) -> bool: ...

    async def rollback(self) -> None: ...


T = TypeVar("T")
L = TypeVar("L", bound=PooledConnection)


class _Queue(Struct):
    """Queue of writes to the same rows; the running write holds its lock."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    members: int = 0


class Pool(Generic[L]):
    def __init__(
        self, connect: Callable[[], Awaitable[L]], busy: MutableMapping[L, float], connections: int, most_queued: int
    ) -> None:
        self._connect = connect
        self._busy = busy  # connection → monotonic time at which its use began
        self._free: list[L] = []
        self._places = asyncio.Semaphore(connections)
        self._blocked_places = asyncio.Semaphore(
            connections - _count_reserved(connections)
        )  # connections for writes and long reads, which other sessions' locks can block
        self._long_places = asyncio.Semaphore(max(1, connections // LONG_READ_SHARE))
        self._waiting = 0  # number of callers that wait for a connection
        self._queues: dict[str | int, _Queue] = {}
        self._queued = 0
        self._most_queued = most_queued

    def collect_stats(self) -> Mapping[str, int]:
        return {"free": len(self._free), "busy": len(self._busy), "waiting": self._queued + self._waiting}

    @asynccontextmanager
    async def hold_turn(self, name: str | int | None, late: Exception) -> AsyncGenerator[None]:
        """Wait for the earlier writes in the write queue `name`; raise `late` after LOCK_SECONDS."""
        if name is None:
            yield
            return
        queue = self._queues.setdefault(name, _Queue())
        queue.members += 1
        try:
            await self._wait_for_turn(queue, late)
            try:
                yield
            finally:
                queue.lock.release()
        finally:
            queue.members -= 1
            if not queue.members:
                del self._queues[name]

    @asynccontextmanager
    async def reserve_long_read(self) -> AsyncGenerator[None]:
        await self._acquire(self._long_places)
        try:
            await self._acquire(self._blocked_places)
            try:
                yield
            finally:
                self._blocked_places.release()
        finally:
            self._long_places.release()

    def run(self, work: Callable[[L], Coroutine[Any, Any, T]], *, write: bool = False) -> Coroutine[Any, Any, T]:
        """Run the work on a connection that nothing else uses meanwhile."""
        return self._run_write(work) if write else self._run(work)

    async def close_idle(self) -> None:
        while self._free:
            with contextlib.suppress(*CONNECTION_ERRORS):
                await self._free.pop().db.close(timeout=CLOSE_SECONDS)

    async def _run_write(self, work: Callable[[L], Coroutine[Any, Any, T]]) -> T:
        await self._acquire(self._blocked_places)
        try:
            return await self._run(work)
        finally:
            self._blocked_places.release()

    async def _run(self, work: Callable[[L], Coroutine[Any, Any, T]]) -> T:
        await self._acquire(self._places)
        line: L | None = None
        try:
            line = self._free.pop() if self._free else await self._connect()
            self._busy[line] = time.monotonic()
            return await work(line)
        except TRANSLATABLE as error:
            meaning = translate(error)
            # close the connection only for DatabaseUnavailable itself: after its subclasses it is still usable
            if line is not None and type(meaning) is DatabaseUnavailable:
                line.db.terminate()
            raise meaning from error
        finally:
            try:
                if line is not None and line.is_idle():
                    del self._busy[line]
                    self._free.append(line)
                elif line is not None:
                    await self._roll_back(line)
            finally:
                self._places.release()

    async def _roll_back(self, line: L) -> None:
        """Roll back what is left of a transaction and keep the connection, if it is still open."""
        try:
            await line.rollback()
        except CONNECTION_ERRORS:
            line.db.terminate()
        finally:
            del self._busy[line]
        if not line.db.is_closed():
            self._free.append(line)

    async def _wait_for_turn(self, queue: _Queue, late: Exception) -> None:
        if queue.members == 1:
            await queue.lock.acquire()
            return
        if self._queued >= self._most_queued:  # limit the queued writes, or they would take all request slots
            raise DatabaseUnavailable("Too many changes are waiting for the same player or account.")
        self._queued += 1
        try:
            async with asyncio.timeout(LOCK_SECONDS):
                await queue.lock.acquire()
        except TimeoutError:
            raise late from None
        finally:
            self._queued -= 1

    async def _acquire(self, places: asyncio.Semaphore) -> None:
        if not places.locked():  # a connection is free: skip the timeout, because creating it is slower than acquiring
            await places.acquire()
            return
        self._waiting += 1
        try:
            async with asyncio.timeout(LOCK_SECONDS):
                await places.acquire()
        except TimeoutError as error:
            raise DatabaseUnavailable("Every connection is busy.") from error
        finally:
            self._waiting -= 1


def _count_reserved(connections: int) -> int:
    """Count the connections of a pool that are reserved for reads: none if it has a single connection."""
    return max(1, connections // RESERVED_SHARE) if connections > 1 else 0


CHECK_SECONDS = 0.5
# when a connection was in use for this long, ask the database server whether it does any work for it
SLOW_SECONDS = 1.0
# drop a connection this long after the statement timeout, so that the database server can end the statement first
GRACE_SECONDS = 1.0


class WatchedConnection(Protocol):
    db: Any
    session: str  # the database server's id for the session; empty if unknown (behind a pooler)


W = TypeVar("W", bound=WatchedConnection)


class ConnectionWatch(Generic[W]):
    """Drops connections in use on which the database server does no work. Keeps COMMITs that wait for a standby."""

    def __init__(self, working: Callable[[list[str]], Awaitable[set[str]]], ask_seconds: float) -> None:
        self._working = working
        self._ask_seconds = ask_seconds
        self.busy: dict[W, float] = {}  # connection → monotonic time at which its use began

    async def run(self, limit: float) -> None:
        """Check the connections at a fixed interval. Checks are separate tasks, because one may hang too."""
        async with asyncio.TaskGroup() as looks:
            while True:
                await asyncio.sleep(CHECK_SECONDS)
                looks.create_task(self._try_check(limit))

    async def _try_check(self, limit: float) -> None:
        try:
            await self._check(limit)
        except Exception:  # noqa: BLE001 - logged; the next check may succeed
            log.failure("watch")

    async def _check(self, limit: float) -> None:
        now = time.monotonic()
        slow = {line: since for line, since in self.busy.items() if now - since > SLOW_SECONDS}
        if not slow:
            return
        try:
            async with asyncio.timeout(self._ask_seconds):
                working = await self._working([line.session for line in slow if line.session])
        # the database server does not say which sessions it works on: drop connections only after the statement timeout
        except (DatabaseUnavailable, TimeoutError):
            working = set[str]()
            slow = {line: since for line, since in slow.items() if now - since > limit + GRACE_SECONDS}
        for line, since in slow.items():
            known = line.session or now - since > limit + GRACE_SECONDS
            if known and line.session not in working and self.busy.get(line) == since:
                line.db.terminate()
