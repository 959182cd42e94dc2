"""Lists without a limit of the API: an answer of more than MOST_AT_ONCE rows goes through the gate, in pieces."""

import pytest
from good_requests import EXAMPLES, furnish

import people
from gamekeeper.http.contract.operation import OF_ONE_OWNER, READ, is_list
from gamekeeper.http.server import paging
from world import MakeWorld, World

PLAYER = "/api/v1/players/Ann"


def test_bank_of_more_than_a_thousand_slots_goes_through_the_gate(make_world: MakeWorld, entered: list[str]) -> None:
    small, large = f"{PLAYER}/items/inventory", f"{PLAYER}/items/bank"
    world = make_world(bank_slots=1001)
    assert len(world.get(large).json) == 1001
    assert len(entered) == 1
    items = world.get(f"{PLAYER}/items").json
    assert (len(items["inventory"]), len(items["bank"]), len(entered)) == (35, 1001, 2)
    assert [each["Slot"] for each in items["bank"]] == [*range(1001)]
    past = world.get("/api/keeper/v1/players/Ann/items").json
    assert (len(past["bank"]), len(entered)) == (1001, 3)
    assert len(world.get(small).json) == 35
    assert len(entered) == 3


def test_bags_count_for_the_rows_of_all_items(world: World, entered: list[str]) -> None:
    for number in range(2):
        world.insert("bags", id=people.guid(0x6000 + number), player_id=people.ANN.id, slot_count=1000)
    past = world.get("/api/keeper/v1/players/Ann/items").json
    assert sum(len(each["Slots"]) for each in past["bags"]) >= 2000
    assert len(entered) == 1


def test_list_in_pieces_is_the_list_at_once(world: World, entered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(world)
    world.compares = False
    of_owners = [
        each
        for each in EXAMPLES
        if each.route.access is READ and is_list(each.route.answer) and each.route.rows is OF_ONE_OWNER
    ]
    whole = [world.get(each.path) for each in of_owners]
    entered.clear()
    monkeypatch.setattr(paging, "MOST_AT_ONCE", -1)
    monkeypatch.setattr(paging, "PIECE_ROWS", 2)
    seen = set[str]()
    for example, before in zip(of_owners, whole, strict=True):
        entered.clear()
        after = world.get(example.path)
        assert (after.status, after.json) == (before.status, before.json), example.path
        if after.status == 200:
            seen.add(example.route.name)
            assert entered, example.path
    assert seen >= {each.route.name for each in of_owners} - {"get_bag"}
