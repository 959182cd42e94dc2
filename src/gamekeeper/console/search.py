"""One box for everything: straight to the thing, or what comes near it."""

from functools import partial
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console import pages
from gamekeeper.console.menu import QUERY
from gamekeeper.game import finder
from gamekeeper.game.finder import CATALOGUE_KINDS, EXACT, ID, NEAR, SearchHit
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

SUGGESTED, SHOWN = 10, 50
TITLES = {
    "player": "characters",
    "user": "accounts",
    "item": "items",
    "spell": "spells",
    "class": "classes",
    "map": "maps",
    "variable": "variables",
    "bag": "bags of characters",
    "change": "changes",
}
HOW = {"id": "by its id", "exact": "exactly", "prefix": "begins so", "part": "has it inside", "near": "nearly so"}


class Hit(NamedTuple):
    kind: str
    name: str
    detail: str
    how: str
    href: str


async def suggest(request: Request) -> Response:
    """For the box, while somebody types."""
    hits = await _find(request, SUGGESTED)
    groups = [
        {
            "title": TITLES[kind].capitalize(),
            "found": [{"name": each.name, "detail": each.detail, "href": each.href} for each in of],
        }
        for kind, of in groupby(sorted(hits, key=lambda hit: _first_of(hits, hit.kind)), key=lambda hit: hit.kind)
    ]
    return pages.answer({"groups": groups})


async def show(request: Request) -> Response:
    """The thing itself, when it is the only one that is called exactly so, or the only one at all and no guess."""
    hits = await _find(request, SHOWN)
    exact = [each for each in hits if each.how in {HOW[ID], HOW[EXACT]}]
    sure = exact or [each for each in hits if hits[-1].how != HOW[NEAR]]  # guesses are the last
    if len(sure) == 1:
        return pages.redirect(sure[0].href)
    return pages.render(request, "search.html", q=_typed(request), hits=hits, titles=TITLES)


def address(found: SearchHit) -> str:
    """Where the thing is; a bag is with whoever has it, and of an account that is deleted its history is left."""
    if found.kind in CATALOGUE_KINDS:
        return f"/console/catalogue?{urlencode({'kind': CATALOGUE_KINDS[found.kind], 'id': found.id})}"
    if found.kind == "user" and found.deleted:
        return f"/console/changes?{urlencode({'user': found.id})}"
    place = {"user": "accounts", "change": "changes"}.get(found.kind, "players")
    return f"/console/{place}/{quote(found.id, safe='')}"


async def _find(request: Request, most: int) -> list[Hit]:
    text, accounts, spelling = (
        _typed(request),
        request.caller.permissions >= QUERY,
        request.services.keeper.changes.codec,
    )
    find = partial(finder.find, text=text, most=most, codec=spelling, accounts=accounts)
    found = await request.run_through_gate(lambda: request.services.keeper.store.read(find))
    return [Hit(each.kind, each.name, each.detail, HOW[each.match], address(each)) for each in found]


def _typed(request: Request) -> str:
    return request.query.get("q", "").strip()


def _first_of(hits: list[Hit], kind: str) -> int:
    """The group with the best match comes first."""
    return next(place for place, hit in enumerate(hits) if hit.kind == kind)
