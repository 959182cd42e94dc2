"""Give an item to many players: the page, and the queries of its script.

The script sends one form per player, each with its own idempotency key, so a retry does not give the item twice.
The reason of each change names the run, so every account with the permission can undo a whole run from any browser.
"""

import re

from gamekeeper.console import changes, pages
from gamekeeper.console.queries import find_cursor
from gamekeeper.console.texts import gettext
from gamekeeper.game import history, lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http.instants import format_instant
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import catalogue
from gamekeeper.store import history as rows
from gamekeeper.store.history import ALL, BY_ACTOR, OF_PLAYER, HistoryChange, HistoryFilter

RUN_ID = re.compile(r"[0-9a-f]{12}", re.ASCII)
# a run gives an item to many players; the reason of each of its changes ends with the id of the run
RUN_IN_REASON = re.compile(rf"\(run ({RUN_ID.pattern})\)$", re.ASCII)
GIVEN = "items_given"  # kind of the changes that a run makes
PAGE_SIZE = 100  # changes of a run that one answer to the script lists


async def show(request: Request) -> Response:
    """Show the page. `item` in the query selects an item; `run` and `by` load a past run of an account."""
    store = request.services.keeper.store
    wanted = lookup.parse_guid(request.query.get("item", ""))
    chosen = (await catalogue.find_by_ids(store, "items", [wanted])).get(wanted) if wanted else None
    return pages.render(request, "bulk.html", chosen=chosen)


async def find_change(request: Request) -> Response:
    """Find the change by which a run gave the item to a player, for a script that lost the answer."""
    player_id, run = lookup.parse_guid(request.query.get("player", "")), _require_run(request)
    if player_id is None:
        raise BadField(field="player", problem=gettext("must be a guid"))
    wanted = HistoryFilter(
        within=OF_PLAYER,
        whose=player_id,
        accounts=False,
        kind=GIVEN,
        reason=run,
        actor_id=request.caller.account_id,
    )
    page = await request.read_in_pieces(lambda tx, rest: history.load_page(tx, wanted, None, 1, rest))
    return pages.answer_json({"numbers": [each.seq for each in page.changes]})


async def list_run(request: Request) -> Response:
    """List a page of the changes of a run, the newest first. `before` in the query is the cursor.

    With `by`, only the changes of that account are searched: this reaches much further back than all changes.
    """
    run, by = _require_run(request), lookup.parse_guid(request.query.get("by", ""))
    wanted = HistoryFilter(within=BY_ACTOR if by else ALL, whose=by, accounts=False, kind=GIVEN, reason=f"(run {run})")
    before = find_cursor(request)
    page = await request.read_in_pieces(lambda tx, rest: history.load_page(tx, wanted, before, PAGE_SIZE, rest))
    entries = await changes.load_entries(request, page.changes, page.undone)
    given = [_describe_gift(each) for each in entries if find_run(each.told) == run]
    reached = await rows.find_first_from(request.services.keeper.store, page.next) if page.next else None
    reached_time = pages.format_time(format_instant(reached[1])) if reached else ""
    return pages.answer_json({"rows": given, "next": page.next, "reached": reached_time})


def find_run(told: HistoryChange) -> str:
    """Return the id of the run that made a change; empty if none did."""
    found = RUN_IN_REASON.search(told.reason or "") if told.kind == GIVEN else None
    return found[1] if found else ""


def _describe_gift(entry: changes.HistoryEntry) -> dict[str, object]:
    told = entry.told
    return {
        "id": told.player_id,
        "name": told.player or told.player_id,
        "number": told.seq,
        "reason": told.reason,
        "lines": [line._asdict() for line in entry.lines],
        "undone": entry.undone_by,
    }


def _require_run(request: Request) -> str:
    run = request.query.get("run", "")
    if not RUN_ID.fullmatch(run):
        raise BadField(field="run", problem=gettext("must be the id of a run"))
    return run


pages.TEMPLATES.filters["run_of"] = find_run
