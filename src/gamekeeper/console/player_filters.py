"""The filter of the list of players: its form, the conditions in force with links that remove them, and the columns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from gamekeeper.console import item_names, lists
from gamekeeper.console.formats import format_date
from gamekeeper.console.lists import Chip, SortableColumn
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game import lookup
from gamekeeper.game.player_filters import PlayersPage
from gamekeeper.game.player_walks import QUANTITY, SEEN
from gamekeeper.http import paging, player_cursor, queries
from gamekeeper.http import player_filters as operations
from gamekeeper.http.instants import format_instant
from gamekeeper.http.request import Request
from gamekeeper.http.wire.player_filters import FilteredPlayersQuery, PlayerConditions
from gamekeeper.store import catalogue
from gamekeeper.store.catalogue import CatalogueEntry

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
PREFIX = "filter_"  # of the conditions in the form for a bulk job
MOST_ENTRIES = 300  # classes or maps in the menus of the form; others are chosen by their ids in the address
YES, NO = "true", "false"


class PlayerFilterForm(NamedTuple):
    given: Mapping[str, str]  # query parameters of the page
    classes: Sequence[CatalogueEntry]
    maps: Sequence[CatalogueEntry]
    item: CatalogueEntry | None
    chips: Sequence[Chip]
    columns: Mapping[str, bool]  # column → whether it is shown
    labels: Mapping[str, str]
    kept: Mapping[str, str]  # parameters that the form sends again: the order
    kept_for_columns: Mapping[str, str]  # parameters that the form of the columns sends again: all others
    bulk: str  # address of the form for a bulk job for all matches; empty without a condition
    everything: str  # address of the list without conditions


class WalkedPage(NamedTuple):
    """A page of a list without a total."""

    shown: int
    searched: int
    start: str  # address of the first page; empty: this is the first page
    next: str


class FilteredList(NamedTuple):
    page: PlayersPage
    part: lists.ListPage | None  # None: the list has no total
    walked: WalkedPage | None
    heads: Mapping[str, SortableColumn]


async def normalize(request: Request) -> Request:
    """Return the request with a query as the API has it: names of items become ids, and days become times."""
    query = {name: text.strip() if name in ALL_CONDITIONS else text for name, text in request.query.items()}
    query = {name: text for name, text in query.items() if text or name not in ALL_CONDITIONS}
    if query.get("online", "").lower() == "yes":
        query["online"] = YES
    query = lists.expand_days(query, "seenfrom", "seento")
    if "itemid" in query:
        query["itemid"] = await item_names.find_id(request.services.keeper.store, query["itemid"])
    queries.decode(PlayerConditions, query)  # rejects wrong values, also of a list that does not need them
    return msgspec.structs.replace(request, query=query)


def is_filtered(request: Request) -> bool:
    """Tell whether the list needs the filter: the search and the online players alone have lists of their own."""
    given = request.query
    needs_walk = "cursor" in given or given.get("sortby", "").lower() in {SEEN, QUANTITY} or given.get("online") == NO
    return needs_walk or any(given.get(name) for name in CONDITIONS)


async def load(request: Request) -> FilteredList:
    query = queries.decode(FilteredPlayersQuery, request.query)
    found = await operations.load_page(request, query)
    shown, part, walked = len(found.records), None, None
    if found.total is not None and not query.cursor:
        size = min(query.pageSize, request.services.keeper.settings.max_page_size)
        part = lists.make_page(request, paging.PageRange(query.page, size, size), found.total, shown)
    else:
        to = player_cursor.encode(found.next) if found.next else ""
        start = lists.build_url(request, cursor="") if query.cursor else ""
        walked = WalkedPage(shown, found.searched, start, lists.build_url(request, cursor=to) if to else "")
    direction = lists.DESCENDING if found.order.descending else lists.ASCENDING
    names = ["name", "level", SEEN, *([QUANTITY] if request.query.get("itemid") else [])]
    heads = {by: lists.make_column(request, by, direction if by == found.order.by else "") for by in names}
    return FilteredList(found, part, walked, heads)


async def make_form(request: Request) -> PlayerFilterForm:
    store, given = request.services.keeper.store, request.query
    classes = await catalogue.read_page(store, "classes", MOST_ENTRIES, 0)
    maps = await catalogue.read_page(store, "maps", MOST_ENTRIES, 0)
    item_id = lookup.parse_guid(given.get("itemid", "")) or ""
    item = (await catalogue.find_by_ids(store, "items", [item_id])).get(item_id) if item_id else None
    chosen = {name for name in COLUMNS() if COLUMN + name in given}
    conditions = {name: given[name] for name in ALL_CONDITIONS if given.get(name)}
    return PlayerFilterForm(
        given,
        classes,
        maps,
        item,
        [
            Chip(label, lists.build_url(request, page="", cursor="", **dict.fromkeys(names, "")))
            for label, names in describe(conditions, classes, maps, item)
        ],
        {name: not chosen or name in chosen for name in COLUMNS()},
        COLUMNS(),
        {name: text for name, text in given.items() if name.startswith(COLUMN) or name in {"sortby", "sortdirection"}},
        {name: text for name, text in given.items() if not name.startswith(COLUMN)},
        f"/console/bulk?{lists.encode(add_prefix(conditions))}" if conditions else "",
        lists.build_url(request, page="", cursor="", **dict.fromkeys(ALL_CONDITIONS, "")),
    )


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
    return {PREFIX + name: text for name, text in conditions.items()}


def read_conditions(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the conditions in the fields of the form for a bulk job."""
    return {name: fields[PREFIX + name] for name in ALL_CONDITIONS if fields.get(PREFIX + name)}


async def describe_conditions(request: Request, conditions: Mapping[str, str]) -> list[str]:
    form = await make_form(msgspec.structs.replace(request, query=dict(conditions)))
    return [each.label for each in form.chips]


def make_body(conditions: Mapping[str, str]) -> dict[str, object]:
    """Make the filter of a new bulk job, as the API has it."""
    read = queries.decode(PlayerConditions, conditions)
    times = {name: format_instant(at) for name in ("seenFrom", "seenTo") if (at := getattr(read, name)) is not UNSET}
    given = {name: getattr(read, name) for name in PlayerConditions.__struct_fields__ if name.lower() in conditions}
    return {name[0].upper() + name[1:]: value for name, value in {**given, **times}.items()}
