"""A step of a bulk job: what the transaction of one target's change does besides the change."""

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from gamekeeper.store.engine import Writing


class Step(NamedTuple):
    begin: Callable[[Writing], Coroutine[Any, Any, None]]  # locks the job; raises if the change must not be made
    # stores the result: the number of the change, or the id of the approval for which it waits
    record: Callable[[Writing, int | None, str | None], None]
    is_approved: bool  # a second person approved the whole job, so its changes are not held again
