"""One box for everything: straight to the thing, or what comes near it."""

from functools import partial
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console import pages
from gamekeeper.console.menu import QUERY
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
    """For the box, while somebody types."""
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
    """The thing itself, when it is the only one that is called exactly so, or the only one at all and no guess."""
    hits = await _find(request, MAX_RESULTS)
    exact = [each for each in hits if each.match in {MATCH_LABELS[ID], MATCH_LABELS[EXACT]}]
    sure = exact or [each for each in hits if hits[-1].match != MATCH_LABELS[NEAR]]  # guesses are the last
    if len(sure) == 1:
        return pages.redirect(sure[0].href)
    return pages.render(request, "search.html", q=_read_text(request), hits=hits, titles=KIND_LABELS)


def build_url(found: SearchHit) -> str:
    """Where the thing is; a bag is with whoever has it, and of an account that is deleted its history is left."""
    if found.kind in CATALOGUE_KINDS:
        return f"/console/catalogue?{urlencode({'kind': CATALOGUE_KINDS[found.kind], 'id': found.id})}"
    if found.kind == "user" and found.deleted:
        return f"/console/changes?{urlencode({'user': found.id})}"
    place = {"user": "accounts", "change": "changes"}.get(found.kind, "players")
    return f"/console/{place}/{quote(found.id, safe='')}"


async def _find(request: Request, most: int) -> list[ResultRow]:
    text, accounts, spelling = (
        _read_text(request),
        request.caller.permissions >= QUERY,
        request.services.keeper.changes.codec,
    )
    find = partial(finder.find, text=text, most=most, codec=spelling, accounts=accounts)
    found = await request.run_through_gate(lambda: request.services.keeper.store.read(find))
    return [ResultRow(each.kind, each.name, each.detail, MATCH_LABELS[each.match], build_url(each)) for each in found]


def _read_text(request: Request) -> str:
    return request.query.get("q", "").strip()


def _group_position(hits: list[ResultRow], kind: str) -> int:
    """The group with the best match comes first."""
    return next(place for place, hit in enumerate(hits) if hit.kind == kind)
