"""Convert Intersect's players with their items, spells and variables."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.player import BANK, INVENTORY, NOTHING_EQUIPPED, Player, SlotAddress, Stack
from gamekeeper.game.core.values import NUMBER
from gamekeeper.game.players.changes import PlayerState
from gamekeeper.ground.settings import Settings
from gamekeeper.intersect import values
from gamekeeper.intersect.accounts import Note, read_name
from gamekeeper.intersect.catalogue import VITAL_COUNT, Vitals
from gamekeeper.intersect.data import Report
from gamekeeper.intersect.sources import Row
from gamekeeper.intersect.values import show_id
from gamekeeper.intersect.world import describe_mismatch, find_type
from gamekeeper.store.players.variables import AssignedText

MAX_DIRECTION = 3
MAX_EQUIPMENT = 20
MAX_CACHED_STACKS = 50_000
NO_VALUE = "its value is missing or cannot be read"


FullPlayer = tuple[Player, PlayerState]


class RawBag(NamedTuple):
    size: object  # number of slots of a bag as stored in the source; may be invalid
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class RawPlayer:
    """All rows of one player, as read from the Intersect database."""

    player: Row
    inventory: Sequence[Row] = ()
    bank: Sequence[Row] = ()
    spells: Sequence[Row] = ()
    variables: Sequence[Row] = ()
    switches: Sequence[Row] = ()


@dataclass(slots=True)
class PlayerReader:
    """Converts Intersect's players one by one, and lists skipped and altered rows."""

    report: Report
    settings: Settings
    vitals: Vitals
    items: set[str]  # ids of the catalogue's items
    spells: set[str]  # ids of the catalogue's spells
    types: Mapping[str, str]  # types of the catalogue's variables, by variable id
    bags: Mapping[str, RawBag]
    # cache of converted item rows: raw item id, quantity and stats of a row, to the stack made from it
    stack_cache: dict[tuple[object, object, object], Stack] = field(
        default_factory=dict[tuple[object, object, object], Stack]
    )
    used_bags: set[str] = field(default_factory=set[str])  # bags that a slot of an imported player already holds
    texts: list[AssignedText] = field(default_factory=list[AssignedText])  # text and fractions of imported players
    guids: values.GuidCache = field(default_factory=values.GuidCache)

    def read(self, raw: RawPlayer, pattern: re.Pattern[str]) -> FullPlayer:
        slots: dict[SlotAddress, Stack] = {}
        sizes: dict[str, int] = {}
        waiting: list[str] = []
        self._read_slots(slots, INVENTORY, "inventory", raw.inventory, waiting)
        self._read_slots(slots, BANK, "bank", raw.bank, waiting)
        for bag_id in waiting:  # the loop appends bags found inside bags
            raw_size, rows = self.bags[bag_id]
            size = values.clamp_bag_size(raw_size)
            if size != raw_size:
                self.report.note("bags", bag_id, f"its size is {raw_size!r}: changed to {size}")
            self._read_slots(slots, bag_id, "bag_slots", rows, waiting)
            sizes[bag_id] = max(size, *(row[2] + 1 for row in rows if (bag_id, row[2]) in slots), 1)
            self.report.count("bags").taken += 1
        variables = self._read_variables(raw)
        return self._read_player(raw.player, slots, pattern), PlayerState(
            slots, sizes, self._read_spells(raw.spells), variables
        )

    # --- slots -----------------------------------------------------------------------------------------------------

    def _read_slots(
        self, slots: dict[SlotAddress, Stack], place: str, noun: str, rows: Sequence[Row], waiting: list[str]
    ) -> None:
        """Read the slots of inventory, bank or a bag. Most rows repeat a cached stack and skip the slow checks."""
        usual, most = self.stack_cache, self._find_last_slot(place)
        before = len(slots)
        for row in rows:
            _, _, slot, item, quantity, bag, properties = row
            spot = (place, slot)
            stack = usual.get((item, quantity, properties)) if bag is None else None
            if stack is None or spot in slots or slot.__class__ is not int or not 0 <= slot <= most:
                stack = self._read_slot(slots, spot, noun, row, waiting)
            if stack:
                slots[spot] = stack
        self.report.count(noun).taken += len(slots) - before

    def _read_slot(
        self, slots: dict[SlotAddress, Stack], spot: SlotAddress, noun: str, row: Row, waiting: list[str]
    ) -> Stack | None:
        """Convert one item slot with all checks. None if the row must be skipped."""
        place, slot = spot
        _, row_id, _, item, quantity, bag, properties = row
        notes, item_id, count = len(self.report.entries), self.guids[item], values.parse_number(quantity, 0)
        if item_id is None or count is None or self._parse_slot(slot, self._find_last_slot(place)) is None:
            self.report.skip(
                noun, row_id, f"invalid values: slot {slot!r}, item {show_id(item)}, quantity {quantity!r}"
            )
            return None
        if spot in slots:
            self.report.skip(noun, row_id, f"slot {slot} is used by another row")
            return None
        if self.items and item_id not in self.items:
            self.report.note(noun, row_id, f"its item {item_id} is not in the game data: kept")
        if count == 0:
            self.report.note(noun, row_id, "its quantity is 0: changed to 1, as Intersect counts it")
        if slot > self._find_last_slot(place):
            beyond = (
                f"the setting {place}_slots: kept"
                if place in (INVENTORY, BANK)
                else "the size of its bag, which was enlarged"
            )
            self.report.note(noun, row_id, f"slot {slot} is beyond {beyond}")
        buffs = values.parse_buffs(properties)
        if buffs is None:
            self.report.note(noun, row_id, "its stats cannot be read: imported without them")
        stack = Stack(item_id, count or 1, self._read_bag_id(noun, row_id, bag, waiting), buffs or values.NO_BUFFS)
        if bag is None and len(self.report.entries) == notes and len(self.stack_cache) < MAX_CACHED_STACKS:
            # cache only stacks without a bag and without an entry in the report
            self.stack_cache[item, quantity, properties] = stack
        return stack

    def _read_bag_id(self, noun: str, row_id: object, raw: object, waiting: list[str]) -> str | None:
        bag_id = None if raw is None else self.guids[raw]
        if bag_id == ZERO_GUID or raw is None:
            return None
        if bag_id is None or bag_id not in self.bags:
            self.report.note(noun, row_id, f"its bag {show_id(raw)} is missing: imported without it")
            return None
        if bag_id in self.used_bags:
            self.report.note(noun, row_id, f"its bag {bag_id} is in another slot or in itself: imported without it")
            return None
        self.used_bags.add(bag_id)
        waiting.append(bag_id)
        return bag_id

    def _find_last_slot(self, place: str) -> int:
        """Return the number of the last slot of the inventory, the bank or a bag."""
        if place == INVENTORY:
            return self.settings.inventory_slots - 1
        return self.settings.bank_slots - 1 if place == BANK else values.clamp_bag_size(self.bags[place].size) - 1

    def _parse_slot(self, raw: object, last: int) -> int | None:
        """Parse a slot number. Slots beyond the last one are kept up to MAX_SLOTS, which limits the size of answers."""
        return values.parse_number(raw, 0, max(last, values.MAX_SLOTS - 1))

    # --- spells and variables --------------------------------------------------------------------------------------

    def _read_spells(self, rows: Iterable[Row]) -> dict[int, str]:
        known: dict[int, str] = {}
        for _, row_id, slot, raw in rows:
            spell_id = self.guids[raw]
            if spell_id is None or self._parse_slot(slot, self.settings.spell_slots - 1) is None:
                self.report.skip("spells", row_id, f"invalid values: slot {slot!r}, spell {show_id(raw)}")
            elif slot in known:
                self.report.skip("spells", row_id, f"slot {slot} is used by another row")
            else:
                known[slot] = spell_id
                if self.spells and spell_id not in self.spells:
                    self.report.note("spells", row_id, f"its spell {spell_id} is not in the game data: kept")
                if slot >= self.settings.spell_slots:
                    self.report.note("spells", row_id, f"slot {slot} is beyond the setting spell_slots: kept")
        if known:
            self.report.count("spells").taken += len(known)
        return known

    def _read_variables(self, raw: RawPlayer) -> dict[str, int | bool]:
        found: dict[str, int | bool] = {}
        seen: set[str] = set()
        for noun, rows in (("variables", raw.variables), ("switches", raw.switches)):
            for _, row_id, raw_id, raw_value in rows:
                variable_id = self.guids[raw_id]
                declared = self.types.get(variable_id or "")
                value = values.parse_flag(raw_value) if noun == "switches" else _parse_variable(raw_value, declared)
                if variable_id is None or variable_id in seen:
                    self.report.skip(noun, row_id, "its variable's id is not a guid, or is a duplicate")
                elif value is None:
                    self.report.skip(noun, row_id, NO_VALUE)
                elif declared and declared != find_type(value):
                    self.report.skip(noun, row_id, describe_mismatch(find_type(value), declared))
                else:
                    seen.add(variable_id)
                    self.report.count(noun).taken += 1
                    if isinstance(value, float | str):
                        self._add_text(raw.player[0], variable_id, value)
                    else:
                        found[variable_id] = value
                    if declared is None:
                        self.report.note(noun, row_id, f"its variable {variable_id} is not in the game data: kept")
        return found

    def _add_text(self, own_id: str, variable_id: str, value: float | str) -> None:
        self.texts.append(AssignedText(own_id, variable_id, find_type(value), msgspec.json.encode(value).decode()))

    def add_missing_texts(self, own_id: str, rows: Iterable[Row], known: Collection[tuple[str, str]]) -> None:
        """Add the text and fractions that an existing player does not have. Count them as imported, not as existing."""
        seen: set[str] = set()
        for _, _, raw_id, raw_value in rows:
            variable_id = self.guids[raw_id]
            declared = self.types.get(variable_id or "")
            value = _parse_variable(raw_value, declared)
            if variable_id is None or variable_id in seen or (own_id, variable_id) in known:
                continue
            if isinstance(value, float | str) and declared in (None, find_type(value)):
                seen.add(variable_id)
                self._add_text(own_id, variable_id, value)
                self.report.count("variables").taken += 1
                self.report.count("variables").there -= 1

    # --- the record ------------------------------------------------------------------------------------------------

    def _read_player(self, row: Row, slots: Mapping[SlotAddress, Stack], pattern: re.Pattern[str]) -> Player:
        own_id, user_id, raw_name, map_id, x, y, z, direction, sprite, face, level, exp = row[:12]
        class_id, gender, points, vitals, base, allocated, equipment, online, created, played = row[12:22]
        note = partial(self.report.note, "players", own_id)
        read_number, read_numbers = partial(_read_number, note), partial(_read_numbers, note)
        level = read_number("Level", level, 1, 1)
        kind = self.guids[class_id] or ZERO_GUID
        worn = _read_equipment(note, equipment, slots)
        worn_items = [slots[INVENTORY, slot].item_id for slot in worn if slot >= 0]
        self.report.count("players").taken += 1
        return Player(
            id=own_id,
            user_id=self.guids[user_id] or ZERO_GUID,
            name=read_name(own_id, raw_name, pattern, note),
            max_vitals=self.vitals.compute_max(kind, level, worn_items),
            level=level,
            exp=read_number("Exp", exp, 0, 0, values.MAX_LONG),
            experience_to_next_level=self.vitals.compute_exp_to_next(kind, level),
            class_id=kind,
            gender=read_number("Gender", gender, 0, 0, 1),
            vitals=read_numbers("Vitals", vitals, VITAL_COUNT),
            base_stats=read_numbers("BaseStats", base, values.STAT_COUNT),
            stat_point_allocations=read_numbers("StatPointAllocations", allocated, values.STAT_COUNT),
            stat_points=read_number("StatPoints", points, 0, -values.MAX_INT),
            equipment=worn,
            map_id=self.guids[map_id] or ZERO_GUID,
            x=read_number("X", x, 0, -values.MAX_INT),
            y=read_number("Y", y, 0, -values.MAX_INT),
            z=read_number("Z", z, 0, -values.MAX_INT),
            dir=read_number("Dir", direction, 0, 0, MAX_DIRECTION),
            sprite=values.clean_text(sprite),
            face=values.clean_text(face),
            created_at=values.parse_time(created) or 0,
            play_time_seconds=values.parse_number(played, 0, values.MAX_LONG) or 0,
            last_online=values.parse_time(online),
        )


def _read_number(note: Note, name: str, raw: object, usual: int, least: int, most: int = values.MAX_INT) -> int:
    found = values.parse_number(raw, least, most)
    if found is None:
        note(f"its {name} is {raw!r}: changed to {usual}")
    return usual if found is None else found


def _read_numbers(note: Note, name: str, raw: Any, count: int) -> tuple[int, ...]:  # noqa: ANN401 - any column value
    found = values.parse_numbers(raw, count)
    if found is None:
        note(f"its {name} cannot be read: changed to 0")
    return found or (0,) * count


def _read_equipment(note: Note, raw: Any, slots: Mapping[SlotAddress, Stack]) -> tuple[int, ...]:  # noqa: ANN401 - any column value
    count = len(NOTHING_EQUIPPED)
    found = values.parse_numbers(raw, count, -1)
    if found is None:
        note("its Equipment cannot be read: imported without equipment")
        return NOTHING_EQUIPPED
    if any(slot >= 0 for slot in (values.parse_numbers(raw, MAX_EQUIPMENT, -1) or ())[count:]):
        note(f"it has more than {count} equipped items: the others stay in its inventory")
    worn = tuple(slot if slot >= 0 and (INVENTORY, slot) in slots else -1 for slot in found)
    if any(slot >= 0 and slot != kept for slot, kept in zip(found, worn, strict=True)):
        note("an equipped slot is empty: unequipped")
    return worn


def _parse_variable(raw: object, declared: str | None) -> int | bool | float | str | None:
    """Parse a variable's value. An integer of a variable that is declared as a number becomes a fraction."""
    value = values.parse_scalar(raw)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if value is not None and is_integer and declared == NUMBER else value
