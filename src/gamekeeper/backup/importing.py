"""Import an export folder into an empty database, as a new database with its own epoch."""

from gamekeeper.backup import filling
from gamekeeper.backup.folder import ExportFolder
from gamekeeper.backup.interrupt import stop_on_cancel, wait_for_outcome
from gamekeeper.backup.lines import CopyProgress, TableChecksum
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.instants import parse_instant
from gamekeeper.store import ledger, play_sessions
from gamekeeper.store.engine import Writing
from gamekeeper.store.migrate import CLAIM, load_migrations, require_known


async def import_folder(
    keeper: Keeper, folder: ExportFolder, progress: CopyProgress
) -> tuple[dict[str, TableChecksum], bool]:
    """Import an export folder in one transaction, under the migration lock: a server that starts meanwhile waits.

    Return the checksum of each table, and whether indexes and lists were rebuilt too (False after a Ctrl-C).
    """
    require_known(folder.migrations, load_migrations(), "export")
    progress = stop_on_cancel(progress)

    async def work(tx: Writing) -> dict[str, TableChecksum]:
        sums = await filling.fill_database(tx, keeper.store.engine, folder, progress)
        await filling.begin_epoch(tx)
        ledger.set_trimmed(tx, folder.manifest.trimmed)
        await play_sessions.end_open(tx, parse_instant(folder.manifest.made_at))  # an export has no presence
        return sums

    sums = await wait_for_outcome(keeper.store.write(work, CLAIM))
    return sums, await filling.rebuild_derived(keeper)
