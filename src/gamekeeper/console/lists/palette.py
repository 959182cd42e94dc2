"""What the search box offers beside search hits: pages of the menu, actions, places to search in, and short ids.

Actions are short sentences, such as "ban Yorick 7d" or "give 5 recall scroll to Aldwyn". They lead to the preview.
A sentence with a word that is not understood is no action: it would do something else than what was typed.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console.frame import formats, menu
from gamekeeper.console.frame.differences import TIMES_SIGN
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.pages import FormToken
from gamekeeper.console.frame.texts import PerLanguage, gettext, translate_message
from gamekeeper.console.lists.palette_words import (
    TIME_WORDS,
    TypedTime,
    find_meaning,
    list_understood,
    make_pattern,
    parse_time,
)
from gamekeeper.game.accounts import notes
from gamekeeper.game.core import lookup
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.lists import search
from gamekeeper.game.lists.search import EXACT, ID, NEAR, SearchHit, Sight
from gamekeeper.http.server import query_values
from gamekeeper.http.server.request import Request
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.lists import finder as found_rows
from gamekeeper.store.world import guilds

LEAST_PAGE_LETTERS = 2  # letters that a text needs to find pages
LEAST_RECORD_LETTERS = 3  # letters that a text needs to find guilds, bulk jobs and notes
MOST_SEARCHED = 500  # guilds, and newest bulk jobs, whose names and reasons are compared
MOST_REASON_LETTERS = 100  # a longer text is no part of a reason
MOST_FOUND = 20  # search hits among which the player, account or item of an action is looked for
MOST_OBJECTS = 3  # players or accounts, and items, that are offered for one action
DEFAULT_DAYS = 7
MOST_QUANTITY = 2**31 - 1
SHORT_ID = re.compile(r"[0-9a-f]{6,31}", re.ASCII)
REQUEST_ID = re.compile(r"[\w.:+/=-]{8,128}", re.ASCII)
OWN_PAGES = PerLanguage(
    lambda: (
        ("/console/me", gettext("My account")),
        ("/console/me/password", gettext("Change my password")),
        ("/console/me/second-factor", gettext("Second factor")),
        ("/console/sign-out", gettext("Sign out everywhere")),
    )
)
MOST_LETTERS = 200  # of an action: names and a number
MOST_UNKNOWN = 4  # last words of a text that are looked at to say which ones are not understood
SAME = 0.6  # similarity of a typed word and a word of a name, from which the one may be a misspelling of the other
QUANTITY = r"(?P<number>\d{1,10})\s*[x\u00d7]?\s+"
GIFT = r"(?:{quantity})?(?P<item>.+)\s+(?:{preposition})\s+(?P<name>.+)"
# the name before the item: the number between them tells where the name ends
GIFT_BY_NAME = re.compile(rf"(?P<name>\D.*?)\s+{QUANTITY}(?P<item>.+)")
ENDINGS = ("unban", "unmute", "kick")
SANCTIONS = ("ban", "mute", *ENDINGS)
PREPOSITIONS = {"give": "to", "take": "from"}


class PaletteLink(NamedTuple):
    name: str
    detail: str
    href: str


class PaletteNote(NamedTuple):
    """Why a text that begins like an action is none, and what is understood instead."""

    name: str
    detail: str
    href: str = ""


class PaletteAction(NamedTuple):
    """A form of /console/act that shows the preview of an action."""

    label: str
    detail: str
    path: str  # of the operation, which is a POST
    body: Mapping[str, str | int]
    back: str
    kind: str = ""  # CSS class of the button

    @property
    def fields(self) -> dict[str, str]:
        values = {f"body.{name}": str(value) for name, value in self.body.items()}
        return {"method": "POST", "path": self.path, "back": self.back, **values}


def find_pages(text: str, rights: frozenset[str]) -> list[PaletteLink]:
    """Find the pages whose titles have a word that starts with each word of the text."""
    words = text.casefold().split()
    if len(text) < LEAST_PAGE_LETTERS:
        return []
    listed = [(each.path, each.title, menu.GROUP_TITLES()[each.group]) for each in menu.MENU() if each.needs <= rights]
    listed += [(path, title, "") for path, title in OWN_PAGES()]
    if rights >= menu.BULK:
        listed.append(("/console/bulk", gettext("Bulk jobs: act on many players"), menu.GROUP_TITLES()[menu.GAME]))
    return [
        PaletteLink(title, group, path)
        for path, title, group in listed
        if all(any(part.startswith(word) for part in title.casefold().split()) for word in words)
    ]


def list_searches(text: str, rights: frozenset[str]) -> list[PaletteLink]:
    """List links that search the audit log for the text: as a part of a reason, and as a request id."""
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
        matches = await guilds.search(store, fold, MOST_SEARCHED, MOST_OBJECTS)
        found += [PaletteLink(each.name, gettext("Guild"), f"/console/guilds/{each.id}") for each, _ in matches]
    if rights >= menu.BULK:
        jobs = await bulk_jobs.read_page(store, query_values.START, MOST_SEARCHED)
        named = [each for each in jobs if fold in lookup.fold(each.reason or "") or each.id.startswith(text.lower())]
        found += [
            PaletteLink(each.reason or each.id, gettext("Bulk job"), f"/console/bulk/{each.id}")
            for each in named[:MOST_OBJECTS]
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
    found = await keeper.store.read(lambda tx: found_rows.find_by_id_range(tx, first, last, MOST_OBJECTS))
    return [SearchHit(each.kind, each.id, each.name, each.id, ID) for each in found if accounts or each.kind != "user"]


async def find_actions(
    keeper: Keeper, text: str, sight: Sight, csrf: FormToken
) -> tuple[list[PaletteAction], PaletteNote | None]:
    """List the actions that a text may mean: one for each player, account and item, as far as the viewer may do it.

    A text that begins like an action has no action if one of its words is not understood, but a note that says so.
    """
    verb, _, rest = " ".join(text.split()).partition(" ")  # the patterns take long for many spaces
    act = find_meaning(verb, *SANCTIONS, *PREPOSITIONS)
    if not act or not rest or len(verb) + len(rest) >= MOST_LETTERS:
        return [], None
    if not csrf.allows("POST", _build_path("player", lookup.ZERO_GUID, act)):
        return [], None
    find = _find_sanctions if act in SANCTIONS else _find_gifts
    return await find(_Search(keeper, sight, csrf), act, rest)


class _Search(NamedTuple):
    """Where the names in an action are looked for, and what the viewer may do."""

    keeper: Keeper
    sight: Sight
    csrf: FormToken

    async def find(self, name: str, *kinds: str) -> list[SearchHit]:
        """Find what a name in an action may mean. A player or account that is found exactly is the only one meant."""
        find = partial(
            search.find,
            text=name,
            most=MOST_FOUND,
            codec=self.keeper.changes.codec,
            sight=self.sight._replace(changes=False),
        )
        hits = await self.keeper.store.read(find)
        found = [each for each in hits if each.kind in kinds and not each.deleted and is_meant(each, name)]
        exact = [each for each in found if each.match in {ID, EXACT}]
        return (exact or found)[:MOST_OBJECTS]

    async def find_unknown(self, text: str, *kinds: str) -> str:
        """Return the last words of a text that do not belong to a name, or all of it if it begins with none."""
        words = text.split()
        for size in range(1, min(len(words), MOST_UNKNOWN + 1)):
            if await self.find(" ".join(words[:-size]), *kinds):
                return " ".join(words[-size:])
        return text


def is_meant(found: SearchHit, typed: str) -> bool:
    """Tell whether all words that were typed belong to the name that was found.

    The search ignores the end of a misspelt text, so "Yorick 1h" would find Yorick: a word that is no part of the name
    may be an order that the action would not carry out.
    """
    if found.match in {ID, EXACT}:
        return True
    words, names = lookup.fold(typed).split(), lookup.fold(found.name).split()
    if len(words) > 1 and any(word not in names for word in words if any(each.isdigit() for each in word)):
        return False
    if found.match != NEAR:
        return True
    return any(
        len(words) == len(parts)
        and all(SequenceMatcher(None, word, part).ratio() >= SAME for word, part in zip(words, parts, strict=True))
        for parts in (names, found.detail.casefold().split())  # the detail of an account is its email
    )


async def _find_sanctions(search: _Search, verb: str, rest: str) -> tuple[list[PaletteAction], PaletteNote | None]:
    whole = await search.find(rest, "player", "user")
    exact = any(each.match in {ID, EXACT} for each in whole)
    name, typed = (rest, None) if verb in ENDINGS or exact else _split_time(rest)
    found = whole if typed is None else await search.find(name, "player", "user")
    body: Mapping[str, str | int] = {} if verb in ENDINGS else typed.body if typed else {"duration": DEFAULT_DAYS}
    actions: list[PaletteAction] = []
    for each in found:
        path = _build_path(each.kind, each.id, verb)
        if search.csrf.allows("POST", path):
            back = f"/console/{'players' if each.kind == 'player' else 'accounts'}/{each.id}"
            label, detail = _label_sanction(verb, each.name, body), translate_message(each.detail)
            actions.append(PaletteAction(label, detail, path, body, back, "danger"))
    if actions:
        return actions, None
    unknown = name if typed else await search.find_unknown(rest, "player", "user")
    if unknown in {rest, name}:
        return [], PaletteNote(gettext("No player or account is called “%(name)s”.", name=unknown), _explain(verb))
    return [], PaletteNote(gettext("“%(words)s” is not understood.", words=unknown), _explain(verb))


def _split_time(text: str) -> tuple[str, TypedTime | None]:
    """Split a text into a name and the longest time at its end."""
    words, now = text.split(), datetime.now(UTC)
    for size in range(min(len(words) - 1, TIME_WORDS), 0, -1):
        if typed := parse_time(" ".join(words[-size:]), now):
            return " ".join(words[:-size]), typed
    return text, None


def _build_path(kind: str, object_id: str, verb: str) -> str:
    group = "items" if verb in PREPOSITIONS else "admin"
    return f"/api/v1/{kind}s/{quote(object_id, safe='')}/{group}/{verb}"


def _explain(verb: str) -> str:
    """Say which words an action understands."""
    if verb in PREPOSITIONS:
        return gettext(
            "Write the number, the item and the player, and nothing else: give 5 recall scroll to Aldwyn, "
            "give Aldwyn 5 recall scroll, take 2 recall scroll from Aldwyn."
        )
    if verb in ENDINGS:
        return gettext("Write only a name after it, such as: kick Yorick.")
    return " ".join((gettext("Write a name and a time, such as: mute Yorick 30m."), list_understood()))


def _label_sanction(verb: str, name: str, body: Mapping[str, str | int]) -> str:
    if verb == "ban":
        return gettext("Ban %(name)s %(duration)s", name=name, duration=formats.describe_duration(body))
    if verb == "mute":
        return gettext("Mute %(name)s %(duration)s", name=name, duration=formats.describe_duration(body))
    if verb == "kick":
        return gettext("Kick %(name)s from the game", name=name)
    return (
        gettext("End the ban of %(name)s", name=name)
        if verb == "unban"
        else gettext("End the mute of %(name)s", name=name)
    )


async def _find_gifts(search: _Search, verb: str, rest: str) -> tuple[list[PaletteAction], PaletteNote | None]:
    by_item = re.compile(
        GIFT.format(quantity=QUANTITY, preposition=make_pattern(PREPOSITIONS[verb])), re.IGNORECASE
    ).fullmatch(rest)
    said = by_item or GIFT_BY_NAME.fullmatch(rest)
    quantity = int(said["number"] or 1) if said else 0
    if not said or not 1 <= quantity <= MOST_QUANTITY:
        return [], PaletteNote(gettext("“%(words)s” is not understood.", words=rest), _explain(verb))
    items = await search.find(said["item"], "item")
    players = await search.find(said["name"], "player")
    actions: list[PaletteAction] = []
    for item in items[: 1 if items and items[0].match == EXACT else MOST_OBJECTS]:
        for player in players:
            path = _build_path("player", player.id, verb)
            if search.csrf.allows("POST", path):
                words = {"quantity": f"{format_number(quantity)} {TIMES_SIGN} {item.name}", "name": player.name}
                label = (
                    gettext("Give %(quantity)s to %(name)s", **words)
                    if verb == "give"
                    else gettext("Take %(quantity)s from %(name)s", **words)
                )
                body: dict[str, str | int] = {"itemid": item.id, "quantity": quantity}
                back = f"/console/players/{player.id}"
                actions.append(PaletteAction(label, translate_message(player.detail), path, body, back))
    if actions:
        return actions[:MOST_OBJECTS], None
    typed, kind = (said["name"], "player") if items else (said["item"], "item")
    unknown = await search.find_unknown(typed, kind)
    return [], PaletteNote(_say_unknown(unknown, typed, kind), _explain(verb))


def _say_unknown(unknown: str, typed: str, kind: str) -> str:
    """Say which words are not understood, or that a whole text is no name."""
    if unknown != typed:
        return gettext("“%(words)s” is not understood.", words=unknown)
    if kind == "item":
        return gettext("No item is called “%(name)s”.", name=unknown)
    return gettext("No player is called “%(name)s”.", name=unknown)
