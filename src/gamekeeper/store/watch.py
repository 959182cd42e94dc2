"""Connections that are dead without a word: what the network swallowed is never answered."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, Protocol, TypeVar

from gamekeeper import log
from gamekeeper.store.engine import DatabaseUnavailable

CHECK_SECONDS = 0.5
SLOW_SECONDS = 1.0  # then the server is asked whether it works on it at all
GRACE_SECONDS = 1.0  # beyond the limit: the server itself gives up first


class WatchedConnection(Protocol):
    db: Any
    session: str  # as the server knows it; empty: it cannot be told


L = TypeVar("L", bound=WatchedConnection)


class ConnectionWatch(Generic[L]):
    """Drops a connection in use that the server does not work on; no COMMIT that waits for a standby is ended."""

    def __init__(self, working: Callable[[list[str]], Awaitable[set[str]]], ask_seconds: float) -> None:
        self._working = working
        self._ask_seconds = ask_seconds
        self.busy: dict[L, float] = {}  # since when each is in use

    async def run(self, limit: float) -> None:
        """A look that is swallowed itself does not keep the next one waiting."""
        async with asyncio.TaskGroup() as looks:
            while True:
                await asyncio.sleep(CHECK_SECONDS)
                looks.create_task(self._try_check(limit))

    async def _try_check(self, limit: float) -> None:
        try:
            await self._check(limit)
        except Exception:  # noqa: BLE001 - whatever it is, it is in the log, and the next look may go better
            log.failure("watch")

    async def _check(self, limit: float) -> None:
        now = time.monotonic()
        slow = {line: since for line, since in self.busy.items() if now - since > SLOW_SECONDS}
        if not slow:
            return
        try:
            async with asyncio.timeout(self._ask_seconds):
                working = await self._working([line.session for line in slow if line.session])
        except (DatabaseUnavailable, TimeoutError):  # nobody to ask: all may still be answered, but not for ever
            working = set[str]()
            slow = {line: since for line, since in slow.items() if now - since > limit + GRACE_SECONDS}
        for line, since in slow.items():
            known = line.session or now - since > limit + GRACE_SECONDS
            if known and line.session not in working and self.busy.get(line) == since:
                line.db.terminate()
