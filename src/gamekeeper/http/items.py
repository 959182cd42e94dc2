from collections.abc import Mapping
from functools import partial

from gamekeeper.game import inventory, items, lookup
from gamekeeper.game.inventory import BANK, INVENTORY, Slots
from gamekeeper.http import spelling, wire
from gamekeeper.http.request import Request
from gamekeeper.http.segments import guid_param
from gamekeeper.store import items as item_rows
from gamekeeper.store.engine import Reading


async def both(request: Request) -> bytes:
    """Inventory and bank of a character, every slot."""
    held, room = await _held(request), inventory.sizes(request.keeper.settings)
    carried = spelling.named_slots(*held, INVENTORY, room.inventory)
    return wire.encode(wire.Items(carried, spelling.named_slots(*held, BANK, room.bank)))


async def in_inventory(request: Request) -> bytes:
    """Inventory of a character, every slot."""
    size = request.keeper.settings.inventory_slots
    return wire.encode(spelling.named_slots(*await _held(request), INVENTORY, size))


async def in_bank(request: Request) -> bytes:
    """Bank of a character, every slot."""
    size = request.keeper.settings.bank_slots
    return wire.encode(spelling.named_slots(*await _held(request), BANK, size))


async def in_bag(request: Request) -> bytes:
    """What is in a bag."""
    bag_id = guid_param("bagId", request.params[0])
    size, slots, names = await request.keeper.store.read(partial(items.bag, bag_id=bag_id))
    return wire.encode(wire.NamedBag(bag_id, size, spelling.named_slots(slots, names, bag_id, size)))


async def give(request: Request, body: wire.GiveItem) -> bytes:
    """Give items to a character, all of them or none."""
    decide = partial(
        items.give,
        key=request.params[0],
        item_id=body.itemid,
        quantity=body.quantity,
        room=inventory.sizes(request.keeper.settings),
        overflow=body.bankoverflow,
    )
    return await request.change(decide, partial(spelling.given, body.itemid))


async def take(request: Request, body: wire.TakeItem) -> bytes:
    """Take items out of a character's inventory, all of them or none."""
    decide = partial(
        items.take,
        key=request.params[0],
        item_id=body.itemid,
        quantity=body.quantity,
        spelling=request.keeper.changes.spelling,
    )
    return await request.change(decide, lambda taken: wire.encode(wire.Taken(body.itemid, taken)))


async def _held(request: Request) -> tuple[Slots, Mapping[str, str]]:
    """What a character holds, and the names of these items."""

    async def look(tx: Reading) -> tuple[Slots, Mapping[str, str]]:
        rows, names = await item_rows.named_slots_of_player(tx, await lookup.player_id(tx, request.params[0]))
        return items.stacks(rows), names

    return await request.keeper.store.read(look)
