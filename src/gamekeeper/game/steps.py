"""What the transaction of a change does besides the change: for bulk jobs, and for changes of the past."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

from gamekeeper.game import lookup
from gamekeeper.store.engine import Writing

REQUEST_PREFIX = "bulk-"  # of the request id that all changes of a bulk job have


class Step(NamedTuple):
    begin: Callable[[Writing], Coroutine[Any, Any, None]]  # locks the job; raises if the change must not be made
    # stores the result: the numbers of the changes, or the id of the approval for which they wait
    record: Callable[[Writing, Sequence[int], str | None], None]
    is_approved: bool  # a second person approved the whole job, so its changes are not held again


def find_job_id(request_id: str) -> str | None:
    """Return the id of the bulk job that a change belongs to, by the change's request id. None: it is of no job."""
    return lookup.parse_guid(request_id.removeprefix(REQUEST_PREFIX)) if request_id.startswith(REQUEST_PREFIX) else None
