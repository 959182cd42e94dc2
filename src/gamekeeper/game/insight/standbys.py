"""Compares the number of synchronous standbys with the number that the operator expects."""

from gamekeeper.game.core.keeper import Keeper
from gamekeeper.ground import log
from gamekeeper.store.engine import database_checks

POLL_SECONDS = 10.0
RISK = "changes are acknowledged with fewer copies than expected, and the loss of a machine can lose them"
REMEDY = (
    "Check that the standbys are connected, and synchronous_standby_names on the primary; with Patroni, "
    "`patronictl list`. docs/deploy.md names the versions that work together"
)


async def find_shortage(keeper: Keeper) -> str:
    """Describe missing synchronous standbys; empty text: there are as many as `synchronous_standbys` expects."""
    expected = keeper.settings.synchronous_standbys
    if not expected:
        return ""
    present = await database_checks.count_synchronous_standbys(keeper.store)
    if present >= expected:
        return ""
    return f"The database has {present} synchronous standbys, but synchronous_standbys is {expected}: {RISK}. {REMEDY}."


class StandbyMonitor:
    """Logs a shortage of synchronous standbys when it begins and when it ends."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._shortage = ""

    async def check(self) -> None:
        shortage = await find_shortage(self._keeper)
        if shortage != self._shortage:
            log.problem("standbys", shortage or "The database has enough synchronous standbys again.")
        self._shortage = shortage
