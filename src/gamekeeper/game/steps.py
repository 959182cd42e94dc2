"""What the transaction of a change does besides the change: for bulk jobs, and for changes of the past."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from gamekeeper.store.engine import Writing


class Step(NamedTuple):
    begin: Callable[[Writing], Coroutine[Any, Any, None]]  # locks the job; raises if the change must not be made
    # stores the result: the numbers of the changes, or the id of the approval for which they wait
    record: Callable[[Writing, Sequence[int], str | None], None]
    is_approved: bool  # a second person approved the whole job, so its changes are not held again
