"""Restore a backup into an empty database, as a new database with its own epoch."""

from gamekeeper.backup import filling
from gamekeeper.backup.archive import Archive
from gamekeeper.backup.interrupt import stop_on_cancel, wait_for_outcome
from gamekeeper.backup.lines import CopyProgress
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import copies, mails, presence
from gamekeeper.store.engine import Writing
from gamekeeper.store.migrate import CLAIM, load_migrations, require_known


async def restore(keeper: Keeper, archive: Archive, progress: CopyProgress, *, keep_tokens: bool = False) -> bool:
    """Restore a backup in one transaction. A server that starts meanwhile waits: the restore holds the migration lock.

    Return whether indexes and lists were rebuilt too (False after a Ctrl-C).
    """
    require_known(archive.migrations, load_migrations(), "backup")
    progress = stop_on_cancel(progress)

    async def work(tx: Writing) -> None:
        await filling.fill_database(tx, keeper.store.engine, archive, progress)
        await _reset_restored(tx, archive.manifest.made_at, keep_tokens=keep_tokens)

    await wait_for_outcome(keeper.store.write(work, CLAIM))
    return await filling.rebuild_derived(keeper)


async def _reset_restored(tx: Writing, made_at: int, *, keep_tokens: bool) -> None:
    """Reset the restored data that must not return as it was at the time of the backup; docs/backup.md lists it."""
    mails.retire(tx)  # unsent mails are retired: a backup has no reset codes, so these mails would be useless
    await filling.begin_epoch(tx)
    # everyone is offline after a restore: running game servers report their players again
    await presence.drop_servers(tx, made_at)
    if not keep_tokens:
        copies.suspend_api_keys(tx)  # for the same reason; an administrator lets those work again that are still wanted
        copies.revoke_tokens(tx)  # revoke all tokens, or tokens that were revoked after the backup would be valid again
