"""Move a database into an empty one of either engine. The target continues the same epoch; the source is closed.

The tables are streamed from one open database to the other; each side runs in its own thread.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from gamekeeper.copies import restores
from gamekeeper.copies.lines import BadCopy, CopyProgress, T, TableChecksum, TableSource, wait_for_outcome
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import Settings, show_value
from gamekeeper.http import keeper_builder
from gamekeeper.store.engine import copies, migrate
from gamekeeper.store.engine.interface import DatabaseUnavailable, Transaction, Writing
from gamekeeper.store.engine.migrate import CLAIM, read_applied

MAX_BATCHES = 4  # queue size of a move between databases: batches of rows that are read but not written yet
POLL_SECONDS = 0.2  # interval in which the waiting side of a move checks whether the other side has stopped
_END: list[copies.CopiedRow] = []


class MoveStopped(DatabaseUnavailable):
    """The other side of a move between databases has stopped, or the move was cancelled."""


class TableStream(TableSource):
    """Queue between two databases in a move: the receiver requests one table after the other, and the sender reads it.

    Both sides poll the move's task for a cancellation: while the sender waits, its event loop does not run.
    """

    def __init__(self, move: asyncio.Task[Any] | None) -> None:
        self._move = move
        self._forms: dict[str, dict[str, str]] = {}
        self._asked: queue.Queue[str | None] = queue.Queue()
        self._given: queue.Queue[list[copies.CopiedRow]] = queue.Queue(MAX_BATCHES)
        self._stopped = threading.Event()

    def close(self) -> None:
        """Stop the other side."""
        self._stopped.set()

    def note_receiver_done(self, receiving: Future[Any]) -> None:
        """Stop the sender: the receiver has finished or failed. Callback of the receiver's future."""
        if receiving.cancelled() or receiving.exception():
            self.close()
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
                self._wait(partial(self._given.put, rows))
            self._wait(partial(self._given.put, _END))

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

    def _wait(self, act: Callable[..., T]) -> T:
        while True:
            self.require_running()
            with contextlib.suppress(queue.Empty, queue.Full):
                return act(timeout=POLL_SECONDS)


# Tables that `move` does not copy: ordered lists are recounted, and migrations applied, in the target database. Erased
# data that waits to be blanked is masked in the copy, so the target needs no erasure jobs.
LEFT_OUT = frozenset({"lists", "list_blocks", "list_changes", "migrations", "erasures"})
MOVED = (
    "This database was moved to {target}: start Gamekeeper on that one. To use this one again, without the changes "
    "made there since: gamekeeper move --reopen --database {source}"
)
UNFINISHED = (
    "A move into this database did not finish. Start Gamekeeper on {source}. If it says that it was moved here, this "
    "database is complete; open it with: gamekeeper move --reopen --database {target}. Otherwise empty this database, "
    "and move again."
)


async def move(keeper: Keeper, target: Settings, progress: CopyProgress) -> dict[str, TableChecksum]:
    """Copy all tables to the target, then close the source. It rejects writes meanwhile. Return the checksums.

    If anything fails, the source is unchanged. The target stays closed until the source is closed, so that both are
    never in use at the same time.
    """
    words = {"source": show_value(keeper.settings, "database"), "target": show_value(target, "database")}
    mover = asyncio.current_task()

    async def work(tx: Writing) -> dict[str, TableChecksum]:
        stream = TableStream(mover)
        await migrate.block_writes(tx)
        await stream.announce_tables(tx, LEFT_OUT)
        with ThreadPoolExecutor(1) as pool, contextlib.closing(stream):
            receiving = pool.submit(_receive, target, stream, UNFINISHED.format(**words), progress)
            receiving.add_done_callback(stream.note_receiver_done)
            # the sender raises MoveStopped if the receiver failed: receiving.result() raises the receiver's own error
            with contextlib.suppress(MoveStopped):
                await stream.send_tables(tx)
            sums = receiving.result()
            stream.require_running()
        await migrate.close_database(tx, MOVED.format(**words))
        return sums

    return await wait_for_outcome(keeper.store.write(work, CLAIM))


async def finish(keeper: Keeper) -> bool:
    """Open the target after the source was closed. Return False if Ctrl-C stopped the rebuild of indexes and lists."""
    await wait_for_outcome(reopen(keeper))
    return await restores.rebuild_derived(keeper)


async def reopen(keeper: Keeper) -> bool:
    return await keeper.store.write(migrate.reopen_database, CLAIM)


def _receive(
    target: Settings, stream: TableStream, unfinished: str, progress: CopyProgress
) -> dict[str, TableChecksum]:
    """Fill the target database of a move, in a separate thread: a SQLite transaction must not await anything else."""

    async def fill(keeper: Keeper) -> dict[str, TableChecksum]:
        async def work(tx: Writing) -> dict[str, TableChecksum]:
            sums = await restores.fill_database(tx, keeper.store.engine, stream, progress)
            stream.require_running()
            await migrate.mark_closed(tx, unfinished)
            return sums

        return await keeper.store.write(work, CLAIM)

    try:
        with restores.prepare_target(target) as place:
            return asyncio.run(keeper_builder.run_with_keeper(place, fill))
    # convert OSError: the source's store would take it for a lost database connection, and retry
    except OSError as error:
        raise BadCopy(f"{show_value(target, 'database')} cannot be written: {error.strerror or error}.") from error
