"""The search box and its page: find players, accounts, items, changes, pages and secrets, and offer commands.

Besides search hits it offers pages of the menu, the commands that rooms register, filters of the audit log, and records
whose id begins with the text.
Fields of forms suggest names of catalogue entries while the user types: names with the text, or else similar names.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console.access import tokens
from gamekeeper.console.access.tokens import PastedSecret
from gamekeeper.console.frame import command_palette, menu, pages, sessions
from gamekeeper.console.frame.command_palette import NameSearch, PaletteNote, PaletteOffer
from gamekeeper.console.frame.formats import capitalize
from gamekeeper.console.frame.menu import PLAYERS
from gamekeeper.console.frame.pages import FormToken
from gamekeeper.console.frame.routes import form_route, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, translate_message
from gamekeeper.console.lists import ranking
from gamekeeper.console.players.items import build_picture_address
from gamekeeper.game.accounts import notes
from gamekeeper.game.core import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import search
from gamekeeper.game.lists.search import CATALOGUE_KINDS, EXACT, ID, NEAR, SearchHit, Sight
from gamekeeper.game.world import catalogue as game_catalogue
from gamekeeper.ground import rooms
from gamekeeper.http.contract.operation import READ
from gamekeeper.http.server import query_values
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.insight import holdings
from gamekeeper.store.lists import search as found_rows
from gamekeeper.store.world import catalogue, guilds

MAX_ENTRIES = 12
LEAST_PAGE_LETTERS = 2  # letters that a text needs to find pages
LEAST_RECORD_LETTERS = 3  # letters that a text needs to find guilds, bulk jobs and notes
MOST_REASON_LETTERS = 100  # a longer text is no part of a reason
MOST_SEARCHED = 500  # guilds, and newest bulk jobs, whose names and reasons are compared
SHORT_ID = re.compile(r"[0-9a-f]{6,31}", re.ASCII)
REQUEST_ID = re.compile(r"[\w.:+/=-]{8,128}", re.ASCII)
MOST_LETTERS = 200  # of an action: names and a number


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
    names = Counter(lookup.fold(each.name) for each in found or near)
    # entries with the same name, in any letter case, also show their ids
    labels = {
        each.id: each.name if names[lookup.fold(each.name)] == 1 else f"{each.name} ({each.id})"
        for each in found or near
    }
    return pages.answer_json(
        {"found": [{"id": entry, "label": label} for entry, label in labels.items()], "near": bool(near)}
    )


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


class PaletteLink(NamedTuple):
    name: str
    detail: str
    href: str
    kind: str = ""  # of a search hit, as the others
    match: str = ""
    picture: str = ""  # address of an item's picture; empty: there is none


class FoundThings(NamedTuple):
    """Everything that a text finds."""

    hits: list[PaletteLink]
    actions: list[PaletteOffer]
    pages: list[PaletteLink]
    searches: list[PaletteLink]
    note: PaletteNote | None  # why a text that begins like an action is none


async def suggest(request: Request, raw: bytes) -> Response:
    """Return suggestions for the search box as JSON, grouped by kind. The text comes in a form: it may be a secret."""
    text = sessions.verify_form(request, raw).get("q", "").strip()
    if secret := await tokens.find_pasted(request, text):
        return pages.answer_json({"groups": [{"title": gettext("Tokens and keys"), "found": _list_rows([secret])}]})
    found = await _look_up(request, text, MAX_SUGGESTIONS)
    kinds = [hit.kind for hit in found.hits]
    ordered = sorted(found.hits, key=lambda hit: kinds.index(hit.kind))  # groups by their best match
    actions = [
        {"name": each.label, "detail": each.detail, "href": each.back, "form": each.fields} for each in found.actions
    ]
    groups = [
        (gettext("Actions"), actions),
        (gettext("Not understood"), _list_rows([found.note] if found.note else [])),
        *((capitalize(KIND_LABELS()[kind]), _list_rows(of)) for kind, of in groupby(ordered, key=lambda hit: hit.kind)),
        (gettext("Pages"), _list_rows(found.pages)),
        (gettext("Search the audit log"), _list_rows([] if found.actions or found.note else found.searches)),
    ]
    return pages.answer_json({"groups": [{"title": title, "found": rows} for title, rows in groups if rows]})


def _list_rows(found: Iterable[PaletteLink | PaletteNote | PastedSecret]) -> list[dict[str, str]]:
    return [
        {"name": each.name, "detail": each.detail, "href": each.href}
        | ({"picture": each.picture} if isinstance(each, PaletteLink) and each.picture else {})
        for each in found
    ]


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

    async def look() -> tuple[list[SearchHit], list[PaletteOffer], PaletteNote | None, list[PaletteLink]]:
        hits = await keeper.store.read(find)
        hits += await find_short_ids(keeper, text, accounts=sight.accounts) if len(hits) < most else []
        records = await find_records(keeper, text, rights)
        return hits, *await find_actions(keeper, text, sight, csrf), records

    hits, actions, note, records = await request.run_through_gate(look)
    records += await find_notes(request, text)
    shown = await catalogue.find_picture_hashes(keeper.store, [each.id for each in hits if each.kind == "item"])
    lists = await holdings.read_lists(keeper.store) if any(each.kind == "variable" for each in hits) else []
    ranked = {each.thing_id for each in lists}
    rows = [
        PaletteLink(
            *(each.name, translate_message(each.detail), build_url(each, ranked)),
            *(each.kind, MATCH_LABELS()[each.match]),
            build_picture_address(shown.get(each.id)) if each.kind == "item" else "",
        )
        for each in hits
    ]
    pages_found, searches = find_pages(text, rights), list_searches(text, rights)
    # a text that names something exactly is no mistyped action
    told = None if any(each.match in {ID, EXACT} for each in hits) else note
    return FoundThings(list(dict.fromkeys(rows)), actions, [*pages_found, *records], searches, told)


def find_pages(text: str, rights: frozenset[str]) -> list[PaletteLink]:
    """Find the pages whose titles have a word that starts with each word of the text."""
    words = text.casefold().split()
    if len(text) < LEAST_PAGE_LETTERS:
        return []
    listed = [
        (each.path, each.title, menu.GROUP_TITLES()[each.group]) for each in menu.ENTRIES() if each.needs <= rights
    ]
    if rights >= menu.BULK:
        listed.append(("/console/bulk", gettext("Bulk jobs: act on many players"), menu.GROUP_TITLES()[menu.GAME]))
    return [
        PaletteLink(title, group, path)
        for path, title, group in listed
        if all(any(part.startswith(word) for part in title.casefold().split()) for word in words)
    ]


def list_searches(text: str, rights: frozenset[str]) -> list[PaletteLink]:
    """List links to the audit log, filtered by the text: once as part of a reason, once as a request id."""
    if not rights >= menu.CHANGES or not text or len(text) > MOST_REASON_LETTERS or not lookup.is_nameable(text):
        return []
    sought = [PaletteLink(gettext("Reason contains “%(text)s”", text=text), "", _build_changes_url(reason=text))]
    if REQUEST_ID.fullmatch(text) and any(each.isdigit() for each in text):
        sought.append(PaletteLink(gettext("Request id “%(text)s”", text=text), "", _build_changes_url(request=text)))
    return sought


def _build_changes_url(**sought: str) -> str:
    return f"/console/changes?{urlencode(sought)}"


async def find_records(keeper: Keeper, text: str, rights: frozenset[str]) -> list[PaletteLink]:
    """Find guilds by name, and recent bulk jobs by their reason or id."""
    if not _can_find_records(text):
        return []
    store, fold = keeper.store, lookup.fold(text)
    found: list[PaletteLink] = []
    if rights >= menu.PLAYERS:
        matches = await guilds.search(store, fold, MOST_SEARCHED, command_palette.MOST_OBJECTS)
        found += [PaletteLink(each.name, gettext("Guild"), f"/console/guilds/{each.id}") for each, _ in matches]
    if rights >= menu.BULK:
        jobs = await bulk_jobs.read_page(store, query_values.START, MOST_SEARCHED)
        named = [each for each in jobs if fold in lookup.fold(each.reason or "") or each.id.startswith(text.lower())]
        found += [
            PaletteLink(each.reason or each.id, gettext("Bulk job"), f"/console/bulk/{each.id}")
            for each in named[: command_palette.MOST_OBJECTS]
        ]
    return found


async def find_notes(request: Request, text: str) -> list[PaletteLink]:
    """Find whether notes have the text. It is a long read: no index helps."""
    if not request.caller.permissions >= menu.NOTES or not _can_find_records(text):
        return []
    page = await request.read_in_pieces(
        lambda tx, rest: notes.load_page(tx, query_values.START, 1, None, text, rest), long=True
    )
    label = gettext("Notes that contain “%(text)s”", text=text)
    return [PaletteLink(label, "", f"/console/notes?{urlencode({'text': text})}")] if page.notes else []


def _can_find_records(text: str) -> bool:
    return LEAST_RECORD_LETTERS <= len(text) <= MOST_REASON_LETTERS and lookup.is_nameable(text)


async def find_short_ids(keeper: Keeper, text: str, *, accounts: bool) -> list[SearchHit]:
    """Find players and accounts by the first digits of their ids."""
    digits = text.lower().replace("-", "")
    if not SHORT_ID.fullmatch(digits):
        return []
    first, last = (lookup.parse_guid(digits.ljust(32, each)) for each in "0f")
    if first is None or last is None:
        return []
    found = await keeper.store.read(
        lambda tx: found_rows.find_by_id_range(tx, first, last, command_palette.MOST_OBJECTS)
    )
    return [SearchHit(each.kind, each.id, each.name, each.id, ID) for each in found if accounts or each.kind != "user"]


@cache
def _list_commands() -> list[command_palette.PaletteCommand]:
    return rooms.collect("console", "PALETTE_COMMANDS")


async def find_actions(keeper: Keeper, text: str, sight: Sight, csrf: FormToken) -> command_palette.FoundOffers:
    """List the offers for a typed command: one for each matching player, account and item that the viewer may change.

    A command with an unknown word has no offers, but a note that names the word.
    """
    verb, _, rest = " ".join(text.split()).partition(" ")  # the patterns take long for many spaces
    act = next((each for each in _list_commands() if verb.casefold() in each.words()[each.verb]), None)
    if act is None or not rest or len(verb) + len(rest) >= MOST_LETTERS:
        return [], None
    names = NameSearch(keeper, sight, csrf)
    return await act.find(names, act, rest) if names.may(act, "player", lookup.ZERO_GUID) else ([], None)


PAGES = (
    page_route("/suggest/[kind]", suggest_entries, PLAYERS),
    page_route("/search", show, PLAYERS).with_help(
        "Search for players, accounts, items, changes and pages. Misspelt names are found too."
    ),
    form_route("/search", submit, PLAYERS, access=READ),
    form_route("/suggest", suggest, PLAYERS, access=READ),
)
