"""Move a database into an empty one of either engine. The target continues the same epoch; the source is closed."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

from gamekeeper import opening
from gamekeeper.backup import filling
from gamekeeper.backup.interrupt import wait_for_outcome
from gamekeeper.backup.lines import BadCopy, CopyProgress, TableChecksum
from gamekeeper.backup.stream import MoveStopped, TableStream
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings, show_value
from gamekeeper.store import closing
from gamekeeper.store.engine import Writing
from gamekeeper.store.migrate import CLAIM

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
        await closing.block_writes(tx)
        await stream.announce_tables(tx, LEFT_OUT)
        with ThreadPoolExecutor(1) as pool, stream:
            receiving = pool.submit(_receive, target, stream, UNFINISHED.format(**words), progress)
            receiving.add_done_callback(stream.note_receiver_done)
            # the sender raises MoveStopped if the receiver failed: receiving.result() raises the receiver's own error
            with contextlib.suppress(MoveStopped):
                await stream.send_tables(tx)
            sums = receiving.result()
            stream.require_running()
        await closing.close(tx, MOVED.format(**words))
        return sums

    return await wait_for_outcome(keeper.store.write(work, CLAIM))


async def finish(keeper: Keeper) -> bool:
    """Open the target after the source was closed. Return False if Ctrl-C stopped the rebuild of indexes and lists."""
    await wait_for_outcome(reopen(keeper))
    return await filling.rebuild_derived(keeper)


async def reopen(keeper: Keeper) -> bool:
    return await keeper.store.write(closing.reopen, CLAIM)


def _receive(
    target: Settings, stream: TableStream, unfinished: str, progress: CopyProgress
) -> dict[str, TableChecksum]:
    """Fill the target database of a move, in a separate thread: a SQLite transaction must not await anything else."""

    async def fill(keeper: Keeper) -> dict[str, TableChecksum]:
        async def work(tx: Writing) -> dict[str, TableChecksum]:
            sums = await filling.fill_database(tx, keeper.store.engine, stream, progress)
            stream.require_running()
            await closing.mark_closed(tx, unfinished)
            return sums

        return await keeper.store.write(work, CLAIM)

    try:
        with filling.prepare_target(target) as place:
            return asyncio.run(opening.run_with_keeper(place, fill))
    # convert OSError: the source's store would take it for a lost database connection, and retry
    except OSError as error:
        raise BadCopy(f"{show_value(target, 'database')} cannot be written: {error.strerror or error}.") from error
