"""Moving a whole database to an empty one: the same life goes on there, and the old one is closed."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

from gamekeeper import app
from gamekeeper.backup import filling
from gamekeeper.backup.interrupt import wait_for_outcome
from gamekeeper.backup.lines import BadCopy, CopyProgress, TableChecksum
from gamekeeper.backup.stream import MoveStopped, TableStream
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings, show_value
from gamekeeper.store import closing
from gamekeeper.store.engine import Writing
from gamekeeper.store.migrate import CLAIM

# the lists are counted anew; the migrations are applied; what the erasures wait to blank is masked in the copy; all the
# rest is what it was
LEFT_OUT = frozenset({"lists", "list_blocks", "list_changes", "migrations", "erasures"})
MOVED = (
    "This database was moved to {target}: start Gamekeeper on that one. To use this one again, without what happened "
    "there since: gamekeeper move --reopen --database {source}"
)
UNFINISHED = (
    "A move into this database did not come to its end. Start Gamekeeper on {source}. If that says that it was moved "
    "here, nothing is missing here: gamekeeper move --reopen --database {target}. Else empty this one, and move again."
)


async def move(keeper: Keeper, target: Settings, progress: CopyProgress) -> dict[str, TableChecksum]:
    """Nobody writes to the source from the first row that is read until it is closed; what each table adds up to.

    Whatever fails, the source is as it was. The target is closed until the source is: the two are never both in use.
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
            with contextlib.suppress(MoveStopped):  # then the other side says why
                await stream.send_tables(tx)
            sums = receiving.result()
            stream.require_running()
        await closing.close(tx, MOVED.format(**words))
        return sums

    return await wait_for_outcome(keeper.store.write(work, CLAIM))


async def finish(keeper: Keeper) -> bool:
    """On the target, when the source is closed; whether a Ctrl-C has left it complete."""
    await wait_for_outcome(reopen(keeper))
    return await filling.rebuild_derived(keeper)


async def reopen(keeper: Keeper) -> bool:
    return await keeper.store.write(closing.reopen, CLAIM)


def _receive(
    target: Settings, stream: TableStream, unfinished: str, progress: CopyProgress
) -> dict[str, TableChecksum]:
    """In a thread of its own: SQLite's work may not wait for anything but SQLite."""

    async def fill(keeper: Keeper) -> dict[str, TableChecksum]:
        async def work(tx: Writing) -> dict[str, TableChecksum]:
            sums = await filling.fill_database(tx, keeper.store.engine, stream, progress)
            stream.require_running()
            await closing.mark_closed(tx, unfinished)
            return sums

        return await keeper.store.write(work, CLAIM)

    try:
        with filling.prepare_target(target) as place:
            return asyncio.run(app.run_with_keeper(place, fill))
    except OSError as error:  # which the source would take for a loss of its own connection
        raise BadCopy(f"{show_value(target, 'database')} cannot be written: {error.strerror or error}.") from error
