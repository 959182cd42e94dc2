"""Background jobs that follow the audit log: the counts of the economy and of the boards, and the signals.

Old signals are deleted with the other old rows.
"""

from gamekeeper.game.core.background_jobs import Job, OldRows
from gamekeeper.game.insight.board_follower import BoardFollower
from gamekeeper.game.insight.economy import Economy
from gamekeeper.game.insight.signal_watch import RUN_SECONDS, SignalChecks
from gamekeeper.game.lists.ordered_lists import ListsKeeper
from gamekeeper.game.world.feed import FOLLOW_SECONDS
from gamekeeper.store.insight import signals

SIGNAL_DAYS = 365  # days for which acknowledged signals are kept


class InsightKeeper(ListsKeeper, frozen=True):
    economy: Economy
    boards: BoardFollower
    signal_checks: SignalChecks


JOBS = (
    Job[InsightKeeper]("economy", FOLLOW_SECONDS, lambda keeper: keeper.economy.follow),
    Job[InsightKeeper]("boards", FOLLOW_SECONDS, lambda keeper: keeper.boards.follow),
    Job[InsightKeeper]("signals", RUN_SECONDS, lambda keeper: keeper.signal_checks.run),
)
OLD_ROWS = (OldRows(20, lambda _: SIGNAL_DAYS, signals.delete_old),)
