from collections.abc import Mapping
from functools import partial

from gamekeeper.game import inventory, items, lookup
from gamekeeper.game import refusals as no
from gamekeeper.game.inventory import BANK, INVENTORY, Slots
from gamekeeper.http import codec, samples, wire
from gamekeeper.http.operation import GIFT_REFUSALS, READ, READ_PLAYERS, REVALIDATED, WRITE, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import items as item_rows
from gamekeeper.store.engine import Reading

GROUP = Group("Items", "Inventory, bank and bags; give and take items.")


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items",
    name="get_items",
    number=10,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.items.Items,
    refusals=(),
    example_answer=wire.items.Items([samples.NAMED_COINS, samples.NAMED_PACK], [wire.items.NamedSlot(0)]),
)
async def get_items(request: Request) -> bytes:
    """Get all slots of a player's inventory and bank."""
    held, room = await _load_items(request), inventory.read_capacity(request.services.keeper.settings)
    carried = codec.list_named_slots(*held, INVENTORY, room.inventory)
    return wire.encode(wire.items.Items(carried, codec.list_named_slots(*held, BANK, room.bank)))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items/inventory",
    name="get_inventory",
    number=11,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.items.NamedSlot],
    refusals=(),
    example_answer=[wire.items.NamedSlot(4), samples.NAMED_COINS, samples.NAMED_PACK],
)
async def get_inventory(request: Request) -> bytes:
    """Get all slots of a player's inventory."""
    size = request.services.keeper.settings.inventory_slots
    return wire.encode(codec.list_named_slots(*await _load_items(request), INVENTORY, size))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/items/bank",
    name="get_bank",
    number=12,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.items.NamedSlot],
    refusals=(),
    example_answer=[wire.items.NamedSlot(4), samples.NAMED_COINS, samples.NAMED_PACK],
)
async def get_bank(request: Request) -> bytes:
    """Get all slots of a player's bank."""
    size = request.services.keeper.settings.bank_slots
    return wire.encode(codec.list_named_slots(*await _load_items(request), BANK, size))


@GROUP.operation(
    "GET /api/v1/players/bag/[bagId]",
    name="get_bag",
    number=13,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.items.NamedBag,
    refusals=(no.NoSuchBag,),
    example_answer=wire.items.NamedBag(
        samples.PACK_ID,
        12,
        [wire.items.NamedSlot(0, None, samples.COIN, 2288, samples.BUFFS, "Silver Mark"), wire.items.NamedSlot(1)],
    ),
)
async def get_bag(request: Request, bag_id: str) -> bytes:
    """Get all slots of a bag."""
    size, slots, names = await request.services.keeper.store.read(partial(items.load_bag, bag_id=bag_id))
    return wire.encode(wire.items.NamedBag(bag_id, size, codec.list_named_slots(slots, names, bag_id, size)))


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


async def _load_items(request: Request) -> tuple[Slots, Mapping[str, str]]:
    """Load a player's slots, and the names of the items in them."""

    async def look(tx: Reading) -> tuple[Slots, Mapping[str, str]]:
        rows, names = await item_rows.read_named_slots_of_player(tx, await lookup.find_player_id(tx, request.params[0]))
        return items.read_stacks(rows), names

    return await request.services.keeper.store.read(look)
