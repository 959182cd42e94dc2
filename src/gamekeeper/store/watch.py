"""Detection of half-open connections, which the network has dropped without closing them."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, Protocol, TypeVar

from gamekeeper import log
from gamekeeper.store.engine import DatabaseUnavailable

CHECK_SECONDS = 0.5
# when a connection was in use for this long, ask the database server whether it does any work for it
SLOW_SECONDS = 1.0
# drop a connection this long after the statement timeout, so that the database server can end the statement first
GRACE_SECONDS = 1.0


class WatchedConnection(Protocol):
    db: Any
    session: str  # the database server's id for the session; empty if unknown (behind a pooler)


L = TypeVar("L", bound=WatchedConnection)


class ConnectionWatch(Generic[L]):
    """Drops connections in use on which the database server does no work. Keeps COMMITs that wait for a standby."""

    def __init__(self, working: Callable[[list[str]], Awaitable[set[str]]], ask_seconds: float) -> None:
        self._working = working
        self._ask_seconds = ask_seconds
        self.busy: dict[L, float] = {}  # connection → monotonic time at which its use began

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
