"""The change feed: game servers read the changes made outside the game."""

from gamekeeper.game import refusals as no
from gamekeeper.game.feed import FeedQuery
from gamekeeper.game.key_refusals import ServerNotAllowed
from gamekeeper.http import codec, samples, wire
from gamekeeper.http.answered_rows import MOST_AT_ONCE
from gamekeeper.http.key_guard import require_server
from gamekeeper.http.operation import LINK, NO_STORE, READ, Group
from gamekeeper.http.request import Request

GROUP = Group("Feed", "For game servers: the changes of players, in order.")


@GROUP.operation(
    "GET /api/link/v1/changes",
    name="list_changes",
    permissions=LINK,
    access=READ,
    cache=NO_STORE,
    query=wire.feed.FeedQuery,
    answer=wire.feed.Changes,
    rows=MOST_AT_ONCE,
    refusals=(no.EpochChanged, no.ChangesTrimmed, no.CursorAhead, ServerNotAllowed),
    example_answer=wire.feed.Changes([samples.CHANGE], 4711, samples.EPOCH),
)
async def list_changes(request: Request, query: wire.feed.FeedQuery) -> bytes:
    """List changes of players after a number, in order; with `wait`, as a long poll."""
    if query.server:
        require_server(request.caller.key, query.server)
    asked = FeedQuery(
        after=None if query.after == "now" else query.after,
        limit=query.limit,
        wait_seconds=query.wait,
        account_id=request.caller.account_id,
        include_own=query.own,
        epoch=query.epoch or None,
        server=query.server or None,
    )
    telling = request.run_until_disconnect(request.services.keeper.feed.read_changes(asked))
    told = await (request.services.admission.release_while(telling) if asked.wait_seconds else telling)
    if told is None:
        return b""  # nobody reads this answer: the client has disconnected
    if asked.wait_seconds:
        await request.recheck_permissions()  # check the token again: it may have been revoked during the long poll
    return wire.encode(wire.feed.Changes(codec.make_feed_changes(told.changes), told.next, told.epoch))
