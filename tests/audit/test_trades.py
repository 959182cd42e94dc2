"""Undo of an item that a game server took: refused if another player gained it at about that time, unless forced."""

from typing import Any

import pytest

from expectations import refused, unchanged
from game_server import put_player, stack
from gamekeeper.game.players import undo_items
from gamekeeper.ground.instants import MINUTE_MS
from people import ANN, ANNS_POUCH, ARROW, BOB, COIN, POUCH, SWORD
from undos import CHANGES, EMPTY, items, last, number_of, read_slot, row, undone
from world import MakeWorld, World

BUFFS = [1, 2, 0, 0, 0]


def take_swords(world: World, **more: Any) -> int:
    """Let a game server give Ann a sword and take it; return the number of the second change."""
    assert put_player(world, ANN.id, {"Items": [stack(7, SWORD.id, **more)]}).status == 200
    assert put_player(world, ANN.id, {"Items": [{"Slot": 7}]}).status == 200
    return last(world)


def get_sword(world: World, slot: int = 8, **more: Any) -> int:
    assert put_player(world, BOB.id, {"Items": [stack(slot, SWORD.id, **more)]}).status == 200
    return last(world)


def require_trade_refusal(world: World, seq: int, part: str) -> None:
    with unchanged(world):
        for query in ("", "?dryRun=true"):
            refused(undone(world, seq, query), 409, "item_moved_on", part)


@pytest.mark.both_engines
def test_gain_before_the_loss_counts_also_when_the_game_deletes_the_player(world: World) -> None:
    for slot, bobs in ((7, 8), (9, 10)):
        assert put_player(world, ANN.id, {"Items": [stack(slot, SWORD.id)]}).status == 200
        got = get_sword(world, bobs)
        if slot == 7:
            assert put_player(world, ANN.id, {"Items": [{"Slot": slot}]}).status == 200
            require_trade_refusal(world, last(world), f"by change {got}")
    assert world.call("DELETE", f"/api/link/v1/players/{ANN.id}", by="Server").status == 200
    deleted = next(each["Seq"] for each in world.get(CHANGES).json["Changes"] if each["Kind"] == "player_deleted")
    require_trade_refusal(world, deleted, "Bob gained the same item by change")
    assert undone(world, deleted, "?force=true").status == 200


def test_forced_undo_gives_the_item_back_and_its_undo_is_refused_alike(world: World) -> None:
    took = take_swords(world)
    got = get_sword(world)
    assert row(world, took)["Undoable"]
    require_trade_refusal(world, took, f"Bob gained the same item by change {got} within 10 minutes")
    assert undone(world, got).status == 200
    assert undone(world, took, "?dryRun=true").status == 200
    got = get_sword(world)
    assert undone(world, took, "?dryRun=true&force=true").status == 200
    assert undone(world, took, "?force=true").status == 200
    assert read_slot(world, "inventory", 7) == (SWORD.id, 1)
    assert undone(world, last(world)).status == 200
    require_trade_refusal(world, last(world), "Bob gained the same item")


def test_undo_of_an_undo_of_a_games_gift_is_not_refused(world: World) -> None:
    given = number_of(world, put_player(world, ANN.id, {"Items": [stack(7, SWORD.id)]}))
    get_sword(world)
    assert undone(world, given).status == 200
    assert undone(world, last(world)).status == 200


def test_item_with_other_buffs_is_another_item(world: World) -> None:
    took = take_swords(world, StatBuffs=BUFFS)
    get_sword(world, slot=7)
    get_sword(world, slot=8, StatBuffs=[2, 1, 0, 0, 0])
    assert undone(world, took, "?dryRun=true").status == 200
    get_sword(world, slot=9, StatBuffs=BUFFS)
    require_trade_refusal(world, took, "Bob gained")


def test_only_gains_of_the_item_over_the_link_count(world: World) -> None:
    """A gift by the API, another item, and a move within one player's slots are no trade."""
    took = take_swords(world)
    assert items(world, "give", SWORD.id, name="Bob").status == 200
    assert put_player(world, BOB.id, {"Items": [stack(8, ARROW.id, 5)]}).status == 200
    get_sword(world, slot=10)
    world.sql("UPDATE ledger SET at = at - $2 WHERE seq = $1", last(world), 11 * MINUTE_MS)
    assert put_player(world, BOB.id, {"Items": [{"Slot": 10}, stack(11, SWORD.id)]}).status == 200
    assert undone(world, took).status == 200
    assert items(world, "take", COIN.id, 5).status == 200  # what the API takes is no part of a trade, either
    took = last(world)
    assert put_player(world, BOB.id, {"Items": [stack(14, COIN.id, 5)]}).status == 200
    assert undone(world, took).status == 200


@pytest.mark.both_engines
def test_only_gains_within_ten_minutes_or_the_set_time_count(make_world: MakeWorld) -> None:
    world = make_world()
    took = take_swords(world)
    got, at = get_sword(world), world.ledger()[-1].at
    cases = (
        (None, ((-11, 200), (-9, 409), (9, 409), (11, 200))),
        (0, ((20, 200), (1, 200))),
        (30, ((20, 409), (31, 200))),
    )
    for trade_minutes, expected in cases:
        asked = world if trade_minutes is None else make_world(trade_minutes=trade_minutes)
        for minutes, status in expected:
            world.sql("UPDATE ledger SET at = $2 WHERE seq = $1", got, at + minutes * MINUTE_MS)
            assert undone(asked, took, "?dryRun=true").status == status


def test_bag_that_another_player_has_is_not_given_back(world: World) -> None:
    took = number_of(world, put_player(world, ANN.id, {"Items": [{"Slot": 3}]}))
    gained = {"Items": [stack(8, POUCH.id, BagId=ANNS_POUCH)], "Bags": [EMPTY]}
    assert put_player(world, BOB.id, gained).status == 200
    refused(undone(world, took, "?force=true"), 409, "undo_conflict", "belongs to a player")


def test_empty_bag_that_another_player_gained_is_found_whatever_its_id(world: World) -> None:
    """A bag that the game server reports without an id gets a new id; it is found nevertheless."""
    assert put_player(world, ANN.id, {"Items": [stack(7, POUCH.id)]}).status == 200
    took = number_of(world, put_player(world, ANN.id, {"Items": [{"Slot": 7}]}))
    assert put_player(world, BOB.id, {"Items": [stack(8, POUCH.id)]}).status == 200
    require_trade_refusal(world, took, f"Bob gained the same item by change {last(world)}")


@pytest.mark.both_engines
def test_undo_is_refused_when_too_many_changes_must_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_items, "WINDOW_CHANGES", 2)
    monkeypatch.setattr(undo_items, "MAX_WINDOWS", 3)
    took = take_swords(world)
    for level in range(2, 6):
        assert world.post("/api/v1/players/Bob/level", {"level": level}).status == 200
    world.sql("UPDATE ledger SET at = at - $2 WHERE seq < $1", took - 1, 20 * MINUTE_MS)
    assert undone(world, took, "?dryRun=true").status == 200
    for level in range(6, 9):
        assert world.post("/api/v1/players/Bob/level", {"level": level}).status == 200
    require_trade_refusal(world, took, "more than 6 changes")
