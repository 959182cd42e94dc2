"""The change feed for game servers."""

from gamekeeper.game import refusals as no
from gamekeeper.game.feed import FeedQuery
from gamekeeper.http import codec, samples, wire
from gamekeeper.http.operation import LINK, NO_STORE, READ, Group
from gamekeeper.http.request import Request

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
async def changes(request: Request, query: wire.feed.FeedQuery) -> bytes:
    """Changes to characters after a number, in order; waits for one if there is none."""
    asked = FeedQuery(
        after=None if query.after == "now" else query.after,
        limit=query.limit,
        wait_seconds=query.wait,
        account_id=request.caller.account_id,
        include_own=query.own,
        epoch=query.epoch or None,
    )
    telling = request.run_until_disconnect(request.services.keeper.feed.read_changes(asked))
    told = await (request.services.admission.release_while(telling) if asked.wait_seconds else telling)
    if told is None:
        return b""  # nobody is there to read it
    if asked.wait_seconds:
        await request.recheck_permissions()  # a poll may be longer than a revocation is allowed to take
    return wire.encode(wire.feed.Changes(codec.feed_changes(told.changes), told.next, told.epoch))
