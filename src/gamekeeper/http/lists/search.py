"""The search over players, accounts, the catalogue and changes."""

from functools import partial

from gamekeeper.game.core import refusals as no
from gamekeeper.game.lists import search
from gamekeeper.http.audit import codec
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import NO_STORE, READ, READ_PLAYERS, Group
from gamekeeper.http.lists import search_shapes
from gamekeeper.http.server.request import Request

GROUP = Group("Finder", "Search players, accounts, the catalogue and changes.")


@GROUP.operation(
    "GET /api/keeper/v1/search",
    name="search",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=search_shapes.FindQuery,
    answer=search_shapes.Finds,
    rows=50,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=search_shapes.Finds(
        "aldw", [search_shapes.Found("player", samples.PLAYER_ID, samples.PLAYER, "level 48", "prefix")]
    ),
)
async def find(request: Request, query: search_shapes.FindQuery) -> bytes:
    """Search players, accounts, the catalogue and changes by id, name or email, best match first."""
    sight, keeper = search.Sight.from_permissions(request.caller.permissions), request.services.keeper
    find = partial(search.find, text=query.q, most=query.limit, codec=keeper.changes.codec, sight=sight)
    found = await request.run_through_gate(lambda: keeper.store.read(find))
    return shapes.encode(search_shapes.Finds(query.q, [codec.make_search_result(each) for each in found]))
