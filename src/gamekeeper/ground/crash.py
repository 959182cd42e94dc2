"""Fault injection for the reliability tests (battery/): named crash points in the write path.

GAMEKEEPER_BATTERY_CRASH=after_commit:3 gamekeeper serve …     crashes the third time that this point is reached

Without that variable no crash point does anything.
"""

import itertools
import os
import signal

VARIABLE = "GAMEKEEPER_BATTERY_CRASH"
POINTS = ("before_begin", "after_key", "after_effect", "before_commit", "after_commit")
# crash points in the transactions that count the economy
ROLLUP_POINTS = ("rollup_flows", "rollup_holdings", "rollup_signals", "rollup_state", "rollup_swept")
# crash points in the transactions that count boards
BOARD_POINTS = ("boards_standings", "boards_state", "boards_swept")

_armed, _, _times = os.environ.get(VARIABLE, "").partition(":")
_passed = itertools.count(1)


def crash_at(point: str) -> None:
    """Kill this process with SIGKILL, without any clean-up, if this crash point is armed and its count is reached."""
    if point == _armed and next(_passed) == int(_times or 1):
        os.kill(os.getpid(), signal.SIGKILL)
