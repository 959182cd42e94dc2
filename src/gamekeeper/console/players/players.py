"""The page that lists players: all of them, or those that match a filter.

The filter has a form, the conditions in force with links that remove them, and the columns. Dialogs of a ban or mute
from a player's page name the other players of the account that it hits.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET

from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.frame import api_calls, list_page, pages
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.formats import format_date
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, ngettext
from gamekeeper.console.players import items
from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.lists import search
from gamekeeper.game.lists.player_walks import QUANTITY, SEEN
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.lists import search as operations
from gamekeeper.http.lists import search_shapes
from gamekeeper.http.lists.search_shapes import FilteredPlayersQuery, PlayerConditions
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists import player_filters as filter_rows
from gamekeeper.store.lists.search import PART_LETTERS
from gamekeeper.store.players import players
from gamekeeper.store.players.players import RecordRow, StoredPlayer
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import CatalogueEntry

# query parameters of the filter, in the order of the form; the search by name is a filter too, but an old one
CONDITIONS = ("classid", "mapid", "levelfrom", "levelto", "seenfrom", "seento", "banned", "itemid")
ALL_CONDITIONS = ("search", "online", *CONDITIONS)
COLUMN = "col_"  # beginning of the parameters that name a column
COLUMNS = PerLanguage[Mapping[str, str]](
    lambda: {
        "level": gettext("Level"),
        "exp": gettext("Experience"),
        "class": gettext("Class"),
        "map": gettext("Map"),
        "account": gettext("Account"),
        "online": gettext("Online"),
        "seen": gettext("Last online"),
    }
)
SIZES = (25, 50, 100)
FIELD_PREFIX = "filter_"  # of the conditions in the form for a bulk job
MOST_ENTRIES = 300  # classes or maps in the menus of the form; others are chosen by their ids in the address
YES, NO = "true", "false"


class FilterChoices(NamedTuple):
    """Catalogue entries for the menus of the filter, and the item that its condition names."""

    classes: Sequence[CatalogueEntry]
    maps: Sequence[CatalogueEntry]
    item: CatalogueEntry | None


async def normalize(request: Request) -> Request:
    """Return the request with a query as the API has it: names of items become ids, and days become times."""
    query = {name: text.strip() if name in ALL_CONDITIONS else text for name, text in request.query.items()}
    query = {name: text for name, text in query.items() if text or name not in ALL_CONDITIONS}
    if query.get("online", "").lower() == "yes":
        query["online"] = YES
    query = list_page.expand_days(query, "seenfrom", "seento")
    if "itemid" in query:
        query["itemid"] = await items.find_id(request.services.keeper.store, query["itemid"])
    queries.decode(PlayerConditions, query)  # rejects wrong values, also of a list that does not need them
    return msgspec.structs.replace(request, query=query)


def is_filtered(request: Request) -> bool:
    """Tell whether the list needs the filter: the search and the online players alone have lists of their own."""
    given = request.query
    needs_walk = "cursor" in given or given.get("sortby", "").lower() in {SEEN, QUANTITY} or given.get("online") == NO
    return needs_walk or any(given.get(name) for name in CONDITIONS)


async def _load_filtered(request: Request) -> tuple[Sequence[RecordRow], dict[str, object]]:
    """Return the records of the requested page, and its template variables. A list that is walked has no total."""
    query = queries.decode(FilteredPlayersQuery, request.query)
    found = await operations.load_page(request, query)
    beside: dict[str, object] = {"part": None, "walked": None}
    if found.total is not None and not query.cursor:
        size = min(query.pageSize, request.services.keeper.settings.max_page_size)
        page = paging.PageRange(query.page, size, size)
        beside["part"] = list_page.make_page(request, page, found.total, len(found.records))
    else:
        to = search_shapes.encode_cursor(found.next) if found.next else ""
        beside["walked"] = {
            "shown": len(found.records),
            "searched": found.searched,
            "start": list_page.build_url(request, cursor="") if query.cursor else "",  # empty: this is the first page
            "next": list_page.build_url(request, cursor=to) if to else "",
        }
    direction = list_page.DESCENDING if found.order.descending else list_page.ASCENDING
    names = ["name", "level", SEEN, *([QUANTITY] if request.query.get("itemid") else [])]
    heads = {by: list_page.make_column(request, by, direction if by == found.order.by else "") for by in names}
    return found.records, beside | {"heads": heads}


async def _load_choices(request: Request) -> FilterChoices:
    store, item_id = request.services.keeper.store, lookup.parse_guid(request.query.get("itemid", "")) or ""
    return FilterChoices(
        await catalogue.read_page(store, "classes", MOST_ENTRIES, 0),
        await catalogue.read_page(store, "maps", MOST_ENTRIES, 0),
        (await catalogue.find_by_ids(store, "items", [item_id])).get(item_id) if item_id else None,
    )


async def _make_form(request: Request) -> dict[str, object]:
    """Make the template variables of the filter, the conditions in force, and the columns."""
    given, choices = request.query, await _load_choices(request)
    chosen = {name for name in COLUMNS() if COLUMN + name in given}
    conditions = {name: given[name] for name in ALL_CONDITIONS if given.get(name)}
    order = {"sortby", "sortdirection"}
    return {
        **choices._asdict(),
        "given": given,
        "chips": list_page.make_chips(request, describe(conditions, *choices)),
        "columns": {name: not chosen or name in chosen for name in COLUMNS()},
        "labels": COLUMNS(),
        # parameters that the forms of the filter and of the columns send again
        "kept": {name: text for name, text in given.items() if name.startswith(COLUMN) or name in order},
        "kept_for_columns": {name: text for name, text in given.items() if not name.startswith(COLUMN)},
        # address of the form for a bulk job for all matches
        "bulk": f"/console/bulk?{urlencode(add_prefix(conditions))}" if conditions else "",
        "everything": list_page.build_url(request, page="", cursor="", **dict.fromkeys(ALL_CONDITIONS, "")),
    }


def describe(
    given: Mapping[str, str],
    classes: Sequence[CatalogueEntry],
    maps: Sequence[CatalogueEntry],
    item: CatalogueEntry | None,
) -> list[tuple[str, tuple[str, ...]]]:
    """Describe the conditions in force, each with the query parameters that it has."""
    found: list[tuple[str, tuple[str, ...]]] = []
    names = {each.id: each.name for each in (*classes, *maps)}
    if text := given.get("search", ""):
        found.append((gettext("Name contains %(text)s", text=text), ("search",)))
    if "online" in given:
        found.append((gettext("Online") if given["online"] == YES else gettext("Offline"), ("online",)))
    if one := given.get("classid", ""):
        found.append((gettext("Class: %(name)s", name=names.get(one.lower()) or one), ("classid",)))
    if one := given.get("mapid", ""):
        found.append((gettext("Map: %(name)s", name=names.get(one.lower()) or one), ("mapid",)))
    lowest, highest = given.get("levelfrom", ""), given.get("levelto", "")
    if lowest or highest:
        found.append((_describe_levels(lowest, highest), ("levelfrom", "levelto")))
    if since := given.get("seenfrom", ""):
        found.append((gettext("Online since %(time)s", time=format_date(since)), ("seenfrom",)))
    if until := given.get("seento", ""):
        found.append((gettext("Last online until %(time)s", time=format_date(until)), ("seento",)))
    if "banned" in given:
        found.append((gettext("Banned") if given["banned"] == YES else gettext("Not banned"), ("banned",)))
    if one := given.get("itemid", ""):
        found.append((gettext("Has %(item)s", item=item.name if item else one), ("itemid",)))
    return found


def _describe_levels(lowest: str, highest: str) -> str:
    if not highest:
        return gettext("Level %(lowest)s or higher", lowest=lowest)
    if not lowest:
        return gettext("Level %(highest)s or lower", highest=highest)
    return gettext("Level %(lowest)s to %(highest)s", lowest=lowest, highest=highest)


def add_prefix(conditions: Mapping[str, str]) -> dict[str, str]:
    """Return the conditions as fields of the form for a bulk job."""
    return {FIELD_PREFIX + name: text for name, text in conditions.items()}


def read_conditions(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the conditions in the fields of the form for a bulk job."""
    return {name: fields[FIELD_PREFIX + name] for name in ALL_CONDITIONS if fields.get(FIELD_PREFIX + name)}


async def describe_conditions(request: Request, conditions: Mapping[str, str]) -> list[str]:
    choices = await _load_choices(msgspec.structs.replace(request, query=dict(conditions)))
    return [label for label, _ in describe(conditions, *choices)]


def make_body(conditions: Mapping[str, str]) -> dict[str, object]:
    """Make the filter of a new bulk job, as the API has it."""
    read = queries.decode(PlayerConditions, conditions)
    times = {name: format_instant(at) for name in ("seenFrom", "seenTo") if (at := getattr(read, name)) is not UNSET}
    given = {name: getattr(read, name) for name in PlayerConditions.__struct_fields__ if name.lower() in conditions}
    return {name[0].upper() + name[1:]: value for name, value in {**given, **times}.items()}


class PlayerRow(NamedTuple):
    """A player in a list, with its database record."""

    player: Player
    record: StoredPlayer


async def show(request: Request) -> Response:
    if to := list_page.find_jump(request):
        return pages.redirect(to)
    request = await normalize(request)
    if is_filtered(request):
        records, beside = await _load_filtered(request)
    else:
        online = request.query.get("online") == YES
        records, beside = await list_page.search_list(request, search.ONLINE_PLAYERS if online else search.PLAYERS)
        seen = list_page.make_column(request, "seen", list_page.ASCENDING)._replace(direction="")
        beside |= {"walked": None, "heads": {**cast("dict[str, object]", beside["heads"]), "seen": seen}}
    characters, item = read_players(request, records), request.query.get("itemid", "")
    ids = [each.player.id for each in characters]
    shown: dict[str, object] = {
        "views": await list_page.load_views(request, "players"),
        "characters": characters,
        "owners": await _find_owner_names(request, characters),
        # how many of the item of the filter each player has
        "held": await filter_rows.read_held(request.services.keeper.store, item, ids) if item else {},
        "sizes": SIZES,
        "short": 0 < len(lookup.fold(request.query.get("search", ""))) < PART_LETTERS,
        **await _make_form(request),
    }
    return pages.render(request, "players/players.html", **beside | shown)


def read_players(request: Request, rows: Iterable[RecordRow]) -> list[PlayerRow]:
    spelling = request.services.keeper.changes.codec
    records = [StoredPlayer(*row) for row in rows]
    return [PlayerRow(spelling.decode_player(each.document, each.last_online), each) for each in records]


async def _find_owner_names(request: Request, characters: Iterable[PlayerRow]) -> dict[str, str]:
    """Map account ids to account names; empty if the viewer may not see accounts."""
    if "users.query" not in request.caller.permissions:
        return {}
    found = await users.read_by_ids(request.services.keeper.store, {each.player.user_id for each in characters})
    return {each.id: each.name for each in found}


ACTS_ON_ACCOUNTS = frozenset({"ban_player", "mute_player"})
MOST_NAMED = 5


async def list_other_players(request: Request, call: ApiCall) -> list[Fact]:
    """Name the other players of the account, for callers with users.query; other operations have none."""
    route, params = api_calls.find_operation(request, call.method, call.path)
    if route.name not in ACTS_ON_ACCOUNTS or "users.query" not in request.caller.permissions:
        return []
    text = await request.services.keeper.store.read(lambda tx: _list_other_names(tx, params[0]))
    return [Fact(gettext("Also hits"), text)] if text else []


async def _list_other_names(tx: Reading, key: str) -> str:
    owner = await lookup.find_owner(tx, key)
    names, count = await players.read_other_names(tx, owner.user_id, owner.player_id, MOST_NAMED)
    if count > len(names):
        listed = ", ".join(names)
        return ngettext(
            "%(names)s and %(num)s more of this account",
            "%(names)s and %(num)s more of this account",
            count - len(names),
            names=listed,
        )
    if len(names) > 1:
        first = ", ".join(names[:-1])
        return gettext("%(names)s and %(name)s of this account", names=first, name=names[-1])
    return gettext("%(name)s of this account", name=names[0]) if names else ""


PAGES = (
    page_route("/live/characters", show, PLAYERS, used=False),
    page_route("/characters", show, PLAYERS)
    .in_menu("Players", GAME, 20, "player", ("/console/players/",))
    .with_help("All players by name. Search for a part of a name, or select players to give all of them an item."),
)
