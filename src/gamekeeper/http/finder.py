"""One search for everything that has a name or an id."""

from functools import partial

from gamekeeper.game import finder
from gamekeeper.game import refusals as no
from gamekeeper.game.refusals import BadField
from gamekeeper.http import paging, samples, spelling, wire
from gamekeeper.http.operation import ANY_TOKEN, NO_STORE, READ, Group
from gamekeeper.http.request import CONTROL, Request

DEFAULT, MOST = 20, 50
LONGEST = 255
ACCOUNTS = "users.query"

GROUP = Group("Finder", "One search for everything.")


@GROUP.operation(
    "GET /api/keeper/v1/search",
    name="search",
    permissions=ANY_TOKEN,
    access=READ,
    cache=NO_STORE,
    query=wire.finder.FindQuery,
    answer=wire.finder.Finds,
    refusals=(no.TooManyLongReads,),
    example_answer=wire.finder.Finds(
        "aldw", [wire.finder.Found("player", samples.PLAYER_ID, samples.PLAYER, "level 48", "prefix")]
    ),
)
async def find(request: Request) -> bytes:
    """Characters, accounts, the catalogue and changes, by id, name or email, the best match first."""
    text = request.query.get("q", "")
    if CONTROL.search(text) or len(text) > LONGEST:
        raise BadField(field="q", problem=f"must be at most {LONGEST} printable characters")
    limit = min(paging.integer(request.query, "limit", 1, DEFAULT), MOST)
    accounts, keeper = ACCOUNTS in request.caller.rights, request.services.keeper
    find = partial(finder.find, text=text, most=limit, spelling=keeper.changes.spelling, accounts=accounts)
    found = await request.through_gate(lambda: keeper.store.read(find))
    return wire.encode(wire.finder.Finds(text, [spelling.found(each) for each in found]))
