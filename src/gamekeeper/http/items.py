from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from msgspec import UNSET

from gamekeeper.game import equipment, inventory, items, lookup, slots
from gamekeeper.game import refusals as no
from gamekeeper.game.inventory import BANK, INVENTORY, Slots
from gamekeeper.game.slot_refusals import BagInItself, NoSuchContainer, SlotChanged, SlotHoldsLess, SlotOccupied
from gamekeeper.http import codec, player_records, samples, wire
from gamekeeper.http.answered_rows import MOST_AT_ONCE, OF_ONE_OWNER
from gamekeeper.http.long_lists import encode_pieces, join_pieces
from gamekeeper.http.operation import GIFT_REFUSALS, READ, READ_PLAYERS, REVALIDATED, WRITE, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import items as item_rows
from gamekeeper.store.engine import Reading

GROUP = Group("Items", "Inventory, bank and bags; give and take items.")


def _make_slot(container: str, slot: int, quantity: int) -> wire.items.ChangedSlot:
    return wire.items.ChangedSlot(slot, None, samples.COIN, quantity, samples.BUFFS, container)


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items",
    name="get_items",
    number=10,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.items.Items,
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=wire.items.Items([samples.NAMED_COINS, samples.NAMED_PACK], [wire.items.NamedSlot(0)]),
)
async def get_items(request: Request) -> bytes:
    """Get all slots of a player's inventory and bank."""
    (held, names), room = await _load_items(request), inventory.read_capacity(request.services.keeper.settings)
    carried, banked = (codec.number_slots(held, place, room.count_slots(place)) for place in (INVENTORY, BANK))
    pieces = (
        *((b'{"inventory":',), _encode_slots(held, names, INVENTORY, carried)),
        *((b',"bank":',), _encode_slots(held, names, BANK, banked), (b"}",)),
    )
    return await join_pieces(request, len(carried) + len(banked), chain.from_iterable(pieces))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items/inventory",
    name="get_inventory",
    number=11,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.items.NamedSlot],
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=[wire.items.NamedSlot(4), samples.NAMED_COINS, samples.NAMED_PACK],
)
async def get_inventory(request: Request) -> bytes:
    """Get all slots of a player's inventory."""
    return await _encode_place(request, INVENTORY, request.services.keeper.settings.inventory_slots)


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items/bank",
    name="get_bank",
    number=12,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.items.NamedSlot],
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=[wire.items.NamedSlot(4), samples.NAMED_COINS, samples.NAMED_PACK],
)
async def get_bank(request: Request) -> bytes:
    """Get all slots of a player's bank."""
    return await _encode_place(request, BANK, request.services.keeper.settings.bank_slots)


@GROUP.operation(
    "GET /api/v1/players/bag/[bagId]",
    name="get_bag",
    number=13,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.items.NamedBag,
    rows=MOST_AT_ONCE,
    refusals=(no.NoSuchBag,),
    example_answer=wire.items.NamedBag(
        samples.PACK_ID,
        12,
        [wire.items.NamedSlot(0, None, samples.COIN, 2288, samples.BUFFS, "Silver Mark"), wire.items.NamedSlot(1)],
    ),
)
async def get_bag(request: Request, bag_id: str) -> bytes:
    """Get all slots of a bag."""
    size, held, names = await request.services.keeper.store.read(partial(items.load_bag, bag_id=bag_id))
    return wire.encode(wire.items.NamedBag(bag_id, size, codec.list_named_slots(held, names, bag_id, size)))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/items/give",
    name="give_item",
    number=14,
    permissions=needs("items.give"),
    access=WRITE,
    body=wire.items.GiveItem,
    answer=wire.items.Given,
    refusals=(no.NoSuchItem, no.InventoryFull, *GIFT_REFUSALS),
    example_body=wire.items.GiveItem(samples.DRAUGHT, 2, bankoverflow=True),
    example_answer=wire.items.Given(samples.DRAUGHT, wire.items.Quantity(total=2, bank=0, inventory=2)),
)
async def give(request: Request, body: wire.items.GiveItem) -> Response:
    """Give items to a player: all of them or none."""
    decide = partial(
        items.give,
        key=request.params[0],
        item_id=body.itemid,
        quantity=body.quantity,
        room=inventory.read_capacity(request.services.keeper.settings),
        overflow=body.bankoverflow,
    )
    return await request.change(decide, partial(codec.encode_given, body.itemid))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/items/take",
    name="take_item",
    number=15,
    permissions=needs("items.take"),
    access=WRITE,
    body=wire.items.TakeItem,
    answer=wire.items.Taken,
    refusals=(no.NoSuchItem, no.NotEnoughItems, no.BagNotEmpty),
    example_body=wire.items.TakeItem(samples.COIN, 100),
    example_answer=wire.items.Taken(samples.COIN, 100),
)
async def take(request: Request, body: wire.items.TakeItem) -> Response:
    """Take items from a player's inventory: all of them or none."""
    decide = partial(
        items.take,
        key=request.params[0],
        item_id=body.itemid,
        quantity=body.quantity,
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, lambda taken: wire.encode(wire.items.Taken(body.itemid, taken)))


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/take",
    name="take_from_slot",
    permissions=needs("items.take"),
    access=WRITE,
    body=wire.items.TakeFromSlot,
    answer=wire.items.ChangedSlots,
    refusals=(NoSuchContainer, SlotChanged, SlotHoldsLess, no.BagNotEmpty),
    example_body=wire.items.TakeFromSlot(INVENTORY, 5, samples.COIN, 100),
    example_answer=wire.items.ChangedSlots([_make_slot(INVENTORY, 5, 1085)]),
)
async def take_from_slot(request: Request, body: wire.items.TakeFromSlot) -> Response:
    """Take items from one slot of a player's inventory, bank or bag: all of them or none."""
    decide = partial(
        slots.take,
        key=request.params[0],
        source=(body.Container, body.Slot),
        item_id=body.ItemId,
        quantity=body.Quantity,
        room=inventory.read_capacity(request.services.keeper.settings),
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, codec.encode_changed_slots)


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/set",
    name="set_slot",
    permissions=needs("items.give", "items.take"),
    access=WRITE,
    body=wire.items.SetSlot,
    answer=wire.items.ChangedSlots,
    refusals=(
        *(NoSuchContainer, no.NoSuchItem, SlotChanged, no.SlotOutOfRange, no.StackTooLarge, no.BagNotEmpty),
        *GIFT_REFUSALS,
    ),
    example_body=wire.items.SetSlot(INVENTORY, 5, samples.COIN, 1000),
    example_answer=wire.items.ChangedSlots([_make_slot(INVENTORY, 5, 1000)]),
)
async def set_slot(request: Request, body: wire.items.SetSlot) -> Response:
    """Set how many of an item one slot holds; 0 empties it. More counts as a gift."""
    decide = partial(
        slots.set_quantity,
        key=request.params[0],
        target=(body.Container, body.Slot),
        item_id=body.ItemId,
        quantity=body.Quantity,
        expected=None if body.Held is UNSET else body.Held,
        room=inventory.read_capacity(request.services.keeper.settings),
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, codec.encode_changed_slots)


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/move",
    name="move_slot",
    permissions=needs("items.give", "items.take"),
    access=WRITE,
    body=wire.items.MoveSlot,
    answer=wire.items.ChangedSlots,
    refusals=(
        *(NoSuchContainer, no.NoSuchItem, SlotChanged, SlotHoldsLess, SlotOccupied, BagInItself),
        *(no.SlotOutOfRange, no.StackTooLarge),
    ),
    example_body=wire.items.MoveSlot(INVENTORY, 5, samples.COIN, BANK, 90),
    example_answer=wire.items.ChangedSlots(
        [wire.items.ChangedSlot(5, Container=INVENTORY), _make_slot(BANK, 90, 1185)]
    ),
)
async def move_slot(request: Request, body: wire.items.MoveSlot) -> Response:
    """Move items to an empty slot, onto a stack of the same item, or swap two stacks."""
    decide = partial(
        slots.move,
        key=request.params[0],
        source=(body.Container, body.Slot),
        target=(body.ToContainer, body.ToSlot),
        item_id=body.ItemId,
        quantity=None if body.Quantity is UNSET else body.Quantity,
        room=inventory.read_capacity(request.services.keeper.settings),
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, codec.encode_changed_slots)


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/equip",
    name="equip_slot",
    permissions=needs("players.progress"),
    access=WRITE,
    body=wire.items.EquipSlot,
    answer=wire.players.PlayerRecord,
    refusals=(SlotChanged,),
    example_body=wire.items.EquipSlot(5, samples.COIN, "weapon"),
    example_answer=samples.RECORD,
)
async def equip_slot(request: Request, body: wire.items.EquipSlot) -> Response:
    """Equip the item of an inventory slot, instead of what is equipped there."""
    decide = partial(
        equipment.equip,
        key=request.params[0],
        slot=body.Slot,
        item_id=body.ItemId,
        place=None if body.Place is UNSET else body.Place,
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, player_records.encode_record)


@GROUP.operation(
    "POST /api/keeper/v1/players/[lookupKey]/items/slots/unequip",
    name="unequip_slot",
    permissions=needs("players.progress"),
    access=WRITE,
    body=wire.items.UnequipSlot,
    answer=wire.players.PlayerRecord,
    refusals=(SlotChanged,),
    example_body=wire.items.UnequipSlot(5, samples.COIN),
    example_answer=samples.RECORD,
)
async def unequip_slot(request: Request, body: wire.items.UnequipSlot) -> Response:
    """Unequip the item of an inventory slot. It stays in the slot."""
    decide = partial(
        equipment.unequip,
        key=request.params[0],
        slot=body.Slot,
        item_id=body.ItemId,
        codec=request.services.keeper.changes.codec,
    )
    return await request.change(decide, player_records.encode_record)


async def _encode_place(request: Request, place: str, size: int) -> bytes:
    held, names = await _load_items(request)
    numbers = codec.number_slots(held, place, size)
    return await join_pieces(request, len(numbers), _encode_slots(held, names, place, numbers))


def _encode_slots(held: Slots, names: Mapping[str, str], place: str, numbers: range) -> Iterator[bytes]:
    def encode(some: Sequence[int]) -> bytes:
        return wire.encode([codec.make_named_slot(slot, held.get((place, slot)), names) for slot in some])

    return encode_pieces(numbers, encode)


async def _load_items(request: Request) -> tuple[Slots, Mapping[str, str]]:
    """Load a player's slots, and the names of the items in them."""

    async def look(tx: Reading) -> tuple[Slots, Mapping[str, str]]:
        rows, names = await item_rows.read_named_slots_of_player(tx, await lookup.find_player_id(tx, request.params[0]))
        return items.read_stacks(rows), names

    return await request.services.keeper.store.read(look)
