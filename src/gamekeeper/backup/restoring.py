"""Restoring a backup into an empty database, where it begins a life of its own."""

from gamekeeper.backup import filling
from gamekeeper.backup.archive import Archive
from gamekeeper.backup.interrupt import stop_on_cancel, wait_for_outcome
from gamekeeper.backup.lines import CopyProgress
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import copies, mails, presence
from gamekeeper.store.engine import Writing
from gamekeeper.store.migrate import CLAIM, load_migrations, require_known


async def restore(keeper: Keeper, archive: Archive, progress: CopyProgress, *, keep_tokens: bool = False) -> bool:
    """In one transaction, under the claim of whoever changes the schema: a server that starts meanwhile waits.

    Whether a Ctrl-C has left it complete.
    """
    require_known(archive.migrations, load_migrations(), "backup")
    progress = stop_on_cancel(progress)

    async def work(tx: Writing) -> None:
        await filling.fill_database(tx, keeper.store.engine, archive, progress)
        await _reset_restored(tx, archive.manifest.made_at, keep_tokens=keep_tokens)

    await wait_for_outcome(keeper.store.write(work, CLAIM))
    return await filling.rebuild_derived(keeper)


async def _reset_restored(tx: Writing, made_at: int, *, keep_tokens: bool) -> None:
    """What must not be as it was at the moment of the backup."""
    copies.renew_epoch(tx)
    await presence.drop_servers(tx, made_at)  # those that run now say anew who is on them
    mails.retire(tx)  # their codes are not in a backup, so nobody wants them: none is sent a second time
    if not keep_tokens:
        copies.revoke_tokens(tx)  # else one that was revoked after the backup would be good again
