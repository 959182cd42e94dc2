from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.player import BANK, INVENTORY
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import inventory, items, player_edits
from gamekeeper.game.players.inventory import ItemCounts, SlotChanges, Slots
from gamekeeper.game.players.refusals import BagInItself, NoSuchContainer, SlotChanged, SlotHoldsLess, SlotOccupied
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import (
    GIFT_REFUSALS,
    MOST_AT_ONCE,
    OF_ONE_OWNER,
    READ_PLAYERS,
    REVALIDATED,
    Group,
    needs,
)
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.players import documents, player_shapes, players
from gamekeeper.http.server.paging import encode_pieces, join_pieces
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items as item_rows

GROUP = Group("Items", "Inventory, bank and bags; give and take items.", 60, READ_PLAYERS, REVALIDATED)
GROUPS = (GROUP,)


@GROUP.operation("GET /api/v1/players/[lookupKey]/items", number=10, answer=player_shapes.Items, rows=OF_ONE_OWNER)
async def get_items(request: Request) -> bytes:
    """Get all slots of a player's inventory and bank."""
    (held, names), room = await _load_items(request), inventory.read_capacity(request.services.keeper.settings)
    carried, banked = (documents.number_slots(held, place, room.count_slots(place)) for place in (INVENTORY, BANK))
    pieces = (
        *((b'{"inventory":',), _encode_slots(held, names, INVENTORY, carried)),
        *((b',"bank":',), _encode_slots(held, names, BANK, banked), (b"}",)),
    )
    return await join_pieces(request, len(carried) + len(banked), chain.from_iterable(pieces))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items/inventory",
    number=11,
    answer=list[player_shapes.NamedSlot],
    rows=OF_ONE_OWNER,
)
async def get_inventory(request: Request) -> bytes:
    """Get all slots of a player's inventory."""
    return await _encode_place(request, INVENTORY, request.services.keeper.settings.inventory_slots)


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items/bank",
    number=12,
    answer=list[player_shapes.NamedSlot],
    rows=OF_ONE_OWNER,
)
async def get_bank(request: Request) -> bytes:
    """Get all slots of a player's bank."""
    return await _encode_place(request, BANK, request.services.keeper.settings.bank_slots)


@GROUP.operation("GET /api/v1/players/bag/[bagId]", number=13, rows=MOST_AT_ONCE, refusals=(no.NoSuchBag,))
async def get_bag(request: Request, bag_id: str) -> player_shapes.NamedBag:
    """Get all slots of a bag."""
    size, held, names = await request.services.keeper.store.read(partial(items.load_bag, bag_id=bag_id))
    return player_shapes.NamedBag(bag_id, size, documents.list_named_slots(held, names, bag_id, size))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/items/give",
    number=14,
    permissions=needs("items.give"),
    answer=player_shapes.Given,
    refusals=(no.NoSuchItem, no.InventoryFull, *GIFT_REFUSALS),
)
async def give_item(request: Request, body: player_shapes.GiveItem) -> Response:
    """Give items to a player: all of them or none."""
    decide = partial(
        items.give,
        key=request.params[0],
        item_id=body.itemid,
        quantity=body.quantity,
        room=inventory.read_capacity(request.services.keeper.settings),
        overflow=body.bankoverflow,
    )
    return await request.change(decide, partial(_make_given, body.itemid))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/items/take",
    number=15,
    permissions=needs("items.take"),
    answer=player_shapes.Taken,
    refusals=(no.NoSuchItem, no.NotEnoughItems, no.BagNotEmpty),
)
async def take_item(request: Request, body: player_shapes.TakeItem) -> Response:
    """Take items from a player's inventory: all of them or none."""
    decide = partial(
        items.take,
        key=request.params[0],
        item_id=body.itemid,
        quantity=body.quantity,
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, lambda taken: player_shapes.Taken(body.itemid, taken))


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/take",
    permissions=needs("items.take"),
    answer=player_shapes.ChangedSlots,
    refusals=(NoSuchContainer, SlotChanged, SlotHoldsLess, no.BagNotEmpty),
)
async def take_from_slot(request: Request, body: items.TakeFromSlot) -> Response:
    """Take items from one slot of a player's inventory, bank or bag: all of them or none."""
    return await _change_slots(request, partial(items.take_from_slot, asked=body))


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/set",
    permissions=needs("items.give", "items.take"),
    answer=player_shapes.ChangedSlots,
    refusals=(
        *(NoSuchContainer, no.NoSuchItem, SlotChanged, no.SlotOutOfRange, no.StackTooLarge, no.BagNotEmpty),
        *GIFT_REFUSALS,
    ),
)
async def set_slot(request: Request, body: items.SetSlot) -> Response:
    """Set how many of an item one slot holds; 0 empties it. More counts as a gift."""
    return await _change_slots(request, partial(items.set_slot_quantity, asked=body))


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/move",
    permissions=needs("items.give", "items.take"),
    answer=player_shapes.ChangedSlots,
    refusals=(
        *(NoSuchContainer, no.NoSuchItem, SlotChanged, SlotHoldsLess, SlotOccupied, BagInItself),
        *(no.SlotOutOfRange, no.StackTooLarge),
    ),
    example_body=items.MoveSlot(INVENTORY, 5, examples.COIN, BANK, 90),
)
async def move_slot(request: Request, body: items.MoveSlot) -> Response:
    """Move items to an empty slot, onto a stack of the same item, or swap two stacks."""
    return await _change_slots(request, partial(items.move_between_slots, asked=body))


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/equip",
    permissions=needs("players.progress"),
    answer=player_shapes.PlayerRecord,
    refusals=(SlotChanged,),
    example_body=player_edits.EquipSlot(5, examples.COIN, "weapon"),
)
async def equip_slot(request: Request, body: player_edits.EquipSlot) -> Response:
    """Equip the item of an inventory slot, instead of what is equipped there."""
    return await players.change_player(request, partial(player_edits.equip, asked=body))


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/unequip",
    permissions=needs("players.progress"),
    answer=player_shapes.PlayerRecord,
    refusals=(SlotChanged,),
)
async def unequip_slot(request: Request, body: player_edits.UnequipSlot) -> Response:
    """Unequip the item of an inventory slot. It stays in the slot."""
    return await players.change_player(request, partial(player_edits.unequip, asked=body))


async def _change_slots(
    request: Request, decide: Callable[..., Coroutine[Any, Any, Decision[SlotChanges]]]
) -> Response:
    keeper = request.services.keeper
    room, codec = inventory.read_capacity(keeper.settings), keeper.changes.codec
    chosen = partial(decide, key=request.params[0], room=room, codec=codec)
    return await request.change(chosen, _list_changed_slots)


async def _encode_place(request: Request, place: str, size: int) -> bytes:
    held, names = await _load_items(request)
    numbers = documents.number_slots(held, place, size)
    return await join_pieces(request, len(numbers), _encode_slots(held, names, place, numbers))


def _encode_slots(held: Slots, names: Mapping[str, str], place: str, numbers: range) -> Iterator[bytes]:
    def encode(some: Sequence[int]) -> bytes:
        return shapes.encode([documents.make_named_slot(slot, held.get((place, slot)), names) for slot in some])

    return encode_pieces(numbers, encode)


async def _load_items(request: Request) -> tuple[Slots, Mapping[str, str]]:
    """Load a player's slots, and the names of the items in them."""

    async def look(tx: Reading) -> tuple[Slots, Mapping[str, str]]:
        player_id = await lookup.find_player_id(tx, request.params[0])
        rows, names = await item_rows.read_named_slots(tx, item_rows.SQL.named_slots_of_player, player_id)
        return items.read_stacks(rows), names

    return await request.services.keeper.store.read(look)


def _make_given(item_id: str, held: ItemCounts) -> player_shapes.Given:
    return player_shapes.Given(item_id, player_shapes.Quantity(held.inventory + held.bank, held.bank, held.inventory))


def _list_changed_slots(touched: SlotChanges) -> player_shapes.ChangedSlots:
    return player_shapes.ChangedSlots(
        [
            make_record(player_shapes.ChangedSlot, documents.make_item_slot(slot, stack), Container=place)
            for (place, slot), stack in touched.items()
        ]
    )
