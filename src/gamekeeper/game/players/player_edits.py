"""Changes of a player's record, equipment and spells, which the API and game servers share.

Rename a player, set its level or class, delete it, equip and unequip items of its inventory, teach and forget spells.
`items.py` unequips items that leave the inventory.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace

from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Attachments, Codec
from gamekeeper.game.core.player import INVENTORY, Player
from gamekeeper.game.core.refusals import (
    BadField,
    NameTaken,
    NoFreeSpellSlot,
    NoSuchClass,
    NoSuchSpell,
    PlayerOnline,
    SpellAlreadyKnown,
    SpellNotKnown,
)
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import items, variables
from gamekeeper.game.players.changes import PlayerChanged, PlayerDeleted, PlayerState, SpellsChanged
from gamekeeper.game.players.refusals import SlotChanged
from gamekeeper.ground.settings import Settings
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import items as item_rows
from gamekeeper.store.players import players, presence
from gamekeeper.store.players import variables as variable_rows
from gamekeeper.store.players.players import StoredPlayer
from gamekeeper.store.world import catalogue, guilds, imports


def require_level(level: int, settings: Settings) -> int:
    if level > settings.max_level:
        raise BadField(field="level", problem=f"must be a whole number from 1 to {settings.max_level}")
    return level


async def require_free_name(tx: Reading, name: str, player_id: str) -> bool:
    """Refuse a name that another player has. Return True if this player has the name, perhaps in another case."""
    owner = await players.find_id_by_fold(tx, lookup.fold(name))
    if owner not in (None, player_id):
        raise NameTaken(name=name)
    return owner == player_id


async def rename(tx: Locking, key: str, name: str, codec: Codec) -> Decision[StoredPlayer]:
    """Rename a player, also while it is online: the game server reads the change in the feed."""
    before = await _lock_player(tx, key, codec)
    found_by_it = await require_free_name(tx, name, before.id)
    if found_by_it and name == before.name:
        return Decision([], await build_record(tx, before, codec), subject=(before.id, None))
    after = replace(before, name=name)
    return Decision([PlayerChanged(before, after, claims_name=True)], await build_record(tx, after, codec))


async def set_level(tx: Locking, key: str, level: int, codec: Codec) -> Decision[StoredPlayer]:
    """Set a player's level, and the experience to 0."""
    before = await _lock_player(tx, key, codec)
    return await _decide_change(tx, before, replace(before, level=level, exp=0), codec)


async def set_class(tx: Locking, key: str, class_id: str, codec: Codec) -> Decision[StoredPlayer]:
    """Set a player's class. While the catalogue has no classes, any id is accepted."""
    before = await _lock_player(tx, key, codec)
    known = await catalogue.find_by_ids(tx, "classes", [class_id])
    if class_id == lookup.ZERO_GUID or (not known and await catalogue.has_classes(tx)):
        raise NoSuchClass
    return await _decide_change(tx, before, replace(before, class_id=class_id), codec)


async def delete(tx: Locking, key: str, codec: Codec) -> Decision[StoredPlayer]:
    record, change = await plan_deletion(tx, key, codec)
    return Decision([change], record)


async def plan_deletion(tx: Locking, key: str, codec: Codec) -> tuple[StoredPlayer, PlayerDeleted]:
    """Return the player's record, and the change that deletes the player with all its items."""
    locked = await lookup.lock_player(tx, key)
    record = await lookup.find_player_record(tx, locked.id)
    if record.online:
        raise PlayerOnline
    player = codec.decode_player(locked.document, locked.last_online)
    state = replace(await load_state(tx, player.id), attached=await _load_attached(tx, player.id))
    return record, PlayerDeleted(player, state)


async def _load_attached(tx: Reading, player_id: str) -> Attachments:
    texts = await variable_rows.read_texts_of_player(tx, player_id)
    memberships = await guilds.read_memberships(tx, [player_id])
    return Attachments(texts, memberships.get(player_id), await imports.read_leftovers_of_player(tx, player_id))


async def load_state(tx: Reading, player_id: str) -> PlayerState:
    return PlayerState(
        slots=items.read_stacks(await item_rows.read_slots_of_player(tx, player_id)),
        bags=await item_rows.read_bags_of_player(tx, player_id),
        spells=await players.read_known_spells(tx, player_id),
        variables={
            row.variable_id: variables.read_value(row) for row in await variable_rows.read_of_player(tx, player_id)
        },
    )


async def build_record(tx: Reading, player: Player, codec: Codec) -> StoredPlayer:
    """Build the record that a read will return for a player, before the player is stored."""
    class_names = await catalogue.find_by_ids(tx, "classes", [player.class_id])
    map_names = await catalogue.find_by_ids(tx, "maps", [player.map_id])
    return StoredPlayer(
        document=codec.encode_player(player),
        class_name=class_names[player.class_id].name if class_names else "",
        map_name=map_names[player.map_id].name if map_names else "",
        online=await presence.is_online(tx, player.id),
        last_online=player.last_online,
    )


async def _lock_player(tx: Locking, key: str, codec: Codec) -> Player:
    locked = await lookup.lock_player(tx, key)
    return codec.decode_player(locked.document, locked.last_online)


async def _decide_change(tx: Reading, before: Player, after: Player, codec: Codec) -> Decision[StoredPlayer]:
    changes = [PlayerChanged(before, after)] if after != before else []
    return Decision(changes, await build_record(tx, after, codec), subject=(before.id, None))


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
    return Decision(changes, await build_record(tx, after, codec), subject=(before.id, None))


def find_free_spell_slot(known: Mapping[int, str], spell_id: str, size: int) -> int:
    if spell_id in known.values():
        raise SpellAlreadyKnown
    for slot in range(size):
        if slot not in known:
            return slot
    raise NoFreeSpellSlot(size=size)


def find_spell_slot(known: Mapping[int, str], spell_id: str) -> int:
    for slot, each in known.items():
        if each == spell_id:
            return slot
    raise SpellNotKnown


async def teach_spell(tx: Locking, player: str, spell_id: str, size: int) -> Decision[str]:
    locked = await lookup.lock_player(tx, player)
    await require_spell(tx, spell_id)
    slot = find_free_spell_slot(await players.read_known_spells(tx, locked.id), spell_id, size)
    return Decision([SpellsChanged("spell_taught", locked.id, {slot: None}, {slot: spell_id})], spell_id)


async def forget_spell(tx: Locking, player: str, spell_id: str) -> Decision[str]:
    locked = await lookup.lock_player(tx, player)
    await require_spell(tx, spell_id)
    slot = find_spell_slot(await players.read_known_spells(tx, locked.id), spell_id)
    return Decision([SpellsChanged("spell_forgotten", locked.id, {slot: spell_id}, {slot: None})], spell_id)


async def require_spell(tx: Reading, spell_id: str) -> None:
    """Refuse a spell that the catalogue does not have. While the catalogue has no spells, any id is accepted."""
    if spell_id == lookup.ZERO_GUID or (
        await catalogue.find_spell(tx, spell_id) is None and await catalogue.has_spells(tx)
    ):
        raise NoSuchSpell
