"""The change feed for game servers."""

from gamekeeper.game import refusals as no
from gamekeeper.game.feed import Asked
from gamekeeper.game.lookup import guid
from gamekeeper.game.refusals import BadField
from gamekeeper.http import paging, samples, spelling, wire
from gamekeeper.http.operation import LINK, NO_STORE, READ, Group
from gamekeeper.http.request import Request

LONGEST_WAIT = 60
LARGEST = 1000
DEFAULT_LIMIT = 100
HIGHEST = 2**63 - 1
NOW = "now"

GROUP = Group("Feed", "What game servers are told.")


@GROUP.operation(
    "GET /api/link/v1/changes",
    name="list_changes",
    permissions=LINK,
    access=READ,
    cache=NO_STORE,
    query=wire.feed.FeedQuery,
    answer=wire.feed.Changes,
    refusals=(no.EpochChanged, no.ChangesTrimmed, no.CursorAhead),
    example_answer=wire.feed.Changes([samples.CHANGE], 4711, samples.EPOCH),
)
async def changes(request: Request) -> bytes:
    """Changes to characters after a number, in order; waits for one if there is none."""
    asked = _asked(request)
    telling = request.unless_gone(request.services.keeper.feed.changes(asked))
    told = await (request.services.admission.aside(telling) if asked.wait else telling)
    if told is None:
        return b""  # nobody is there to read it
    if asked.wait:
        await request.require_still()  # a poll may be longer than a revocation is allowed to take
    return wire.encode(wire.feed.Changes(spelling.feed_changes(told.changes), told.next, told.epoch))


def _asked(request: Request) -> Asked:
    query = request.query
    return Asked(
        after=None if query.get("after", "").lower() == NOW else paging.integer(query, "after", 0, 0, HIGHEST),
        limit=min(paging.integer(query, "limit", 1, DEFAULT_LIMIT), LARGEST),
        wait=min(paging.integer(query, "wait", 0, 0), LONGEST_WAIT),
        account_id=request.caller.account_id,
        own=request.flag("own"),
        epoch=_epoch(query.get("epoch")),
    )


def _epoch(text: str | None) -> str | None:
    if text is None:
        return None
    found = guid(text)
    if found is None:
        raise BadField(field="epoch", problem="must be the Epoch of an earlier answer")
    return found
