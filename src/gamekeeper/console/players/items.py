"""Items on pages and in forms: pictures, tiles, names, and the grids of the inventory, the bank and each bag.

The address of a picture has a hash of its pixels. A browser keeps such a picture without asking again. Forms take names
or ids of items and spells; the API takes ids. Gifts can also be typed in the search box.
"""

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.frame import api_calls, command_palette, differences
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.command_palette import FoundOffers, NameSearch, PaletteCommand
from gamekeeper.console.frame.differences import PLACES, TIMES_SIGN, Names
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.labels import EQUIPMENT_WORDS, PARTS
from gamekeeper.console.frame.menu import PLAYERS
from gamekeeper.console.frame.refusals import AmbiguousItem, AmbiguousSpell, NoSuchPage, UnknownItem, UnknownSpell
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, pgettext
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import ChangeSide
from gamekeeper.game.core.player import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.lists import search
from gamekeeper.game.lists.search import EXACT
from gamekeeper.game.players.refusals import SlotChanged
from gamekeeper.game.world import catalogue as game_catalogue
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server import dispatcher
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import CatalogueEntry, CatalogueItem

PICTURES = "/console/pictures/"
PICTURE_SUFFIX = ".png"
HASH_DIGITS = 64
MOST_QUANTITY = 2**31 - 1
QUANTITY = r"(?P<number>\d{1,10})\s*[x\u00d7]?\s+"
GIFT = r"(?:{quantity})?(?P<item>.+)\s+(?:{preposition})\s+(?P<name>.+)"
# the name before the item: the number between them tells where the name ends
GIFT_BY_NAME = re.compile(rf"(?P<name>\D.*?)\s+{QUANTITY}(?P<item>.+)")
PREPOSITIONS = {"give": "to", "take": "from"}
WORDS = command_palette.collect_words(
    lambda: {
        "give": pgettext("typed", "give"),
        "take": pgettext("typed", "take"),
        "to": pgettext("typed", "to"),
        "from": pgettext("typed", "from"),
    }
)
# one year, in seconds; private: only for accounts that may see the catalogue
FOREVER = b"private, max-age=31536000, immutable"


def build_picture_address(picture_hash: str | None) -> str:
    """Return the address of a picture; empty: there is none."""
    return f"{PICTURES}{picture_hash}{PICTURE_SUFFIX}" if picture_hash else ""


async def serve_picture(request: Request) -> Response:
    name = request.params[0]
    sought = name.removesuffix(PICTURE_SUFFIX)
    if sought == name or len(sought) != HASH_DIGITS or not (sought.isascii() and sought.isalnum()):
        raise NoSuchPage
    content = await catalogue.find_picture_content(request.services.keeper.store, sought)
    if content is None:
        raise NoSuchPage
    return Response(content, content_type=b"image/png", cache_control=FOREVER)


COLOUR_COUNT = 12  # number of background colours of item tiles, defined in tiles.css
DATA_URL = "data:image/"  # start of an icon that is embedded as a data URL, so it needs no request


class Tile(NamedTuple):
    initials: str = ""
    colour: int = 0
    picture: str = ""  # address; empty: the tile has letters


def make_tile(item_id: str, name: str, entry: CatalogueEntry | None, picture_hash: str | None) -> Tile:
    """Make the tile of an item. `entry`: None if the catalogue does not have it."""
    icon = entry.icon or "" if isinstance(entry, CatalogueItem) else ""
    picture = build_picture_address(picture_hash) or (icon if icon.startswith(DATA_URL) else "")
    return Tile(_make_initials(name) if entry else "?", zlib.crc32(item_id.encode()) % COLOUR_COUNT, picture)


def _make_initials(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in words[:2]).upper() if len(words) > 1 else name.strip()[:2].capitalize()


NAME_FIELD = "items"  # of a new API key: a list
ITEMS, SPELLS = "items", "spells"
FIELDS = {"itemid": ITEMS, "spellid": SPELLS}  # field of a body in lower case → kind of its catalogue entry
# operations of players' items and spells, whose forms have these fields
NAMED = frozenset({"give_item", "take_item", "set_slot", "teach_spell"})
MOST_NAMES = 50  # each name is searched for on its own
MOST_SHOWN = 5  # ids or similar names in an error message


async def replace_names(request: Request, call: ApiCall) -> ApiCall:
    """Replace the names of items and spells in a call by their ids. Calls of other operations stay as they are."""
    route, _ = api_calls.find_operation(request, call.method, call.path)
    if call.body is None or route.name not in NAMED | {"create_key"}:
        return call
    dispatcher.require_permissions(request.caller, route)  # before the look-up, which reveals names
    if route.name == "create_key":
        return call._replace(body=await _replace_list(request, call.body))
    tx = request.services.keeper.store
    ids = {
        field: await find_id(tx, str(value), FIELDS[field.lower()])
        for field, value in call.body.items()
        if field.lower() in FIELDS
    }
    return call._replace(body={**call.body, **ids})


async def _replace_list(request: Request, body: Mapping[str, object]) -> Mapping[str, object]:
    """Replace the names of the items that a new API key may give."""
    field = next((name for name in body if name.lower() == NAME_FIELD), None)
    if field is None:
        return body
    given = body[field]
    items = [str(each) for each in given] if isinstance(given, list) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - lines of a form
    if sum(lookup.parse_guid(each) is None for each in items) > MOST_NAMES:
        raise BadField(field=field, problem=gettext("has more than %(most)s names; use ids", most=MOST_NAMES))
    return {**body, field: [await find_id(request.services.keeper.store, each) for each in items]}


async def find_id(tx: Reading, text: str, kind: str = ITEMS) -> str:
    """Return the id of the item or spell with this name, in any case, or the id itself."""
    text = text.strip()
    if lookup.parse_guid(text) is not None:
        return text
    found = await game_catalogue.find_by_name(tx, kind, text, MOST_SHOWN)
    same = [each.id for each in found if lookup.fold(each.name) == lookup.fold(text)]
    if len(same) == 1:
        return same[0]
    if same:
        raise (AmbiguousItem if kind == ITEMS else AmbiguousSpell)(name=text, ids=", ".join(same))
    near = found or await search.find_similar_entries(tx, kind, text, MOST_SHOWN)
    similar = gettext("Similar names: %(names)s.", names=", ".join(each.name for each in near)) if near else ""
    raise (UnknownItem if kind == ITEMS else UnknownSpell)(name=text, similar=similar)


SLOTS_SHOWN = 35  # empty slots at the end of a grid are hidden after this many slots: a bank may have hundreds
DIGITS = 9  # of a slot's number in an address: more than any setting allows


class SlotCell(NamedTuple):
    """One slot of a grid. An empty slot has no stack, and its other fields have their defaults."""

    slot: int
    stack: Stack | None = None
    name: str = ""
    tile: Tile = Tile()
    icon: str = ""
    buffs: tuple[tuple[str, int], ...] = ()
    equipped_as: str = ""
    change: str = ""  # in a comparison of two moments: how many items came or went, with the sign
    went: bool = False


class SlotGrid(NamedTuple):
    title: str
    place: str
    size: int
    used: int
    cells: list[SlotCell]

    @property
    def hidden_slots(self) -> int:
        """Number of empty slots at the end of the grid that are not shown."""
        return self.size - len(self.cells)


class ChosenSlot(NamedTuple):
    """The slot that the page has a form for."""

    grid: SlotGrid
    cell: SlotCell


def find_slot(grids: Iterable[SlotGrid], address: str) -> ChosenSlot | None:
    """Find a slot by its address in a query, such as `bank-3`; None: there is no such slot."""
    place, _, number = address.rpartition("-")
    for grid in grids:
        if grid.place == place and len(number) <= DIGITS and number.isascii() and number.isdigit():
            slot = int(number)
            if slot < grid.size:
                return ChosenSlot(grid, grid.cells[slot] if slot < len(grid.cells) else SlotCell(slot))
    return None


def make_grids(held: ChangeSide, names: Names, room: Settings, equipment: Iterable[int]) -> list[SlotGrid]:
    slots: dict[SlotAddress, Stack] = {spot: stack for spot, stack in held.slots.items() if stack}
    worn = {slot: what for slot, what in zip(equipment, EQUIPMENT_WORDS().values(), strict=False) if slot >= 0}
    bags = {stack.bag_id: (spot, stack) for spot, stack in slots.items() if stack.bag_id}
    names = names._replace(bags={bag: names.find_name("items", stack.item_id) for bag, (_, stack) in bags.items()})
    found = [
        _make_grid(PLACES()[INVENTORY], INVENTORY, room.inventory_slots, slots, names, worn),
        _make_grid(PLACES()[BANK], BANK, room.bank_slots, slots, names),
    ]
    # bags in the inventory come first, then those in the bank, then those in bags, and last those that lie nowhere
    order = {INVENTORY: 0, BANK: 1}
    places = {bag: (order.get(where, 2), where, slot) for bag, ((where, slot), _) in bags.items()}
    for bag, size in sorted(held.bags.items(), key=lambda each: (places.get(each[0], (3, "", 0)), each[0])):
        title = gettext("Bag %(id)s", id=bag[:8])
        if bag in bags:
            spot, stack = bags[bag]
            title = f"{names.find_name('items', stack.item_id)} ({differences.name_spot(spot, names)})"
        found.append(_make_grid(title, bag, size, slots, names))
    return found


def _make_grid(
    title: str,
    place: str,
    size: int,
    slots: Mapping[SlotAddress, Stack],
    names: Names,
    worn: Mapping[int, str] | None = None,
) -> SlotGrid:
    """Make the grid of the inventory, the bank or a bag. Occupied slots beyond its size are shown too."""
    mine = {slot: stack for (where, slot), stack in slots.items() if where == place}
    shown = max(min(size, SLOTS_SHOWN), max(mine, default=-1) + 1)
    cells = [_make_cell(slot, mine.get(slot), names, (worn or {}).get(slot, "")) for slot in range(shown)]
    return SlotGrid(title, place, max(size, shown), len(mine), cells)


def _make_cell(slot: int, stack: Stack | None, names: Names, worn: str) -> SlotCell:
    if stack is None:
        return SlotCell(slot)
    entry = names.known["items"].get(stack.item_id)
    name = names.find_name("items", stack.item_id)
    icon = entry.icon or "" if isinstance(entry, CatalogueItem) else ""
    return SlotCell(
        slot,
        stack,
        name,
        make_tile(stack.item_id, name, entry, names.pictures.get(stack.item_id)),
        "" if icon.startswith(DATA_URL) else icon,
        tuple((what, buff) for what, buff in zip(PARTS()["base_stats"], stack.buffs, strict=False) if buff),
        worn,
    )


async def explain_changed_slot(request: Request, call: ApiCall, refusal: SlotChanged) -> SlotChanged:
    """Replace the message of the API, which is for programs. The content is named to callers who may see items."""
    sent = {name.lower(): str(value) for name, value in (call.body or {}).items()}
    container = sent.get("container", INVENTORY)  # the forms that equip an item name no container
    place = container if container in (INVENTORY, BANK) else lookup.parse_guid(container) or container
    spot = place, int(sent["slot"])
    _, params = api_calls.find_operation(request, call.method, call.path)
    content = ""
    if request.caller.permissions >= PLAYERS:
        content = await request.services.keeper.store.read(lambda tx: _describe_content(tx, params[0], spot))
    refusal.message = gettext(
        "%(slot)s was changed after you opened the page. %(content)s Nothing was changed. Go back, look at the slot "
        "and start again.",
        slot=differences.name_spot(spot, Names({})),
        content=content,
    ).replace("  ", " ")
    return refusal


async def _describe_content(tx: Reading, key: str, spot: SlotAddress) -> str:
    place, slot = spot
    player_id = await lookup.find_player_id(tx, key)
    held = next((each for each in await items.read_slots_of_place(tx, player_id, place) if each.slot == slot), None)
    if held is None:
        return gettext("It is empty now.")
    names = await catalogue.find_by_ids(tx, "items", [held.item_id])
    name = Names({"items": names}).find_name("items", held.item_id)
    return gettext("It holds %(items)s now.", items=f"{format_number(held.quantity)} {TIMES_SIGN} {name}")


async def list_worn_items(request: Request, entries: Sequence[LedgerEntry]) -> list[Fact]:
    """Name each item that is taken off, and say that its place stays empty. A plain "unequip" has no such fact."""
    keeper = request.services.keeper
    sides = [differences.decode_sides(keeper.changes.codec.decode_side, each) for each in entries]
    held: dict[int, Stack] = {}  # what the action removes from the inventory, by slot
    for before, _ in sides:
        held |= {slot: stack for (place, slot), stack in before.slots.items() if place == INVENTORY and stack}
    taken_off: list[tuple[str, Stack]] = []
    for before, after in sides:
        worn, kept = (cast("tuple[int, ...]", side.player.get("equipment", ())) for side in (before, after))
        if worn and kept:
            places = zip(PARTS()["equipment"], worn, kept, strict=False)
            taken_off += [(place, held[was]) for place, was, now in places if was in held and now < 0]
    if not taken_off:
        return []
    names = await differences.load_names(keeper.store, (), [stack.item_id for _, stack in taken_off])
    return [
        Fact(
            place,
            gettext(
                "%(item)s is equipped here. It will be taken off, and this place stays empty.",
                item=names.find_name("items", stack.item_id),
            ),
        )
        for place, stack in taken_off
    ]


async def _find_gifts(search: NameSearch, act: PaletteCommand, rest: str) -> FoundOffers:
    preposition = command_palette.make_pattern(WORDS()[PREPOSITIONS[act.verb]])
    by_item = re.compile(GIFT.format(quantity=QUANTITY, preposition=preposition), re.IGNORECASE).fullmatch(rest)
    said = by_item or GIFT_BY_NAME.fullmatch(rest)
    number = int(said["number"] or 1) if said else 0
    if not said or not 1 <= number <= MOST_QUANTITY:
        return act.refuse(gettext("“%(words)s” is not understood.", words=rest))
    found, players = await search.find(said["item"], "item"), await search.find(said["name"], "player")
    shown = format_number(number)
    actions = [
        act.offer(each, {"itemid": item.id, "quantity": number}, quantity=f"{shown} {TIMES_SIGN} {item.name}")
        for item in (found[:1] if found and found[0].match == EXACT else found)
        for each in players
        if search.may(act, each.kind, each.id)
    ]
    if actions:
        return actions[: command_palette.MOST_OBJECTS], None
    typed, kind = (said["name"], "player") if found else (said["item"], "item")
    unknown = await search.find_unknown(typed, kind)
    if unknown != typed:
        return act.refuse(gettext("“%(words)s” is not understood.", words=unknown))
    if kind == "item":
        return act.refuse(gettext("No item is called “%(name)s”.", name=unknown))
    return act.refuse(gettext("No player is called “%(name)s”.", name=unknown))


GIFT_WORDS = PerLanguage(
    lambda: gettext(
        "Write the number, the item and the player, and nothing else: give 5 recall scroll to Aldwyn, "
        "give Aldwyn 5 recall scroll, take 2 recall scroll from Aldwyn."
    )
)
GIFT_PATH = "/api/v1/{kind}s/{id}/items/{verb}"
PALETTE_COMMANDS = (
    PaletteCommand("give", "Give %(quantity)s to %(name)s", GIFT_PATH, WORDS, GIFT_WORDS, _find_gifts),
    PaletteCommand("take", "Take %(quantity)s from %(name)s", GIFT_PATH, WORDS, GIFT_WORDS, _find_gifts),
)
DIALOGS = (
    Dialog("give_item", "Give %(item)s to %(name)s", "Give %(items)s to %(name)s"),
    Dialog("take_item", "Take %(item)s from %(name)s", "Take %(items)s from %(name)s"),
    Dialog("take_from_slot", "Take %(item)s from %(name)s", "Take %(items)s from %(name)s, %(slot)s"),
    Dialog("set_slot", "Set %(slot)s of %(name)s", "Set %(slot)s of %(name)s to %(items)s"),
    Dialog("move_slot", "Move %(item)s of %(name)s", "Move %(item)s of %(name)s from %(slot)s to %(to_slot)s"),
    Dialog("equip_slot", "Equip %(item)s of %(name)s", "Equip %(item)s of %(name)s as %(place)s"),
    Dialog("unequip_slot", "Unequip %(item)s of %(name)s"),
)
PAGES = (page_route("/pictures/[picture]", serve_picture, PLAYERS, used=False),)
