"""The change feed: game servers read the changes made outside the game."""

from gamekeeper.game.access.refusals import ServerNotAllowed
from gamekeeper.game.core import refusals as no
from gamekeeper.game.world.feed import FeedQuery
from gamekeeper.http.audit import codec
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import LINK, MOST_AT_ONCE, NO_STORE, READ, Group
from gamekeeper.http.server.limits import require_server
from gamekeeper.http.server.request import Request
from gamekeeper.http.world import link_shapes

GROUP = Group("Feed", "For game servers: the changes of players, in order.")


@GROUP.operation(
    "GET /api/link/v1/changes",
    name="list_changes",
    permissions=LINK,
    access=READ,
    cache=NO_STORE,
    query=link_shapes.FeedQuery,
    answer=link_shapes.Changes,
    rows=MOST_AT_ONCE,
    refusals=(no.EpochChanged, no.ChangesTrimmed, no.CursorAhead, ServerNotAllowed),
    example_answer=link_shapes.Changes([samples.CHANGE], 4711, samples.EPOCH),
)
async def list_changes(request: Request, query: link_shapes.FeedQuery) -> bytes:
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
    return shapes.encode(link_shapes.Changes(codec.make_feed_changes(told.changes), told.next, told.epoch))
