"""The pages of the game's catalogue and of the server's variables, and what an item is, in words.

The catalogue has items, spells, variables, classes, maps and the game's other objects. Games publish further fields of
items. A field without a label, and a number that stands for no known word, are listed as the game published them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import msgspec

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.differences import Undo, UndoTitle
from gamekeeper.console.frame.formats import format_number, format_rounded, format_signed
from gamekeeper.console.frame.labels import LABELS, PARTS
from gamekeeper.console.frame.list_page import CatalogueQuery
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, pgettext
from gamekeeper.console.players.items import make_tile
from gamekeeper.game.core import lookup
from gamekeeper.game.core.values import BOOLEAN, INTEGER, NUMBER, STRING, decode_value
from gamekeeper.game.players import player_edits
from gamekeeper.game.world import catalogue as game_catalogue
from gamekeeper.game.world.changes import GuildVariablesSet, ServerVariablesSet
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.world import catalogue

MAX_MATCHES = 1_000  # a search by name stops after this many catalogue entries

MAX_SHOWN = 1_000  # characters of one further field of an entry that the page shows
# kinds that are no field of a change, or have another name there
OWN_LABELS = PerLanguage(
    lambda: {
        "crafttables": gettext("Craft tables"),
        "servervariables": gettext("Server variables"),
        "guildvariables": gettext("Guild variables"),
        "uservariables": gettext("Account variables"),
        "time": gettext("Day and night"),
    }
)
_details_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class DetailField(NamedTuple):
    """A further field of a catalogue entry, as text."""

    name: str
    value: str


async def show(request: Request) -> Response:
    kind = request.query.get("kind", "") or "items"
    game_catalogue.require_kind(kind)
    query = queries.decode(CatalogueQuery, request.query)
    sought = query.search.strip()
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    store, alone = request.services.keeper.store, request.query.get("id", "")
    if alone:
        wanted = lookup.parse_guid(alone)
        found = list((await catalogue.find_by_ids(store, kind, [wanted] if wanted else [])).values())
        total = len(found)
    elif sought:
        called = await game_catalogue.find_by_name(store, kind, sought, MAX_MATCHES)
        total, found = len(called), called[page.offset : page.offset + page.limit]
    else:
        total, found = await game_catalogue.load_page(store, kind, page.limit, page.offset)
    found = await catalogue.add_details(store, kind, found)
    hashes = await catalogue.find_picture_hashes(store, [each.id for each in found]) if kind == "items" else {}
    labels = LABELS() | OWN_LABELS()
    return pages.render(
        request,
        "world/catalogue.html",
        kind=kind,
        kinds={each: labels[each] for each in catalogue.KINDS},
        entries=found,
        details={each.id: list_details(each.details) for each in found},
        tiles={each.id: make_tile(each.id, each.name, each, hashes.get(each.id)) for each in found}
        if kind == "items"
        else {},
        alone=bool(alone),
        part=list_page.make_page(request, page, total, len(found), cut=bool(sought) and total >= MAX_MATCHES),
        sought=query.search,
    )


def list_details(details: str | None) -> list[DetailField]:
    """List the further fields of an entry. A text is shown as it is, everything else as JSON."""
    fields = _details_decoder.decode(details) if details else {}
    return [DetailField(name, _show_value(value)) for name, value in fields.items()]


def _show_value(value: msgspec.Raw) -> str:
    decoded: object = msgspec.json.decode(value)
    text = decoded if isinstance(decoded, str) else bytes(value).decode()
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


DESCRIPTION, RARITY = "Description", "Rarity"
DETAIL_WORDS = PerLanguage[Mapping[str, Mapping[int, str]]](
    lambda: {  # fields whose numbers stand for words, with the numbers of the Intersect engine
        player_edits.TYPE: {
            0: pgettext("type of items", "Other"),
            player_edits.EQUIPMENT: gettext("Equipment"),
            2: pgettext("type of items", "Consumable"),
            3: pgettext("type of items", "Currency"),
            4: gettext("Spell"),
            5: gettext("Event"),
            6: gettext("Bag"),
        },
        player_edits.DETAIL: dict(enumerate(PARTS()["equipment"])),
        RARITY: {
            0: pgettext("rarity", "None"),
            1: pgettext("rarity", "Common"),
            2: pgettext("rarity", "Uncommon"),
            3: pgettext("rarity", "Rare"),
            4: pgettext("rarity", "Epic"),
            5: pgettext("rarity", "Legendary"),
        },
    }
)
DETAIL_LABELS = PerLanguage[Mapping[str, str]](
    lambda: {  # in the order of the page
        player_edits.TYPE: gettext("Type"),
        player_edits.DETAIL: gettext("Equipment place"),
        RARITY: gettext("Rarity"),
        "Price": gettext("Price"),
        "Damage": gettext("Damage"),
        "VitalsGiven": gettext("Effect on health and mana"),
        "StatsGiven": gettext("Effect on stats"),
        "TwoHanded": gettext("Needs both hands"),
        "CanDrop": gettext("Can be dropped"),
        "CanTrade": gettext("Can be traded"),
        "CanSell": gettext("Can be sold"),
        "CanBank": gettext("Can be put into a bank"),
        "CanGuildBank": gettext("Can be put into a guild's bank"),
        "CanBag": gettext("Can be put into a bag"),
    }
)
_decoder = msgspec.json.Decoder(dict[str, object])
LISTS = {"VitalsGiven": "vitals", "StatsGiven": "base_stats"}  # field with a number for each part of a player's field


class ItemDetails(NamedTuple):
    description: str
    facts: Sequence[DetailField]
    further: Sequence[DetailField]


def describe_item(details: str | None) -> ItemDetails:
    """Describe an item by the further fields of its catalogue entry."""
    fields = _decoder.decode(details) if details else {}
    listed = {each.name: each for each in list_details(details)}
    description = listed.pop(DESCRIPTION).value if isinstance(fields.get(DESCRIPTION), str) else ""
    facts: list[DetailField] = []
    for name, label in DETAIL_LABELS().items():
        if name in fields and (text := _describe_value(name, fields)):
            facts.append(DetailField(label, text))
            del listed[name]
    return ItemDetails(description, facts, list(listed.values()))


def _describe_value(name: str, fields: Mapping[str, object]) -> str:
    """Return the value of a field as text; empty if it means nothing that is known."""
    value = fields[name]
    if name == player_edits.DETAIL and fields.get(player_edits.TYPE) != player_edits.EQUIPMENT:
        return ""  # the engine has place 0 for items of any type
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if name in DETAIL_WORDS():
        return DETAIL_WORDS()[name].get(value, "") if isinstance(value, int) else ""
    if name in LISTS:
        return _describe_parts(value, PARTS()[LISTS[name]])
    if isinstance(value, int):  # of any size: as a float it would be rounded, or too large
        return format_number(value)
    return format_rounded(value) if isinstance(value, float) else ""


def _describe_parts(values: object, labels: tuple[str, ...]) -> str:
    if not isinstance(values, list):
        return ""
    numbers = cast("list[object]", values)
    if len(numbers) > len(labels) or not all(isinstance(each, int) for each in numbers):
        return ""
    pairs = zip(labels, cast("list[int]", numbers), strict=False)
    return ", ".join(f"{label} {format_signed(each)}" for label, each in pairs if each)


TYPES = PerLanguage(
    lambda: {
        BOOLEAN: gettext("yes or no"),
        INTEGER: gettext("whole number"),
        NUMBER: gettext("number"),
        STRING: gettext("text"),
    }
)


async def show_server_variables(request: Request) -> Response:
    query = queries.decode(CatalogueQuery, request.query)
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    total, found = await game_catalogue.load_server_variables(request.services.keeper.store, page.limit, page.offset)
    lines = [(each, decode_value(each.value)) for each in found]
    part = list_page.make_page(request, page, total, len(found))
    return pages.render(request, "world/server_variables.html", lines=lines, types=TYPES(), part=part)


def _restore_server_variables(undo: Undo) -> str:
    [each, *others] = undo.after.server_variables
    if others:
        return gettext("Undo: restore the variables of the server")
    facts = {"variable": undo.names.find_name("servervariables", each)}
    if undo.after.server_variables[each] is None:
        return gettext("Undo: clear %(variable)s of the server", **facts)
    return gettext("Undo: set %(variable)s of the server back to its former value", **facts)


UNDO_TITLES = (
    UndoTitle(ServerVariablesSet.kind, _restore_server_variables, "the server"),
    UndoTitle(GuildVariablesSet.kind, "Undo: restore the variables of a guild", "a guild"),
)
DIALOGS = (
    Dialog("set_global_variable", "Set %(variable)s of the server", "Set %(variable)s of the server to %(value)s"),
)
PAGES = (
    page_route("/catalogue", show, PLAYERS)
    .in_menu("Catalogue", GAME, 100, "catalogue")
    .with_help(
        "Items, spells, variables, classes and maps that the game has published. A game server sends them over "
        "the link.",
        "link",
    ),
    page_route("/variables", show_server_variables, PLAYERS)
    .in_menu("Server variables", GAME, 110, "variables")
    .with_help(
        "Variables of the whole game, such as event switches. A change reaches the game servers within seconds.", "link"
    ),
)
