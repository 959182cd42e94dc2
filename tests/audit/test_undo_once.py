"""A change is never undone twice: not through a chain of undos, and not together with a report of a game server."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from expectations import refused
from findings import errors
from game_server import put_player, stack
from gamekeeper.game.accounts import erasures
from gamekeeper.game.audit import retention, undo
from gamekeeper.game.players import undo_items
from gamekeeper.store.audit import history as rows
from people import ANN, ARROW, BOB, COIN, POUCH, SWORD, USER_IDS, guid
from tidying import tidy
from undos import conflict, items, last, number_of, read_slot, row, undone
from world import MakeWorld, World

BOBS = "/api/v1/players/Bob"
NOTHING_ON = [-1, -1, -1, -1, -1]


def total(world: World, item: str, name: str = "Bob") -> int:
    found = world.get(f"/api/v1/players/{name}/items").json
    return sum(each["Quantity"] for place in ("inventory", "bank") for each in found[place] if each["ItemId"] == item)


def undo_of(world: World, seq: int) -> int:
    """Undo a change and return the number of the undo."""
    undone(world, seq).accepted()
    return last(world)


def test_undo_is_not_reactivated_beside_another_undo(world: World) -> None:
    items(world, "give", ARROW.id, 10, "Bob")
    taken = number_of(world, items(world, "take", ARROW.id, 5, "Bob"))
    back = undo_of(world, taken)
    away = undo_of(world, back)
    again = undo_of(world, taken)
    assert (row(world, away)["Undoable"], row(world, again)["Undoable"]) == (False, True)
    refused(undone(world, away), 409, "already_undone", f"Change {taken} was already undone by change {again}")
    assert total(world, ARROW.id) == 10
    undo_of(world, again)
    assert row(world, away)["Undoable"]
    undo_of(world, away)
    assert (total(world, ARROW.id), row(world, taken)["UndoneBy"]) == (10, back)


@pytest.mark.both_engines
def test_undo_deep_in_a_chain_is_not_reactivated_beside_another(world: World) -> None:
    items(world, "give", COIN.id, 5, "Bob")
    chain = [last(world)]
    for _ in range(4):
        chain.append(undo_of(world, chain[-1]))
    other = undo_of(world, chain[0])
    # chain[n] undoes chain[n - 1]. Undoing chain[4] would restore chain[1], a second undo of the gift beside `other`
    assert not row(world, chain[4])["Undoable"]
    refused(undone(world, chain[4]), 409, "already_undone", f"Change {chain[0]} was already undone by change {other}")
    assert total(world, COIN.id) == 0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["give", "take", "undo", "undo", "undo"]),
        st.sampled_from([COIN, COIN, ARROW, SWORD, POUCH]),
        st.integers(1, 9),
    ),
    min_size=8,
    max_size=16,
)
TWICE = [("give", 9), ("take", 5), ("undo", 1), ("undo", 1), ("undo", 3), ("undo", 2)]


@pytest.mark.both_engines
@given(steps=STEPS)
@example(steps=[(what, COIN, number) for what, number in TWICE])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_items_equal_the_sum_of_active_changes(world: World, steps: list[tuple[str, Any, int]]) -> None:
    """Each change has at most one active undo, and the changes without one add up to the player's items."""
    begun, there = last(world), total(world, COIN.id)
    done: dict[int, int] = {}
    for what, item, number in steps:
        seq = last(world)
        if what == "undo":
            assert undone(world, max(begun + 1, seq + 1 - number)).status in {200, 404, 409}
        elif items(world, what, item.id, number if item.stackable else 1, "Bob").status == 200:
            done[seq + 1] = 0 if item != COIN else number if what == "give" else -number
    by = world.run(rows.find_undos(world.keeper.store, done))
    taken = rows.resolve_undos(by, by)
    standing = Counter(seq for seq, numbers in by.items() for each in numbers if each not in taken)
    assert not [seq for seq, count in standing.items() if count > 1]
    assert total(world, COIN.id) == there + sum(number for seq, number in done.items() if seq not in taken)
    assert errors(world) == []


def test_undo_is_refused_when_the_first_change_is_deleted(make_world: MakeWorld) -> None:
    """The deleted changes may include another undo of the first change, so the undo is refused."""
    world = make_world(ledger_days=8)
    items(world, "give", COIN.id, 9, "Bob")
    taken = number_of(world, items(world, "take", COIN.id, 5, "Bob"))
    back = undo_of(world, taken)
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    away = undo_of(world, back)
    undo_of(world, away)
    away = undo_of(world, last(world))
    tidy(world)
    assert not row(world, away)["Undoable"]
    refused(undone(world, away), 409, "history_trimmed")


def test_change_undone_too_often_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "MAX_UNDOS", 5)
    seq = number_of(world, items(world, "give", COIN.id, 5, "Bob"))
    for _ in range(2):
        undo_of(world, undo_of(world, seq))
    undo_of(world, seq)
    conflict(world, last(world), "make the change you want")


def delete_bob(world: World) -> int:
    assert world.call("DELETE", BOBS).status == 200
    return last(world)


def put_bob(world: World, **more: object) -> None:
    body = {"Name": "Bob", "UserId": USER_IDS["Bob"], "Items": [stack(0, SWORD.id)], **more}
    assert put_player(world, BOB.id, body).status == 200


@pytest.mark.parametrize("by_undo", [False, True])
def test_undo_of_an_earlier_deletion_is_refused(world: World, by_undo: bool) -> None:  # noqa: FBT001 - a case
    put_bob(world)
    first = delete_bob(world)
    if by_undo:
        again = undo_of(world, undo_of(world, first))
        undo_of(world, first)
    else:
        again = first
        put_bob(world)
    put_player(world, BOB.id, {"Items": [{"Slot": 0}]})
    put_player(world, ANN.id, {"Items": [stack(9, SWORD.id)]})
    newest = delete_bob(world)
    assert undone(world, again).status == 409
    undo_of(world, newest)
    assert total(world, SWORD.id) == 0


ATTACHED = ("player_texts", "guild_members", "player_leftovers")


def attach(world: World) -> list[list[tuple[object, ...]]]:
    """Give Bob a text, a guild and leftovers of an import; return these rows."""
    guild, text = guid(0x7001), guid(0x7002)
    world.insert("guilds", id=guild, name="Red Hand", fold="red hand", founded_at=5)
    world.insert("player_texts", player_id=BOB.id, variable_id=text, type="String", value='"Bob the Bold"')
    world.insert("guild_members", player_id=BOB.id, guild_id=guild, rank=0, joined_at=7)
    world.insert("player_leftovers", player_id=BOB.id, kind="friends", data='[{"Id":1}]')
    return read_attached(world)


def read_attached(world: World) -> list[list[tuple[object, ...]]]:
    return [world.sql(f"SELECT * FROM {table}") for table in ATTACHED]  # noqa: S608 - names of the test's own


@pytest.mark.both_engines
def test_undo_of_a_deletion_restores_texts_guild_and_leftovers(world: World) -> None:
    put_bob(world)
    rows = attach(world)
    seq = delete_bob(world)
    assert read_attached(world) == [[], [], []]
    undo_of(world, undo_of(world, undo_of(world, seq)))
    assert read_attached(world) == rows
    assert world.sql("SELECT members FROM guilds") == [(1,)]
    delete_bob(world)
    world.sql("DELETE FROM guilds")
    undo_of(world, last(world))
    assert read_attached(world) == [rows[0], [], rows[2]]
    undo_of(world, undo_of(world, last(world)))  # the guild has ended for the undo of an undo, too
    assert read_attached(world) == [rows[0], [], rows[2]]


def test_erasure_removes_texts_from_a_deletion_and_stores_none(world: World) -> None:
    for name, player in (("Bob", BOB.id), ("Mona", guid(0x7003))):
        put_player(world, player, {"Name": name, "UserId": USER_IDS[name]})
    attach(world)
    world.sql(
        "INSERT INTO player_texts (player_id, variable_id, type, value) SELECT $1, variable_id, type, value "
        "FROM player_texts",
        guid(0x7003),
    )
    delete_bob(world)
    assert "Bold" in str(world.sql("SELECT before FROM ledger"))
    for name in ("Bob", "Mona"):
        assert world.call("DELETE", f"/api/v1/users/{name}").status == 200
    world.run(erasures.run_all_jobs(world.keeper.store))
    assert "Bold" not in str(world.sql("SELECT before, after FROM ledger"))
    assert world.sql("SELECT COUNT(*) FROM player_texts") == [(0,)]


def move_to_bank(world: World) -> tuple[int, int]:
    """Move an item to the bank in two reports, like a game server that saves inventory and bank separately."""
    put_bob(world, Items=[stack(0, ARROW.id, 5)])
    world.sql("UPDATE ledger SET at = at - $1", undo_items.PRECEDING_MS)
    put_player(world, BOB.id, {"Bank": [stack(0, ARROW.id, 5)]})
    put_player(world, BOB.id, {"Items": [{"Slot": 0}]})
    return last(world) - 1, last(world)


@pytest.mark.both_engines
def test_half_of_a_move_is_not_undone_alone(world: World) -> None:
    came, went = move_to_bank(world)
    conflict(world, went, f"by change {came}; undo that first")
    undo_of(world, came)
    undo_of(world, went)
    assert (read_slot(world, "inventory", 0, "Bob"), total(world, ARROW.id)) == ((ARROW.id, 5), 5)
    conflict(world, went + 1, "again since")  # the undo of the gain in the bank cannot be undone alone


def test_gain_long_before_the_loss_or_in_the_same_slot_is_not_a_move(world: World) -> None:
    came, went = move_to_bank(world)
    world.sql("UPDATE ledger SET at = at - $1 WHERE seq <= $2", 2 * undo_items.PRECEDING_MS, came)
    undo_of(world, went)
    put_player(world, BOB.id, {"Items": [stack(3, ARROW.id, 5)]})
    put_player(world, BOB.id, {"Items": [{"Slot": 3}]})
    undo_of(world, last(world))
    assert total(world, ARROW.id) == 15


@pytest.mark.both_engines
def test_undo_reads_a_limited_number_of_skipped_changes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An undo blocks SQLite's single writer, so it must not read all position reports of game servers."""
    monkeypatch.setattr(undo_items, "MOST_LATER", 1)
    monkeypatch.setattr(undo_items, "SKIP_FACTOR", 4)
    dropped = number_of(world, put_player(world, ANN.id, {"Items": [{"Slot": 0}]}))
    off = number_of(world, put_player(world, ANN.id, {"Equipment": NOTHING_ON}))
    for place in range(2):
        put_player(world, ANN.id, {"X": 100 + place})
    assert undone(world, dropped, "?dryRun=true").status == undone(world, off, "?dryRun=true").status == 200
    put_player(world, ANN.id, {"X": 90})
    conflict(world, dropped, "or the player 4 times")
    assert undone(world, off, "?dryRun=true").status == 200
    put_player(world, ANN.id, {"X": 91})
    conflict(world, off, "or the player 4 times")


def test_search_for_earlier_equipment_is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The previous change of the equipment may be far back: the search for it must be limited."""
    monkeypatch.setattr(undo_items, "PRECEDING_CHANGES", 2)
    for place in range(3):
        put_player(world, ANN.id, {"X": 100 + place})
    asked = world.run(rows.read_right_before(world.keeper.store, ANN.id, last(world) + 1, undo_items.PRECEDING_CHANGES))
    assert asked == []
    put_player(world, ANN.id, {"Equipment": NOTHING_ON})
    undo_of(world, last(world))
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, 2, -1, -1]
