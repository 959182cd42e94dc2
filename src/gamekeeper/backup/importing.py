"""Bringing an export back into an empty database, where it begins a life of its own."""

from gamekeeper.backup import filling
from gamekeeper.backup.folder import Folder
from gamekeeper.backup.interrupt import decided, heeding
from gamekeeper.backup.lines import Moved, Sum
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import ledger
from gamekeeper.store.engine import Writing
from gamekeeper.store.migrate import CLAIM, load_migrations, require_known


async def bring_back(keeper: Keeper, folder: Folder, moved: Moved) -> tuple[dict[str, Sum], bool]:
    """In one transaction, under the claim of whoever changes the schema: a server that starts meanwhile waits.

    What each table adds up to, and whether a Ctrl-C has left it complete.
    """
    require_known(folder.migrations, load_migrations(), "export")
    moved = heeding(moved)

    async def work(tx: Writing) -> dict[str, Sum]:
        sums = await filling.fill(tx, keeper.store.engine, folder, moved)
        ledger.set_trimmed(tx, folder.manifest.trimmed)
        return sums

    sums = await decided(keeper.store.write(work, CLAIM))
    return sums, await filling.complete(keeper)
