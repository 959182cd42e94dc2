"""Giving an item to many: the page, and what its script has to ask.

The script sends one form per character, each with a key of its own; so a row that is sent again is not given again.
What a run did is in the ledger, so whoever may can take all of it back, wherever it was run.
"""

import re

from gamekeeper.console import changes, pages
from gamekeeper.console.queries import find_cursor
from gamekeeper.game import history, lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http.instants import instant
from gamekeeper.http.request import Request
from gamekeeper.http.response import Answer
from gamekeeper.store import catalogue
from gamekeeper.store import history as rows
from gamekeeper.store.history import ALL, BY_ACTOR, OF_PLAYER, HistoryChange, HistoryFilter

RUN = re.compile(r"[0-9a-f]{12}", re.ASCII)
NAMED = re.compile(rf"\(run ({RUN.pattern})\)$", re.ASCII)  # at the end of the reason of each of its changes
GIVEN = "items_given"
PIECE = 100  # changes of a run in one answer


async def show(request: Request) -> Answer:
    """`item` chooses one beforehand; `run` is one that has been, `by` whom."""
    store = request.services.keeper.store
    wanted = lookup.parse_guid(request.query.get("item", ""))
    chosen = (await catalogue.find_by_ids(store, "items", [wanted])).get(wanted) if wanted else None
    return pages.render(request, "bulk.html", chosen=chosen)


async def given(request: Request) -> Answer:
    """The number of the change by which a run gave to a character, for those whose answer was lost on its way."""
    player_id, run = lookup.parse_guid(request.query.get("player", "")), _run(request)
    if player_id is None:
        raise BadField(field="player", problem="must be a guid")
    wanted = HistoryFilter(
        within=OF_PLAYER,
        whose=player_id,
        accounts=False,
        kind=GIVEN,
        reason=run,
        actor_id=request.caller.account_id,
    )
    page = await request.read_in_pieces(lambda tx, rest: history.load_page(tx, wanted, None, 1, rest))
    return pages.answer({"numbers": [each.seq for each in page.changes]})


async def done(request: Request) -> Answer:
    """What a run gave, some of it: the newest first, before the change that is named if one is.

    Looked for among what one account did, where it is named: that goes back much further than among all changes.
    """
    run, by = _run(request), lookup.parse_guid(request.query.get("by", ""))
    wanted = HistoryFilter(within=BY_ACTOR if by else ALL, whose=by, accounts=False, kind=GIVEN, reason=f"(run {run})")
    before = find_cursor(request)
    page = await request.read_in_pieces(lambda tx, rest: history.load_page(tx, wanted, before, PIECE, rest))
    entries = await changes.entries(request, page.changes, page.undone)
    given = [_given(each) for each in entries if run_of(each.told) == run]
    reached = await rows.find_first_from(request.services.keeper.store, page.next) if page.next else None
    told = {"rows": given, "next": page.next, "reached": pages.clock(instant(reached[1])) if reached else ""}
    return pages.answer(told)


def run_of(told: HistoryChange) -> str:
    """The run that gave something, if one did."""
    found = NAMED.search(told.reason or "") if told.kind == GIVEN else None
    return found[1] if found else ""


def _given(entry: changes.Entry) -> dict[str, object]:
    told = entry.told
    return {
        "id": told.player_id,
        "name": told.player or told.player_id,
        "number": told.seq,
        "reason": told.reason,
        "lines": [line._asdict() for line in entry.lines],
        "undone": entry.undone_by,
    }


def _run(request: Request) -> str:
    run = request.query.get("run", "")
    if not RUN.fullmatch(run):
        raise BadField(field="run", problem="must be the id of a run")
    return run


pages.TEMPLATES.filters["run_of"] = run_of
