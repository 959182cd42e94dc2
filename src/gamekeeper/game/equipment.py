"""Equipping and unequipping an item of a player's inventory. `items.py` unequips items that leave the inventory."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace

from gamekeeper.game import items, lookup, player_edits
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import Codec
from gamekeeper.game.inventory import INVENTORY
from gamekeeper.game.player_effects import PlayerChanged
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import BadField
from gamekeeper.game.slot_refusals import SlotChanged
from gamekeeper.store import catalogue
from gamekeeper.store import items as item_rows
from gamekeeper.store.engine import Locking, Reading
from gamekeeper.store.players import StoredPlayer

PLACES = ("helmet", "armor", "weapon", "shield", "boots")  # in the order of a player's `equipment`
FREE = -1
DETAIL = "EquipmentSlot"  # further field of an item in the catalogue: the number of its place
TYPE, EQUIPMENT = "ItemType", 1  # further field with the engine's number of the type, and the number of equipment


class Fit(NamedTuple):
    """What the catalogue says about equipping an item."""

    place: str | None
    is_equipment: bool  # False: the item has another type. An item without a type may be equipment.


async def equip(
    tx: Locking, key: str, slot: int, item_id: str, place: str | None, codec: Codec
) -> Decision[StoredPlayer]:
    """Equip the item of an inventory slot. Without a place, the item's place in the catalogue is used."""
    player = await _lock_holder(tx, key, slot, item_id, codec)
    place = place or (await find_fit(tx, item_id)).place
    if place is None:
        raise BadField(field="Place", problem=f"is missing: the catalogue has no {DETAIL} of this item")
    after = [FREE if each == slot else each for each in player.equipment]
    after[PLACES.index(place)] = slot
    return await _decide(tx, player, after, codec)


async def unequip(tx: Locking, key: str, slot: int, item_id: str, codec: Codec) -> Decision[StoredPlayer]:
    """Unequip the item of an inventory slot. It stays in the slot."""
    player = await _lock_holder(tx, key, slot, item_id, codec)
    return await _decide(tx, player, [FREE if each == slot else each for each in player.equipment], codec)


async def find_fit(tx: Reading, item_id: str) -> Fit:
    """Find the place and the type of an item, if its catalogue entry has them as further fields."""
    item = await catalogue.find_item(tx, item_id)
    [described] = await catalogue.add_details(tx, "items", [item]) if item else [None]
    decoded: object = msgspec.json.decode(described.details) if described and described.details else {}
    details = cast("dict[str, object]", decoded) if isinstance(decoded, dict) else {}
    number, kind = details.get(DETAIL), details.get(TYPE)
    place = PLACES[number] if type(number) is int and 0 <= number < len(PLACES) else None
    return Fit(place, type(kind) is not int or kind == EQUIPMENT)


async def _lock_holder(tx: Locking, key: str, slot: int, item_id: str, codec: Codec) -> Player:
    """Lock the player, whose inventory slot must hold the item."""
    locked = await lookup.lock_player(tx, key)
    held = items.read_stacks(await item_rows.read_slots_of_place(tx, locked.id, INVENTORY)).get((INVENTORY, slot))
    if held is None or held.item_id != item_id:
        raise SlotChanged(slot=slot)
    return codec.decode_player(locked.document, locked.last_online)


async def _decide(tx: Reading, before: Player, equipment: Sequence[int], codec: Codec) -> Decision[StoredPlayer]:
    after = replace(before, equipment=tuple(equipment))
    changes = [PlayerChanged(before, after)] if after != before else []
    return Decision(changes, await player_edits.build_record(tx, after, codec), subject=(before.id, None))
