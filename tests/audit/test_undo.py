"""Undo of every kind of change: results, permissions, keys and chains of undos."""

from collections.abc import Mapping
from functools import partial

import pytest

import staff
from expectations import everything, refused
from findings import errors
from game_server import put_player
from gamekeeper.game.audit import undo
from gamekeeper.game.audit.history import KINDS
from gamekeeper.game.core.change import PLAYERS, Actor, Kind
from gamekeeper.game.core.undo import RULES
from gamekeeper.game.players.inventory import read_capacity
from gamekeeper.store.access.roles import Powers
from people import ANN, COIN, SWORD, USER_IDS
from undos import ACTS, EARLIER, conflict, grant, items, last, moderate, number_of, read_slot, row, state, undone
from world import MakeWorld, World


def test_undo_restores_the_state_and_undo_of_undo_repeats_the_change(world: World) -> None:
    """Make, undo, repeat and undo each kind of change in turn; at the end of its turn the state is as before it."""
    assert {name.partition(" ")[0] for name in ACTS} == RULES.keys()
    for name, act in ACTS.items():
        earlier = EARLIER[name](world) if name in EARLIER else None
        assert earlier is None or earlier.status == 200
        start, kind = state(world), name.partition(" ")[0]
        assert act(world).status == 200, name
        done = state(world)
        seq = max(each.seq for each in world.ledger() if each.kind == kind)
        assert row(world, seq)["Undoable"]
        assert done != start

        answer = undone(world, seq, headers={"X-Reason": "a mistake"}).accepted()
        assert (answer.json["Undoes"], answer.json["Kind"]) == (seq, kind)
        taken = next(each for each in reversed(world.ledger()) if each.kind == answer.json["Changes"][0]["Kind"])
        assert (row(world, taken.seq)["Undoes"], row(world, seq)["UndoneBy"]) == (seq, taken.seq)
        assert (row(world, taken.seq)["Reason"], row(world, seq)["Undoable"]) == ("a mistake", False)
        require_same_state(start, state(world))
        refused(undone(world, seq), 409, "already_undone", str(taken.seq))

        assert undone(world, taken.seq).status == 200
        require_same_state(done, state(world))
        assert (row(world, seq)["UndoneBy"], row(world, seq)["Undoable"]) == (None, True)
        assert errors(world) == []
        assert undone(world, seq).status == 200
        require_same_state(start, state(world))
        if earlier is not None:
            assert act(world).status == 200


# number of columns that are compared: the last ones have times
KEPT_COLUMNS = {"bans": 3, "mutes": 3, "user_roles": 2, "user_permissions": 2}


def require_same_state(wanted: Mapping[str, list[str]], found: Mapping[str, list[str]]) -> None:
    """Compare two states of the database; a restored ban, mute or role may have a new start time."""
    for table, rows in wanted.items():
        if table in KEPT_COLUMNS:
            kept = KEPT_COLUMNS[table]
            assert [each.split(",")[:kept] for each in found[table]] == [each.split(",")[:kept] for each in rows]
        else:
            assert found[table] == rows, table


def test_undo_of_a_take_equips_the_item_again(world: World) -> None:
    items(world, "take", SWORD.id)
    taken, off = last(world) - 1, last(world)
    refused(
        undone(world, off), 409, "undo_conflict", f"the equipped item is no longer in its slot; undo change {taken}"
    )
    assert [each["Kind"] for each in undone(world, taken).json["Changes"]] == ["items_set", "player_changed"]
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, 2, -1, -1]
    refused(undone(world, off), 409, "undo_conflict", "its equipment was changed again since")
    again = undone(world, last(world) - 1)  # the undo of the undo takes the sword and unequips it
    assert [each["Kind"] for each in again.json["Changes"]] == ["items_set", "player_changed"]
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, -1, -1, -1]


def test_undo_takes_and_equips_items_with_their_slots(world: World) -> None:
    taken = number_of(world, items(world, "take", SWORD.id)) - 1
    put_player(world, ANN.id, {"Equipment": [-1, -1, 1, -1, -1]})
    assert [each["Kind"] for each in undone(world, taken).json["Changes"]] == ["items_set"]
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, 1, -1, -1]
    seq = number_of(world, items(world, "give", SWORD.id))
    put_player(world, ANN.id, {"Equipment": [-1, -1, 4, -1, -1]})
    assert [each["Kind"] for each in undone(world, seq).json["Changes"]] == ["items_set", "player_changed"]
    assert world.get("/api/v1/players/Ann").json["Equipment"] == [-1, -1, -1, -1, -1]
    assert row(world, seq)["UndoneBy"] == last(world) - 1


def test_undo_of_an_undo_needs_the_permission_of_the_first_change(world: World) -> None:
    put_player(world, ANN.id, {"X": 9})
    for _ in range(3):
        seq = last(world)
        refused(undone(world, seq, by="Shop"), 403, "role_missing", "game.link")
        assert undone(world, seq).status == 200
    # delete the change that the chain of three undos began with, as the retention of the audit log does
    world.sql("DELETE FROM ledger WHERE seq = $1", last(world) - 3)
    refused(undone(world, last(world), by="Shop"), 403, "role_missing", "game.link")


def test_undo_needs_the_permission_of_the_operation(world: World) -> None:
    seq = number_of(world, items(world, "give", COIN.id))
    watcher = staff.add_account(world, "Watcher", staff.save_role(world, "watcher", ["audit.read", "audit.undo"]))
    refused(undone(world, seq, token=watcher), 403, "permission_missing")
    assert undone(world, seq, by="Shop").status == 200
    put_player(world, ANN.id, {"X": 9})
    refused(undone(world, last(world), by="Shop"), 403, "role_missing", "game.link")
    assert undone(world, last(world), by="Server").status == 200
    world.post("/api/v1/users/Ann/name", {"name": "Anna"})
    refused(undone(world, last(world), by="Clerk"), 403, "role_missing", "users.manage")
    for act, power in (("ban", "Ban"), ("mute", "Mute")):
        moderate(world, act)
        refused(undone(world, last(world), by="Clerk"), 403, "power_missing", power)


def test_undo_of_an_act_on_a_higher_ranked_account_is_refused(world: World) -> None:
    seq = number_of(world, grant(world, "Ann", Powers(*[True] * 8)))
    grant(world, "Clerk", Powers(api=True, users_query=True, users_manage=True))
    refused(undone(world, seq, by="Clerk"), 403, "outranked")
    own = last(world)
    refused(undone(world, own, by="Clerk"), 409, "own_powers")
    assert undone(world, own, by="Root").status == 200


def test_undo_of_an_account_change_reveals_nothing_without_the_role(world: World) -> None:
    """The refusal must not reveal the kind of the change nor why it cannot be undone."""
    world.post("/api/v1/users/Ann/manage/password/change", {"new": "ab" * 32})
    for seq in (last(world), 8, 13):
        refused(undone(world, seq, by="Shop"), 403, "role_missing", "users.query")
    refused(undone(world, last(world), by="Clerk"), 409, "not_undoable")


def test_every_kind_can_be_undone_or_says_why_not() -> None:
    loaded = {"players_loaded", "users_loaded", "ledger_trimmed"}
    explained = {name for name, kind in KINDS.items() if kind.why_not}
    assert KINDS.keys() - loaded == RULES.keys() | explained
    assert not RULES.keys() & explained


def test_a_kind_cannot_be_declared_twice() -> None:
    with pytest.raises(ValueError, match="items_given is declared twice"):
        Kind("items_given", "Items given", PLAYERS)


def test_long_chain_of_undos_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "MOST_DEPTH", 3)
    items(world, "give", COIN.id, 5)
    for _ in range(3):
        assert undone(world, last(world)).status == 200
    conflict(world, last(world), "3 levels deep")
    assert not row(world, last(world))["Undoable"]


def test_undo_checks_permissions_in_its_transaction(world: World) -> None:
    """The undo's transaction checks permissions again, since the change may be committed after the first check."""
    put_player(world, ANN.id, {"X": 9})
    asked: list[frozenset[str]] = []
    by = Actor(USER_IDS["Shop"], "Shop", frozenset(), asked.append)
    spelling, room = world.keeper.changes.codec, read_capacity(world.keeper.settings)
    decide = partial(undo.undo, seq=last(world), actor=by, codec=spelling, room=room, trade_ms=0)
    world.run(world.keeper.store.write(decide))
    assert asked == [undo.LINK | undo.UNDO | frozenset({"players.progress"})]


def test_dry_run_changes_nothing_and_repeated_key_undoes_once_also_after_the_change_is_deleted(world: World) -> None:
    items(world, "give", COIN.id, 5)
    seq, before = last(world), everything(world)
    tried = undone(world, seq, "?dryRun=true")
    assert everything(world) == before
    assert tried.status == 200
    assert [tried.json["Changes"][0][side]["Items"][0]["Quantity"] for side in ("Before", "After")] == [255, 250]
    key = {"Idempotency-Key": "undo-1"}
    first, again = (undone(world, seq, headers=key) for _ in range(2))
    assert (first.status, again.status, again.raw) == (200, 200, first.raw)
    assert first.raw == tried.raw
    assert again.headers["idempotent-replay"] == "true"
    refused(undone(world, seq - 1, headers=key), 422, "idempotency_key_reused")
    assert read_slot(world, "inventory", 0) == (COIN.id, 250)
    world.sql("DELETE FROM ledger WHERE seq = $1", seq)
    assert undone(world, seq, headers=key).raw == first.raw
    refused(undone(world, seq), 404, "no_such_change")


@pytest.mark.both_engines
def test_concurrent_undos_apply_once(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    for name in ("items_given", "player_deleted", "user_renamed"):
        ACTS[name](one)
        seq = last(one)
        answers = one.at_once(each.send("POST", f"/api/keeper/v1/changes/{seq}/undo") for each in [one, two] * 2)
        assert sorted(each.status for each in answers) == [200, 409, 409, 409]
        assert {each.code for each in answers if each.status == 409} == {"already_undone"}
        assert len([each for each in one.ledger() if each.seq > seq]) == 1
