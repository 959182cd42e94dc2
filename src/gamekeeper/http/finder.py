"""The search over players, accounts, the catalogue and changes."""

from functools import partial

from gamekeeper.game import finder
from gamekeeper.game import refusals as no
from gamekeeper.http import codec, samples, wire
from gamekeeper.http.operation import NO_STORE, READ, READ_PLAYERS, Group
from gamekeeper.http.request import Request

GROUP = Group("Finder", "Search players, accounts, the catalogue and changes.")


@GROUP.operation(
    "GET /api/keeper/v1/search",
    name="search",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=wire.finder.FindQuery,
    answer=wire.finder.Finds,
    rows=50,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=wire.finder.Finds(
        "aldw", [wire.finder.Found("player", samples.PLAYER_ID, samples.PLAYER, "level 48", "prefix")]
    ),
)
async def find(request: Request, query: wire.finder.FindQuery) -> bytes:
    """Search players, accounts, the catalogue and changes by id, name or email, best match first."""
    sight, keeper = finder.Sight.from_permissions(request.caller.permissions), request.services.keeper
    find = partial(finder.find, text=query.q, most=query.limit, codec=keeper.changes.codec, sight=sight)
    found = await request.run_through_gate(lambda: keeper.store.read(find))
    return wire.encode(wire.finder.Finds(query.q, [codec.make_search_result(each) for each in found]))
