"""A player: the values of its record, and the stacks of items in its slots."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import NODEFAULT

from gamekeeper.game.core.lookup import ZERO_GUID

INVENTORY, BANK = "inventory", "bank"
NO_BUFFS = (0, 0, 0, 0, 0)


class Stack(NamedTuple):
    """The content of an occupied slot: an item and its quantity."""

    item_id: str
    quantity: int
    bag_id: str | None = None
    buffs: tuple[int, ...] = NO_BUFFS


SlotAddress = tuple[str, int]  # place and slot number; a place is INVENTORY, BANK or a bag's id


class Capacity(msgspec.Struct, frozen=True):
    inventory: int
    bank: int
    stack: int

    def count_slots(self, place: str) -> int:
        return self.bank if place == BANK else self.inventory


NOTHING_EQUIPPED = (-1, -1, -1, -1, -1)
NO_STATS = (0, 0, 0, 0, 0)


class Player(msgspec.Struct, frozen=True, gc=False):
    """A player's record. A new field needs a default: documents of older versions do not have it."""

    id: str
    user_id: str
    name: str
    in_bank: bool = False
    max_vitals: tuple[int, ...] = (0, 0)
    level: int = 1
    exp: int = 0
    experience_to_next_level: int = 0
    class_id: str = ZERO_GUID
    gender: int = 0
    vitals: tuple[int, ...] = (0, 0)
    base_stats: tuple[int, ...] = NO_STATS
    stat_point_allocations: tuple[int, ...] = NO_STATS
    stat_points: int = 0
    equipment: tuple[int, ...] = NOTHING_EQUIPPED
    map_id: str = ZERO_GUID
    x: int = 0
    y: int = 0
    z: int = 0
    dir: int = 0
    sprite: str = ""
    face: str = ""
    dead: bool = False
    created_at: int = 0
    play_time_seconds: int = 0
    last_online: int | None = None
    # fields that newer versions wrote
    unknown: Mapping[str, object] = {}


FIELDS = {each.name: each for each in msgspec.structs.fields(Player) if each.name != "unknown"}
DEFAULTS: Mapping[str, object] = {name: each.default for name, each in FIELDS.items() if each.default is not NODEFAULT}
REQUIRED = FIELDS.keys() - DEFAULTS.keys()


def make_player(values: Mapping[str, object], unknown: Mapping[str, object]) -> Player:
    """Make a player from stored fields; missing fields get their defaults."""
    known = {name: value for name, value in values.items() if name in FIELDS}
    return Player(**cast("dict[str, Any]", known), unknown=unknown)


def unequip_slots(player: Player, emptied: set[int]) -> tuple[int, ...]:
    return tuple(-1 if slot in emptied else slot for slot in player.equipment)
