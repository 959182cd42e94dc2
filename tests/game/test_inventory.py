"""The rules of slots and stacks, and the promise that a replay of the ledger equals the tables."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import game_server
import people
from gamekeeper.game import inventory
from gamekeeper.game.inventory import BANK, INVENTORY, NO_BUFFS, Capacity, InventoryChange, SlotAddress, Stack
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.refusals import BagNotEmpty, InventoryFull, NotEnoughItems, Refusal
from gamekeeper.store.catalogue import CatalogueItem
from world import Answer, World

ROOM = Capacity(inventory=4, bank=3, stack=10)
COIN = CatalogueItem("coin", "Coin", stackable=True, max_stack=None, bag_slots=0, icon=None)
ARROW = CatalogueItem("arrow", "Arrow", stackable=True, max_stack=3, bag_slots=0, icon=None)
SWORD = CatalogueItem("sword", "Sword", stackable=False, max_stack=None, bag_slots=0, icon=None)
POUCH = CatalogueItem("pouch", "Pouch", stackable=False, max_stack=None, bag_slots=2, icon=None)
KINDS = {item.id: item for item in (COIN, ARROW, SWORD, POUCH)}
BAG = "bag"
SIZES = {INVENTORY: ROOM.inventory, BANK: ROOM.bank, BAG: 2}


def ids() -> Callable[[], str]:
    numbers = count()
    return lambda: f"new {next(numbers)}"


@st.composite
def worlds(draw: st.DrawFn) -> dict[SlotAddress, Stack]:
    """Generate valid slots: no stack above its limit, a bag for every pouch, and items in about half of the bags."""
    slots: dict[SlotAddress, Stack] = {}
    for place in (INVENTORY, BANK):
        for slot in range(SIZES[place]):
            item = draw(st.sampled_from([None, *KINDS.values()]))
            if item:
                quantity = draw(st.integers(1, inventory.find_stack_limit(item, ROOM)))
                bag_id = f"{place} {slot}" if item is POUCH else None
                buffs = draw(st.sampled_from([NO_BUFFS, (1, 0, 0, 0, 0)]))
                slots[place, slot] = Stack(item.id, quantity, bag_id, buffs)
    if draw(st.booleans()):
        slots[INVENTORY, draw(st.integers(0, ROOM.inventory - 1))] = Stack(POUCH.id, 1, BAG)
        slots[BAG, 1] = Stack(COIN.id, draw(st.integers(1, ROOM.stack)))
    return slots


kinds = st.sampled_from(list(KINDS.values()))
quantities = st.integers(1, 80)


def bags_of(slots: inventory.Slots) -> dict[str, int]:
    return {stack.bag_id: 2 for stack in slots.values() if stack.bag_id}


def sums(slots: inventory.Slots) -> Counter[str]:
    total: Counter[str] = Counter()
    for stack in slots.values():
        total[stack.item_id] += stack.quantity
    return total


def sound(slots: inventory.Slots) -> None:
    for (place, slot), stack in slots.items():
        assert 0 <= slot < SIZES.get(place, 2)
        assert 1 <= stack.quantity <= inventory.find_stack_limit(KINDS[stack.item_id], ROOM)
        assert (stack.bag_id is not None) == (stack.item_id == POUCH.id)
    held = [stack.bag_id for stack in slots.values() if stack.bag_id]
    assert len(set(held)) == len(held)


def given_to(slots: inventory.Slots, item: CatalogueItem, quantity: int, *, overflow: bool) -> InventoryChange:
    return inventory.give(slots, item, quantity, ROOM, overflow=overflow, new_id=ids())


# --- give items ----------------------------------------------------------------------------------------------------


@given(slots=worlds(), item=kinds, quantity=quantities, overflow=st.booleans())
def test_give_adds_exactly_the_quantity(
    slots: dict[SlotAddress, Stack], item: CatalogueItem, quantity: int, *, overflow: bool
) -> None:
    before = dict(slots)
    with suppress(InventoryFull):
        outcome = given_to(slots, item, quantity, overflow=overflow)
        after = inventory.apply_slot_changes(slots, outcome.changed_slots)
        assert sums(after) == sums(slots) + Counter({item.id: quantity})
        sound(after)
        assert {place for place, _ in outcome.changed_slots} <= ({INVENTORY, BANK} if overflow else {INVENTORY})
        # the outcome names no slot that stays the same, such as a full stack
        assert all(stack != slots.get(spot) for spot, stack in outcome.changed_slots.items())
        assert set(bags_of(after)) - set(bags_of(slots)) == set(outcome.new_bags)
        assert outcome.removed_bags == {}
        others = {spot: stack for spot, stack in slots.items() if stack.item_id != item.id}
        assert others.items() <= after.items()
    assert slots == before


def space(slots: inventory.Slots, item: CatalogueItem, place: str) -> int:
    """Return how many more of an item fit into the inventory or bank."""
    most = inventory.find_stack_limit(item, ROOM)
    held = [stack.quantity for (where, _), stack in slots.items() if where == place and stack.item_id == item.id]
    free = SIZES[place] - sum(1 for where, _ in slots if where == place)
    return free * most + (sum(most - quantity for quantity in held) if item.stackable else 0)


@given(slots=worlds(), item=kinds, quantity=quantities, overflow=st.booleans())
def test_give_is_refused_exactly_when_the_items_do_not_fit(
    slots: dict[SlotAddress, Stack], item: CatalogueItem, quantity: int, *, overflow: bool
) -> None:
    room = space(slots, item, INVENTORY) + (space(slots, item, BANK) if overflow else 0)
    if quantity <= room:
        after = inventory.apply_slot_changes(slots, given_to(slots, item, quantity, overflow=overflow).changed_slots)
        moved = inventory.count_item(after, item.id).bank - inventory.count_item(slots, item.id).bank
        assert moved == max(0, quantity - space(slots, item, INVENTORY))
    else:
        with pytest.raises(InventoryFull):
            given_to(slots, item, quantity, overflow=overflow)


@given(worlds(), st.sampled_from([COIN, ARROW]), quantities)
def test_give_fills_stacks_in_slot_order_before_free_slots(
    slots: dict[SlotAddress, Stack], item: CatalogueItem, quantity: int
) -> None:
    with suppress(InventoryFull):
        after = inventory.apply_slot_changes(slots, given_to(slots, item, quantity, overflow=False).changed_slots)
        mine = [spot for spot in sorted(after) if spot[0] == INVENTORY and after[spot].item_id == item.id]
        old, new = [spot for spot in mine if spot in slots], [spot for spot in mine if spot not in slots]
        for spots in (old, new):  # before and after the operation, only the last stack of an item may be partly filled
            partly = [spot for spot in spots if after[spot].quantity < inventory.find_stack_limit(item, ROOM)]
            assert all(after[spot] == slots.get(spot) for spot in partly[1:])
        assert not new or all(after[spot].quantity == inventory.find_stack_limit(item, ROOM) for spot in old)
        free = [slot for slot in range(ROOM.inventory) if (INVENTORY, slot) not in slots]
        assert [slot for _, slot in new] == free[: len(new)]


def test_give_does_not_stack_on_a_former_bag() -> None:
    slots = {(INVENTORY, 0): Stack("pouch", 1, BAG)}
    outcome = given_to(slots, POUCH._replace(stackable=True, bag_slots=0), 2, overflow=False)
    assert outcome.changed_slots == {(INVENTORY, 1): Stack("pouch", 2)}


# --- take items ----------------------------------------------------------------------------------------------------


def empty(slots: inventory.Slots, stack: Stack) -> bool:
    return stack.bag_id is None or not any(place == stack.bag_id for place, _ in slots)


@given(worlds(), kinds, st.one_of(st.integers(1, 3), st.integers(1, 40)))
def test_take_removes_exactly_the_quantity_or_nothing(
    slots: dict[SlotAddress, Stack], item: CatalogueItem, quantity: int
) -> None:
    before = dict(slots)
    mine = [stack for (place, _), stack in slots.items() if place == INVENTORY and stack.item_id == item.id]
    held = sum(stack.quantity for stack in mine)
    free_to_go = sum(stack.quantity for stack in mine if empty(slots, stack))
    if quantity > held:
        with pytest.raises(NotEnoughItems, match=rf"has only {held} of this item .* not {quantity}\."):
            inventory.take(slots, bags_of(slots), item.id, quantity)
    elif quantity > free_to_go:
        with pytest.raises(BagNotEmpty):
            inventory.take(slots, bags_of(slots), item.id, quantity)
    else:
        outcome = inventory.take(slots, bags_of(slots), item.id, quantity)
        after = inventory.apply_slot_changes(slots, outcome.changed_slots)
        assert sums(after) + Counter({item.id: quantity}) == sums(slots)
        assert {place for place, _ in outcome.changed_slots} == {INVENTORY}
        assert set(bags_of(slots)) - set(bags_of(after)) == set(outcome.removed_bags)
        assert set(outcome.removed_bags.values()) <= {2}
        sound(after)
    assert slots == before


@given(worlds(), st.sampled_from([COIN, ARROW, SWORD]), st.integers(1, 40))
def test_take_empties_the_lowest_slots_first(
    slots: dict[SlotAddress, Stack], item: CatalogueItem, quantity: int
) -> None:
    with suppress(NotEnoughItems):
        outcome = inventory.take(slots, bags_of(slots), item.id, quantity)
        mine = sorted(spot for spot, stack in slots.items() if spot[0] == INVENTORY and stack.item_id == item.id)
        assert list(outcome.changed_slots) == mine[: len(outcome.changed_slots)]
        assert all(outcome.changed_slots[spot] is None for spot in list(outcome.changed_slots)[:-1])


@given(worlds(), kinds, quantities)
def test_take_after_give_restores_the_counts(
    slots: dict[SlotAddress, Stack], item: CatalogueItem, quantity: int
) -> None:
    with suppress(InventoryFull):
        after = inventory.apply_slot_changes(slots, given_to(slots, item, quantity, overflow=False).changed_slots)
        left = inventory.apply_slot_changes(
            after, inventory.take(after, bags_of(after), item.id, quantity).changed_slots
        )
        assert sums(left) == sums(slots)
        for each in KINDS:
            assert inventory.count_item(left, each) == inventory.count_item(slots, each)


@given(worlds(), st.lists(st.tuples(st.booleans(), kinds, st.integers(1, 3), st.booleans()), max_size=12))
def test_any_sequence_keeps_slots_valid_and_sums_exact(
    slots: dict[SlotAddress, Stack], steps: list[tuple[bool, CatalogueItem, int, bool]]
) -> None:
    new_id, expected = ids(), sums(slots)
    for gives, item, quantity, overflow in steps:
        with suppress(Refusal):
            if gives:
                outcome = inventory.give(slots, item, quantity, ROOM, overflow=overflow, new_id=new_id)
            else:
                outcome = inventory.take(slots, bags_of(slots), item.id, quantity)
            expected[item.id] += quantity if gives else -quantity
            slots = inventory.apply_slot_changes(slots, outcome.changed_slots)
    assert sums(slots) == +expected
    sound(slots)


# --- counts and limits of stacks -----------------------------------------------------------------------------------


def test_counts_exclude_items_in_bags() -> None:
    slots = {(INVENTORY, 0): Stack("coin", 2), (BANK, 1): Stack("coin", 3), (BAG, 0): Stack("coin", 4)}
    assert inventory.count_item(slots, "coin") == (2, 3)
    assert inventory.count_item(slots, "arrow") == (0, 0)


@pytest.mark.parametrize(("item", "most"), [(COIN, 10), (ARROW, 3), (SWORD, 1), (POUCH, 1)])
def test_stack_limit_of_a_slot(item: CatalogueItem, most: int) -> None:
    assert inventory.find_stack_limit(item, ROOM) == most


# --- the replayed ledger equals the tables -------------------------------------------------------------------------


@dataclass
class Replay:
    """The content of the tables of players, computed from the ledger alone."""

    slots: dict[tuple[str, str, int], tuple[object, ...]] = field(default_factory=dict[Any, Any])
    bags: dict[tuple[str, str], int] = field(default_factory=dict[Any, Any])
    spells: dict[tuple[str, int], str] = field(default_factory=dict[Any, Any])
    variables: dict[tuple[str, str], object] = field(default_factory=dict[Any, Any])
    records: dict[str, dict[str, object]] = field(default_factory=dict[Any, Any])

    def play(self, player: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
        if after is None:
            self._forget(player)
            return
        for bag in (before or {}).get("Bags", []):
            if bag["SlotCount"] is not None:
                self.bags.pop((player, bag["Id"]))
        for place, name in ((INVENTORY, "Items"), (BANK, "Bank")):
            self._set_slots(player, place, after.pop(name, []))
        for bag in after.pop("Bags", []):
            self._set_slots(player, bag["Id"], bag["Slots"])
            if bag["SlotCount"] is not None:
                self.bags[player, bag["Id"]] = bag["SlotCount"]
        for spell in after.pop("Spells", []):
            self.spells.pop((player, spell["Slot"]), None)
            if spell["SpellId"] != ZERO_GUID:
                self.spells[player, spell["Slot"]] = spell["SpellId"]
        for variable in after.pop("Variables", []):
            self.variables[player, variable["VariableId"]] = variable["Value"]
        self.records.setdefault(player, {}).update(after)

    def _set_slots(self, player: str, place: str, slots: list[dict[str, Any]]) -> None:
        for each in slots:
            self.slots.pop((player, place, each["Slot"]), None)
            if each["ItemId"] != ZERO_GUID:
                stack = (each["ItemId"], each["Quantity"], each["BagId"], each["StatBuffs"])
                self.slots[player, place, each["Slot"]] = stack

    def _forget(self, player: str) -> None:
        del self.records[player]
        tables: list[Any] = [self.slots, self.bags, self.spells, self.variables]
        for table in tables:
            for key in [key for key in table if key[0] == player]:
                del table[key]


def replayed(world: World) -> Replay:
    replay = Replay()
    for row in world.ledger():
        if row.player_id is not None:
            replay.play(row.player_id, json.loads(row.before or "null"), json.loads(row.after or "null"))
    return replay


def as_stored(world: World) -> Replay:
    slots = world.sql("SELECT player_id, place, slot, item_id, quantity, bag_id, buffs FROM slots")
    variables = world.sql("SELECT player_id, variable_id, type, value FROM player_variables")
    documents = world.sql("SELECT id, document FROM players")
    return Replay(
        slots={(row[0], row[1], row[2]): (row[3], row[4], row[5], json.loads(row[6])) for row in slots},
        bags={(row[0], row[1]): row[2] for row in world.sql("SELECT player_id, id, slot_count FROM bags")},
        spells={(row[0], row[1]): row[2] for row in world.sql("SELECT player_id, slot, spell_id FROM known_spells")},
        variables={(row[0], row[1]): bool(row[3]) if row[2] == "Boolean" else row[3] for row in variables},
        records={row[0]: json.loads(row[1]) for row in documents},
    )


def same(replay: Replay, stored: Replay) -> None:
    for record in replay.records.values():
        record.pop("LastOnline", None)  # LastOnline is left out: presence sets it without a ledger row
    assert replay == stored
    assert {place for _, place, _ in stored.slots} <= {INVENTORY, BANK, *(bag for _, bag in stored.bags)}
    assert repr(sorted(replay.variables.items())) == repr(
        sorted(stored.variables.items())
    )  # the variables are compared as text, because 1 and true must differ here


ITEM_IDS = (people.COIN.id, people.ARROW.id, people.SWORD.id, people.POUCH.id)
item_ids = st.sampled_from(ITEM_IDS)
amounts = st.integers(1, 150)
few_slots = st.integers(0, 4)
spell_ids = st.sampled_from([people.FIREBALL.id, people.HEAL.id])
values = st.one_of(
    st.tuples(st.sampled_from([people.KILLS.id, people.UNSET.id]), st.integers(-2, 2)),
    st.tuples(st.sampled_from([people.TUTORIAL.id, people.UNSET_FLAG.id]), st.booleans()),
)
reported = st.lists(
    st.builds(game_server.stack, few_slots, st.one_of(st.just(ZERO_GUID), item_ids), st.sampled_from([0, 1, 1, 1, 7])),
    max_size=3,
    unique_by=lambda slot: slot["Slot"],
)
BAG_IDS = ("first", "second")  # placeholders for the ids of the two bags of the player in a generated example


@st.composite
def reports(draw: st.DrawFn) -> dict[str, Any]:
    """Generate a game's report: slots, bags (filled, moved, nested or dropped), spells, variables, progress."""
    body: dict[str, Any] = {"Items": draw(reported), "Bank": draw(reported), "Level": draw(st.integers(1, 3))}
    for slot in body["Items"]:
        if slot["ItemId"] == people.POUCH.id:
            slot["BagId"] = draw(st.sampled_from([None, *BAG_IDS]))
    named = {slot["BagId"] for slot in body["Items"] if slot.get("BagId")}
    body["Bags"] = [
        {"Id": each, "SlotCount": draw(st.integers(5, 6)), "Slots": draw(reported)} for each in sorted(named)
    ]
    body["Spells"] = [{"Slot": draw(few_slots), "SpellId": draw(st.one_of(st.just(ZERO_GUID), spell_ids))}]
    body["Variables"] = [{"VariableId": key, "Value": value} for key, value in [draw(values)]]
    return body


Step = tuple[str, Any]
steps: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("give"), st.tuples(item_ids, amounts, st.booleans())),
    st.tuples(st.just("take"), st.tuples(item_ids, st.integers(1, 3))),
    st.tuples(st.just("teach"), spell_ids),
    st.tuples(st.just("forget"), spell_ids),
    st.tuples(st.just("assign"), values),
    st.tuples(st.just("report"), reports()),
    st.tuples(st.just("report"), reports()),
    st.tuples(st.just("delete"), st.none()),
)


class Newcomer:
    """The player of one generated example, with its own bag ids."""

    numbers = count()

    def __init__(self, world: World) -> None:
        self.number = next(self.numbers)
        self.world = world
        self.id, self.body = game_server.newcomer(self.number)
        self.bags = {name: people.guid(0x10_0000 + 2 * self.number + n) for n, name in enumerate(BAG_IDS)}
        carried = [game_server.stack(slot, item_id) for slot, item_id in enumerate(ITEM_IDS)]
        filled = {"Id": self.bags["first"], "SlotCount": 5, "Slots": [game_server.stack(2, people.COIN.id, 9)]}
        whole = {"Items": [*carried[:3], {**carried[3], "BagId": filled["Id"]}], "Bags": [filled]}
        assert game_server.put_player(world, self.id, self.body | whole).status == 200

    def go(self, step: Step) -> Answer:
        what, told = step
        path = f"/api/v1/players/{self.id}"
        match what:
            case "give":
                body = {"itemid": told[0], "quantity": told[1], "bankoverflow": told[2]}
                return self.world.post(f"{path}/items/give", body)
            case "take":
                return self.world.post(f"{path}/items/take", {"itemid": told[0], "quantity": told[1]})
            case "teach" | "forget":
                return self.world.post(f"{path}/spells/{what}", {"spellid": told})
            case "assign":
                return self.world.post(f"{path}/variables/{told[0]}", {"value": told[1]})
            case "report":
                return game_server.put_player(self.world, self.id, self._with_bag_ids(told) | self.body)
            case _:
                return self.world.call("DELETE", f"{game_server.LINK}/players/{self.id}")

    def _with_bag_ids(self, report: dict[str, Any]) -> dict[str, Any]:
        spelt = json.dumps(report)
        for name, bag_id in self.bags.items():
            spelt = spelt.replace(f'"{name}"', f'"{bag_id}"')
        return json.loads(spelt)


@settings(
    max_examples=30,
    deadline=None,
    # Hypothesis must accept slow examples (each creates a player) and one database for all examples
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(told=st.lists(steps, min_size=4, max_size=12))
def test_replayed_ledger_equals_the_tables(world: World, told: list[Step]) -> None:
    newcomer = Newcomer(world)
    for step in told:
        assert newcomer.go(step).status < 500
    same(replayed(world), as_stored(world))


def test_replay_is_not_empty(world: World) -> None:
    """The replayed ledger contains all players of people.py, because they are created through the write path."""
    same(replayed(world), as_stored(world))
    stored = as_stored(world)
    assert (len(stored.slots), len(stored.bags), len(stored.spells)) == (6, 1, 1)
    assert (len(stored.variables), len(stored.records)) == (2, 3)


def test_place_names_in_the_database_are_inventory_and_bank(world: World) -> None:
    bags = {bag for _, bag in as_stored(world).bags}
    assert {place for _, place, _ in as_stored(world).slots} - bags == {"inventory", "bank"}
