"""What the search box offers beside search hits: pages of the menu, actions, places to search in, and short ids.

Actions are short sentences, such as "ban Yorick 7d" or "give 5 recall scroll to Aldwyn". They lead to the preview.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gamekeeper.console import menu
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.console.formats import format_number
from gamekeeper.console.pages import FormToken
from gamekeeper.console.server_texts import translate_message
from gamekeeper.console.texts import PerLanguage, gettext, ngettext
from gamekeeper.game import finder, lookup, notes
from gamekeeper.game.finder import EXACT, ID, SearchHit, Sight
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import mail_cursor
from gamekeeper.store import bulk_jobs, guilds
from gamekeeper.store import finder as found_rows

LEAST_PAGE_LETTERS = 2  # letters that a text needs to find pages
LEAST_RECORD_LETTERS = 3  # letters that a text needs to find guilds, bulk jobs and notes
MOST_SEARCHED = 500  # guilds, and newest bulk jobs, whose names and reasons are compared
MOST_REASON_LETTERS = 100  # a longer text is no part of a reason
MOST_FOUND = 20  # search hits among which the player, account or item of an action is looked for
MOST_OBJECTS = 3  # players or accounts, and items, that are offered for one action
DEFAULT_DAYS, MOST_DAYS = 7, 36_500
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
SANCTION = re.compile(
    r"(?P<verb>ban|mute)\s+(?P<name>.+?)(?:\s+(?:for\s+)?(?P<number>\d{1,5})\s*(?P<unit>d|days?|w|weeks?))?",
    re.IGNORECASE,
)
ENDING = re.compile(r"(?P<verb>unban|unmute|kick)\s+(?P<name>.+)", re.IGNORECASE)
GIFT = re.compile(
    r"(?P<verb>give|take)\s+(?:(?P<number>\d{1,10})\s*[x\u00d7]?\s+)?(?P<item>.+?)\s+(?:to|from)\s+(?P<name>.+)",
    re.IGNORECASE,
)
# the name before the item: the number between them tells where the name ends
GIFT_BY_NAME = re.compile(
    r"(?P<verb>give)\s+(?P<name>\D.*?)\s+(?P<number>\d{1,10})\s*[x\u00d7]?\s+(?P<item>.+)", re.IGNORECASE
)


class PaletteLink(NamedTuple):
    name: str
    detail: str
    href: str


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
    """Find guilds by name, recent bulk jobs by their reason or id, and whether notes have the text."""
    if not LEAST_RECORD_LETTERS <= len(text) <= MOST_REASON_LETTERS or not lookup.is_nameable(text):
        return []
    store, fold = keeper.store, lookup.fold(text)
    found: list[PaletteLink] = []
    if rights >= menu.PLAYERS:
        matches = await guilds.search(store, fold, MOST_SEARCHED, MOST_OBJECTS)
        found += [PaletteLink(each.name, gettext("Guild"), f"/console/guilds/{each.id}") for each, _ in matches]
    if rights >= menu.BULK:
        jobs = await bulk_jobs.read_page(store, mail_cursor.START, MOST_SEARCHED)
        named = [each for each in jobs if fold in lookup.fold(each.reason or "") or each.id.startswith(text.lower())]
        found += [
            PaletteLink(each.reason or each.id, gettext("Bulk job"), f"/console/bulk/{each.id}")
            for each in named[:MOST_OBJECTS]
        ]
    if rights >= menu.NOTES and (await notes.load_page(store, mail_cursor.START, 1, None, text)).notes:
        label = gettext("Notes that contain “%(text)s”", text=text)
        found.append(PaletteLink(label, "", f"/console/notes?{urlencode({'text': text})}"))
    return found


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


async def find_actions(keeper: Keeper, text: str, sight: Sight, csrf: FormToken) -> list[PaletteAction]:
    """List the actions that a text may mean: one for each player, account and item, as far as the viewer may do it."""
    text = " ".join(text.split())  # the patterns take long for many spaces
    if len(text) > MOST_LETTERS:
        return []
    if sanction := SANCTION.fullmatch(text):
        return await _find_sanctions(keeper, sanction, sight, csrf)
    if ending := ENDING.fullmatch(text):
        return await _find_sanctions(keeper, ending, sight, csrf)
    if gift := GIFT.fullmatch(text) or GIFT_BY_NAME.fullmatch(text):
        return await _find_gifts(keeper, gift, sight, csrf)
    return []


async def _find_sanctions(keeper: Keeper, said: re.Match[str], sight: Sight, csrf: FormToken) -> list[PaletteAction]:
    verb, body = said["verb"].lower(), dict[str, str | int]()
    if verb in {"ban", "mute"}:
        body["duration"] = _read_days(said)
        if not 1 <= body["duration"] <= MOST_DAYS:
            return []
    whose = await _find_objects(keeper, said["name"], sight, {"player", "user"})
    actions: list[PaletteAction] = []
    for each in whose:
        kind, place = ("players", "players") if each.kind == "player" else ("users", "accounts")
        path = f"/api/v1/{kind}/{quote(each.id, safe='')}/admin/{verb}"
        if csrf.allows("POST", path):
            label = _label_sanction(verb, each.name, int(body.get("duration", 0)))
            actions.append(
                PaletteAction(
                    label, translate_message(each.detail), path, body, f"/console/{place}/{each.id}", "danger"
                )
            )
    return actions


def _read_days(said: re.Match[str]) -> int:
    if said["number"] is None:
        return DEFAULT_DAYS
    return int(said["number"]) * (7 if said["unit"].lower().startswith("w") else 1)


def _label_sanction(verb: str, name: str, days: int) -> str:
    if verb == "ban":
        return ngettext("Ban %(name)s for %(num)s day", "Ban %(name)s for %(num)s days", days, name=name)
    if verb == "mute":
        return ngettext("Mute %(name)s for %(num)s day", "Mute %(name)s for %(num)s days", days, name=name)
    if verb == "kick":
        return gettext("Kick %(name)s from the game", name=name)
    return (
        gettext("End the ban of %(name)s", name=name)
        if verb == "unban"
        else gettext("End the mute of %(name)s", name=name)
    )


async def _find_gifts(keeper: Keeper, said: re.Match[str], sight: Sight, csrf: FormToken) -> list[PaletteAction]:
    verb, quantity = said["verb"].lower(), int(said["number"] or 1)
    if not 1 <= quantity <= MOST_QUANTITY:
        return []
    items = await _find_objects(keeper, said["item"], sight, {"item"})
    players = await _find_objects(keeper, said["name"], sight, {"player"}) if items else []
    actions: list[PaletteAction] = []
    for item in items[: 1 if items and items[0].match == EXACT else MOST_OBJECTS]:
        for player in players:
            path = f"/api/v1/players/{quote(player.id, safe='')}/items/{verb}"
            if csrf.allows("POST", path):
                words = {"quantity": f"{format_number(quantity)} {TIMES_SIGN} {item.name}", "name": player.name}
                label = (
                    gettext("Give %(quantity)s to %(name)s", **words)
                    if verb == "give"
                    else gettext("Take %(quantity)s from %(name)s", **words)
                )
                body: dict[str, str | int] = {"itemid": item.id, "quantity": quantity}
                back = f"/console/players/{player.id}"
                actions.append(PaletteAction(label, translate_message(player.detail), path, body, back))
    return actions[:MOST_OBJECTS]


async def _find_objects(keeper: Keeper, name: str, sight: Sight, kinds: set[str]) -> list[SearchHit]:
    """Find what a name in an action may mean. A player or account that is found exactly is the only one meant."""
    find = partial(
        finder.find, text=name, most=MOST_FOUND, codec=keeper.changes.codec, sight=sight._replace(changes=False)
    )
    found = [each for each in await keeper.store.read(find) if each.kind in kinds and not each.deleted]
    exact = [each for each in found if each.match in {ID, EXACT}]
    return (exact or found)[:MOST_OBJECTS]
