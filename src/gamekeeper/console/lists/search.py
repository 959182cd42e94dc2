"""The search box, which finds players, accounts, items, changes, pages and secrets, and acts; and its page.

Fields of forms suggest names of catalogue entries while the user types: names with the text, or else similar names.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console.access import tokens
from gamekeeper.console.access.tokens import PastedSecret
from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.formats import capitalize
from gamekeeper.console.frame.pages import FormToken
from gamekeeper.console.frame.texts import PerLanguage, gettext, translate_message
from gamekeeper.console.lists import palette, ranking
from gamekeeper.console.lists.palette import PaletteAction, PaletteLink, PaletteNote
from gamekeeper.console.players.items import build_picture_address
from gamekeeper.game.core import lookup
from gamekeeper.game.lists import search
from gamekeeper.game.lists.search import CATALOGUE_KINDS, EXACT, ID, NEAR, SearchHit
from gamekeeper.game.world import catalogue as game_catalogue
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.insight import holdings
from gamekeeper.store.world import catalogue

MAX_ENTRIES = 12


async def suggest_entries(request: Request) -> Response:
    kind, text = request.params[0], request.query.get("q", "").strip()
    game_catalogue.require_kind(kind)
    tx = request.services.keeper.store
    found = (
        await game_catalogue.find_by_name(tx, kind, text, MAX_ENTRIES)
        if text
        else await catalogue.read_page(tx, kind, MAX_ENTRIES, 0)
    )
    near = await search.find_similar_entries(tx, kind, text, MAX_ENTRIES) if text and not found else []
    return pages.answer_json({"found": _label_entries(found or near), "near": bool(near)})


def _label_entries(found: Sequence[catalogue.CatalogueEntry]) -> list[dict[str, str]]:
    """Label entries by name. Entries with the same name, in any letter case, also show their ids."""
    names = Counter(lookup.fold(each.name) for each in found)
    labels = [each.name if names[lookup.fold(each.name)] == 1 else f"{each.name} ({each.id})" for each in found]
    return [{"id": each.id, "label": label} for each, label in zip(found, labels, strict=True)]


MAX_SUGGESTIONS, MAX_RESULTS = 10, 50
KIND_LABELS = PerLanguage(
    lambda: {
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
)
MATCH_LABELS = PerLanguage(
    lambda: {
        "id": gettext("matched by id"),
        "exact": gettext("exact match"),
        "prefix": gettext("starts with the text"),
        "part": gettext("contains the text"),
        "near": gettext("similar name"),
    }
)


ACTIONS = PerLanguage(lambda: gettext("Actions"))
NOT_UNDERSTOOD = PerLanguage(lambda: gettext("Not understood"))
PAGES = PerLanguage(lambda: gettext("Pages"))
AUDIT_LOG = PerLanguage(lambda: gettext("Search the audit log"))
SECRETS = PerLanguage(lambda: gettext("Tokens and keys"))


class ResultRow(NamedTuple):
    kind: str
    name: str
    detail: str
    match: str
    href: str
    picture: str = ""  # address of an item's picture; empty: there is none


class FoundThings(NamedTuple):
    """Everything that a text finds."""

    hits: list[ResultRow]
    actions: list[PaletteAction]
    pages: list[PaletteLink]
    searches: list[PaletteLink]
    note: PaletteNote | None  # why a text that begins like an action is none


async def suggest(request: Request, raw: bytes) -> Response:
    """Return suggestions for the search box as JSON, grouped by kind. The text comes in a form: it may be a secret."""
    text = sessions.verify_form(request, raw).get("q", "").strip()
    if secret := await tokens.find_pasted(request, text):
        return pages.answer_json({"groups": [_make_group(SECRETS(), [secret])]})
    found = await _look_up(request, text, MAX_SUGGESTIONS)
    groups = [_make_action_group(found.actions)] if found.actions else []
    groups += [_make_group(NOT_UNDERSTOOD(), [found.note])] if found.note else []
    ordered = sorted(found.hits, key=lambda hit: _group_position(found.hits, hit.kind))
    groups += [
        _make_group(capitalize(KIND_LABELS()[kind]), list(of))
        for kind, of in groupby(ordered, key=lambda hit: hit.kind)
    ]
    groups += [_make_group(PAGES(), found.pages)] if found.pages else []
    groups += (
        [_make_group(AUDIT_LOG(), found.searches)] if found.searches and not found.actions and not found.note else []
    )
    return pages.answer_json({"groups": groups})


def _make_group(title: str, found: Sequence[ResultRow | PaletteLink | PaletteNote | PastedSecret]) -> dict[str, object]:
    rows = [{"name": each.name, "detail": each.detail, "href": each.href, **_make_picture(each)} for each in found]
    return {"title": title, "found": rows}


def _make_picture(found: ResultRow | PaletteLink | PaletteNote | PastedSecret) -> dict[str, str]:
    return {"picture": found.picture} if isinstance(found, ResultRow) and found.picture else {}


def _make_action_group(actions: Sequence[PaletteAction]) -> dict[str, object]:
    rows = [{"name": each.label, "detail": each.detail, "href": each.back, "form": each.fields} for each in actions]
    return {"title": ACTIONS(), "found": rows}


async def submit(request: Request, raw: bytes) -> Response:
    """Answer the search form. A secret is looked up here; another text gets an address, which can be shared."""
    text = sessions.verify_form(request, raw).get("q", "").strip()
    if secret := await tokens.find_pasted(request, text):
        return tokens.show_pasted(request, secret)
    return pages.redirect(f"/console/search?{urlencode({'q': text})}")


async def show(request: Request) -> Response:
    """Show the search results. Redirect to a single exact match, or to a single result that is no similar name."""
    if "pasted" in request.query:
        return tokens.show_pasted(request, None)
    text = request.query.get("q", "").strip()
    found = await _look_up(request, text, MAX_RESULTS)
    hits = found.hits
    exact = [each for each in hits if each.match in {MATCH_LABELS()[ID], MATCH_LABELS()[EXACT]}]
    # without an exact match: all hits, or none if there are similar names, which come last
    sure = exact or [each for each in hits if hits[-1].match != MATCH_LABELS()[NEAR]]
    if len(sure) == 1 and not found.actions and not found.note:
        return pages.redirect(sure[0].href)
    return pages.render(request, "lists/search.html", q=text, found=found, titles=KIND_LABELS())


def build_url(found: SearchHit, ranked: Collection[str] = ()) -> str:
    """Return the URL of a search hit. For a bag: its player's page; for a deleted account: its changes.

    `ranked`: ids of variables that have a page with their holders.
    """
    if found.kind == "variable" and found.id in ranked:
        return ranking.build_variable_address(found.id)
    if found.kind == "item":
        return f"/console/items/{quote(found.id, safe='')}"
    if found.kind in CATALOGUE_KINDS:
        return f"/console/catalogue?{urlencode({'kind': CATALOGUE_KINDS[found.kind], 'id': found.id})}"
    if found.kind == "user" and found.deleted:
        return f"/console/changes?{urlencode({'user': found.id})}"
    place = {"user": "accounts", "change": "changes"}.get(found.kind, "players")
    return f"/console/{place}/{quote(found.id, safe='')}"


async def _look_up(request: Request, text: str, most: int) -> FoundThings:
    keeper, rights = request.services.keeper, request.caller.permissions
    sight, csrf = search.Sight.from_permissions(rights), FormToken.from_request(request)
    find = partial(search.find, text=text, most=most, codec=keeper.changes.codec, sight=sight)

    async def look() -> tuple[list[SearchHit], list[PaletteAction], PaletteNote | None, list[PaletteLink]]:
        hits = await keeper.store.read(find)
        hits += await palette.find_short_ids(keeper, text, accounts=sight.accounts) if len(hits) < most else []
        records = await palette.find_records(keeper, text, rights)
        return hits, *await palette.find_actions(keeper, text, sight, csrf), records

    hits, actions, note, records = await request.run_through_gate(look)
    records += await palette.find_notes(request, text)
    shown = await catalogue.find_picture_hashes(keeper.store, [each.id for each in hits if each.kind == "item"])
    lists = await holdings.read_lists(keeper.store) if any(each.kind == "variable" for each in hits) else []
    ranked = {each.thing_id for each in lists}
    rows = [
        ResultRow(
            *(each.kind, each.name, translate_message(each.detail), MATCH_LABELS()[each.match]),
            build_url(each, ranked),
            build_picture_address(shown.get(each.id)) if each.kind == "item" else "",
        )
        for each in hits
    ]
    pages_found, searches = palette.find_pages(text, rights), palette.list_searches(text, rights)
    # a text that names something exactly is no mistyped action
    told = None if any(each.match in {ID, EXACT} for each in hits) else note
    return FoundThings(list(dict.fromkeys(rows)), actions, [*pages_found, *records], searches, told)


def _group_position(hits: list[ResultRow], kind: str) -> int:
    """Return the sort position of a group of results: that of its best match."""
    return next(place for place, hit in enumerate(hits) if hit.kind == kind)
