"""Giving an item to many: the page, and what its script has to ask.

The script sends one form per character, each with a key of its own; so a row that is sent again is not given again.
"""

import re

from gamekeeper.console import pages
from gamekeeper.game import history, lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http.request import Request
from gamekeeper.store import catalogue as entries
from gamekeeper.store.history import OF_PLAYER, Filter

RUN = re.compile(r"[0-9a-f]{12}", re.ASCII)  # stands in the reason of each of its changes


async def show(request: Request) -> bytes:
    """`item` chooses one beforehand."""
    store = request.keeper.store
    wanted = lookup.guid(request.query.get("item", ""))
    chosen = (await entries.by_id(store, "items", [wanted])).get(wanted) if wanted else None
    return pages.render(request, "bulk.html", chosen=chosen)


async def given(request: Request) -> bytes:
    """The number of the change by which a run gave to a character, for those whose answer was lost on its way."""
    player_id, run = lookup.guid(request.query.get("player", "")), request.query.get("run", "")
    if player_id is None:
        raise BadField(field="player", problem="must be a guid")
    if not RUN.fullmatch(run):
        raise BadField(field="run", problem="must be the id of a run")
    wanted = Filter(
        within=OF_PLAYER,
        whose=player_id,
        accounts=False,
        kind="items_given",
        reason=run,
        actor_id=request.caller.account_id,
    )
    page = await request.keeper.store.read(lambda tx: history.page(tx, wanted, None, 1))
    return pages.answer(request, {"numbers": [each.seq for each in page.changes]})
