"""Stream of tables from one open database to another; each side runs in its own thread."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Self, TypeVar

from gamekeeper.backup.lines import BadCopy, CopyProgress
from gamekeeper.store import copies
from gamekeeper.store.engine import DatabaseUnavailable, Transaction
from gamekeeper.store.migrate import AppliedMigration, read_applied

T = TypeVar("T")
MAX_BATCHES = 4  # queue size of a move between databases: batches of rows that are read but not written yet
POLL_SECONDS = 0.2  # interval in which the waiting side of a move checks whether the other side has stopped
_END: list[copies.CopiedRow] = []


class MoveStopped(DatabaseUnavailable):
    """The other side of a move between databases has stopped, or the move was cancelled."""


class TableStream:
    """Queue between two databases in a move: the receiver requests one table after the other, and the sender reads it.

    Both sides poll the move's task for a cancellation: while the sender waits, its event loop does not run.
    """

    def __init__(self, move: asyncio.Task[Any] | None) -> None:
        self._move = move
        self.migrations: Sequence[AppliedMigration] = ()
        self.columns: Mapping[str, Sequence[str]] = {}
        self._forms: dict[str, dict[str, str]] = {}
        self._asked: queue.Queue[str | None] = queue.Queue()
        self._given: queue.Queue[list[copies.CopiedRow]] = queue.Queue(MAX_BATCHES)
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stopped.set()

    def note_receiver_done(self, receiving: Future[Any]) -> None:
        """Stop the sender: the receiver has finished or failed. Callback of the receiver's future."""
        if receiving.cancelled() or receiving.exception():
            self.stop()
        self._asked.put(None)

    def require_running(self) -> None:
        """Raise MoveStopped if the other side of the move has stopped or the move was cancelled."""
        if self._stopped.is_set() or (self._move and self._move.cancelling()):
            raise MoveStopped("The other side of the move has stopped; nothing was changed.")

    # --- sender

    async def announce_tables(self, tx: Transaction, left_out: frozenset[str]) -> None:
        self.migrations = list((await read_applied(tx)).values())
        names = [name for name in await copies.list_tables(tx) if name not in left_out]
        self._forms = {name: await copies.read_columns(tx, name) for name in names}
        self.columns = {name: list(forms) for name, forms in self._forms.items()}

    async def send_tables(self, tx: Transaction) -> None:
        while (table := self._wait(self._asked.get)) is not None:
            async for rows in copies.read_rows(tx, table, self._forms[table]):
                self._put(rows)
            self._put(_END)

    # --- receiver

    def read_rows(self, table: str, progress: CopyProgress) -> Generator[copies.CopiedRow]:
        self._asked.put(table)
        done = 0
        while (some := self._wait(self._given.get)) is not _END:
            yield from some
            done += len(some)
            progress(table, done, None)

    def build_mismatch_error(self, what: str) -> BadCopy:
        return BadCopy(
            f"The database has tables or columns that Gamekeeper did not make: {what}. Nothing was changed. "
            "Put them into another schema or database, and run the same command again."
        )

    # ---

    def _put(self, rows: list[copies.CopiedRow]) -> None:
        self._wait(partial(self._given.put, rows))

    def _wait(self, act: Callable[..., T]) -> T:
        while True:
            self.require_running()
            with contextlib.suppress(queue.Empty, queue.Full):
                return act(timeout=POLL_SECONDS)
