"""Run the retention job without waiting six hours: the test controls both of its clocks."""

from gamekeeper.game.audit.retention import PROBATION_MS, ProvenClock, RetentionJob, trim
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from world import World


class Clocks:
    """A monotonic clock and the database's clock with an offset, both in milliseconds."""

    def __init__(self) -> None:
        self.served = 0
        self.lead = 0

    def advance(self, served: int, database: int | None = None) -> None:
        """Advance the monotonic clock by `served` ms, and the database's clock by `database` ms or else the same."""
        self.served += served
        self.lead += served if database is None else database

    def of(self, world: World) -> RetentionJob:
        return RetentionJob(world.keeper, ProvenClock(world.keeper.store, lambda: self.served / 1000, self._now))

    async def _now(self, tx: Reading) -> int:
        return await clock.now(tx) + self.lead


def tidy(world: World) -> None:
    """Run the retention job like a process that has served for six hours: it deletes rows that are old now."""
    clocks = Clocks()
    retention = clocks.of(world)
    world.run(retention.tidy())
    clocks.advance(PROBATION_MS)
    world.run(retention.tidy())


async def trim_older(keeper: Keeper, older_than_ms: int) -> None:
    """Trim one batch of changes in the audit log that are older than this age."""
    await trim(keeper, await clock.now(keeper.store) - older_than_ms)
