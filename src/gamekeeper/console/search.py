"""The search box for players, accounts, catalogue entries, bags and changes, and its page of results."""

from functools import partial
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console import pages
from gamekeeper.console.texts import gettext
from gamekeeper.game import finder
from gamekeeper.game.finder import CATALOGUE_KINDS, EXACT, ID, NEAR, SearchHit
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

MAX_SUGGESTIONS, MAX_RESULTS = 10, 50
KIND_LABELS = {
    "player": gettext("players"),
    "user": gettext("accounts"),
    "item": gettext("items"),
    "spell": gettext("spells"),
    "class": gettext("classes"),
    "map": gettext("maps"),
    "variable": gettext("variables"),
    "bag": gettext("bags of players"),
    "change": gettext("changes"),
}
MATCH_LABELS = {
    "id": gettext("matched by id"),
    "exact": gettext("exact match"),
    "prefix": gettext("starts with the text"),
    "part": gettext("contains the text"),
    "near": gettext("similar name"),
}


class ResultRow(NamedTuple):
    kind: str
    name: str
    detail: str
    match: str
    href: str


async def suggest(request: Request) -> Response:
    """Return suggestions for the search box as JSON, grouped by kind."""
    hits = await _find(request, MAX_SUGGESTIONS)
    groups = [
        {
            "title": KIND_LABELS[kind].capitalize(),
            "found": [{"name": each.name, "detail": each.detail, "href": each.href} for each in of],
        }
        for kind, of in groupby(sorted(hits, key=lambda hit: _group_position(hits, hit.kind)), key=lambda hit: hit.kind)
    ]
    return pages.answer_json({"groups": groups})


async def show(request: Request) -> Response:
    """Show the search results. Redirect to a single exact match, or to a single result that is no similar name."""
    hits = await _find(request, MAX_RESULTS)
    exact = [each for each in hits if each.match in {MATCH_LABELS[ID], MATCH_LABELS[EXACT]}]
    # without an exact match: all hits, or none if there are similar names, which come last
    sure = exact or [each for each in hits if hits[-1].match != MATCH_LABELS[NEAR]]
    if len(sure) == 1:
        return pages.redirect(sure[0].href)
    return pages.render(request, "search.html", q=_read_text(request), hits=hits, titles=KIND_LABELS)


def build_url(found: SearchHit) -> str:
    """Return the URL of a search hit. For a bag: its player's page; for a deleted account: its changes."""
    if found.kind in CATALOGUE_KINDS:
        return f"/console/catalogue?{urlencode({'kind': CATALOGUE_KINDS[found.kind], 'id': found.id})}"
    if found.kind == "user" and found.deleted:
        return f"/console/changes?{urlencode({'user': found.id})}"
    place = {"user": "accounts", "change": "changes"}.get(found.kind, "players")
    return f"/console/{place}/{quote(found.id, safe='')}"


async def _find(request: Request, most: int) -> list[ResultRow]:
    sight, spelling = finder.Sight.of(request.caller.permissions), request.services.keeper.changes.codec
    find = partial(finder.find, text=_read_text(request), most=most, codec=spelling, sight=sight)
    found = await request.run_through_gate(lambda: request.services.keeper.store.read(find))
    return [ResultRow(each.kind, each.name, each.detail, MATCH_LABELS[each.match], build_url(each)) for each in found]


def _read_text(request: Request) -> str:
    return request.query.get("q", "").strip()


def _group_position(hits: list[ResultRow], kind: str) -> int:
    """Return the sort position of a group of results: that of its best match."""
    return next(place for place, hit in enumerate(hits) if hit.kind == kind)
