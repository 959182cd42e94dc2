"""The retention job deletes old rows, but none that are still needed."""

import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from audit_log import last
from expectations import refused
from findings import errors
from game_server import LINK
from gamekeeper.game.audit import retention
from gamekeeper.store.audit import history
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import feed
from people import ANN, ARROW, BOB, COIN, POUCH, USER_IDS
from tidying import tidy, trim_older
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

CHANGES = f"{LINK}/changes"
LONG_AGO = 10 * retention.DAY_MS


def age(world: World) -> None:
    """Make all changes in the audit log ten days older."""
    world.sql("UPDATE ledger SET at = at - $1", LONG_AGO)


def trim(world: World, times: int = 1) -> None:
    """Trim changes that are a day past their retention, even if there are few."""
    for _ in range(times):
        world.run(trim_older(world.keeper, LONG_AGO - 2 * retention.DAY_MS))


def test_old_change_is_deleted_and_totals_still_fit(make_world: MakeWorld) -> None:
    world = make_world(ledger_days=8)
    for _ in range(3):
        assert world.give("Bob", 5, by="Shop").status == 200
    age(world)
    assert world.give("Ann", 2, by="Shop").status == 200
    recent = world.ledger()[-1]
    tidy(world)
    rows = world.ledger()
    assert [row.player_id for row in rows].count(BOB.id) == 1  # of Bob's changes only the newest is kept
    assert recent in rows
    assert (rows[-1].kind, rows[-1].request_id) == ("ledger_trimmed", "retention")
    assert errors(world) == []
    assert [row[0] for row in world.sql("SELECT trimmed FROM epoch")] == [recent.seq - 1]


def test_trim_step_is_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_CHANGES", 4)
    for _ in range(9):
        world.give("Bob", 1, by="Shop")
    age(world)
    old = {row.seq for row in world.ledger()}
    seen: list[int] = []
    while not seen or seen[-1] < max(old):
        trim(world)
        seen += [row[0] for row in world.sql("SELECT trimmed FROM epoch")]
        assert errors(world) == []
    # a trim covers 4 changes, but may advance by one number more, because numbers have gaps
    assert max(after - before for before, after in pairwise([0, *seen])) <= 4 + 1
    with world.nothing_recorded():
        trim(world)  # all old changes are trimmed already, so this trim changes nothing


def test_totals_fit_after_random_changes_and_trims(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_CHANGES", 7)
    dice = random.Random(5)
    for _ in range(12):
        for _ in range(dice.randint(1, 6)):
            what, name = dice.choice(["give", "give", "take"]), dice.choice(["Ann", "Bob"])
            item = dice.choice([COIN, POUCH, ARROW])
            world.give(name, dice.randint(1, 3), item.id, act=what, by="Shop")
        if dice.random() < 0.5:
            age(world)
        trim(world, dice.randint(1, 3))
        assert errors(world) == []
    assert sum(row.kind == "ledger_trimmed" for row in world.ledger()) < 12  # records of earlier trims are trimmed too


def test_reader_that_missed_trimmed_changes_is_refused_and_one_that_did_not_goes_on(world: World) -> None:
    put = f"{LINK}/players/{BOB.id}"
    cursor = world.get(f"{CHANGES}?after=now", by="Server").json["Next"]
    world.give("Bob", 1, by="Shop")
    bobs = last(world)
    world.give("Ann", 1, by="Shop")
    upto = last(world)
    age(world)
    trim(world)
    for after in (cursor, 0):
        refused(world.get(f"{CHANGES}?after={after}", by="Server"), 409, "changes_trimmed", str(upto))
    assert world.get(f"{CHANGES}?after={upto}", by="Server").json["Changes"] == []
    assert world.get(f"{CHANGES}?after=now", by="Server").json["Next"] == last(world)
    missed = world.call("PUT", put, by="Server", body={"AppliedSeq": cursor, "Exp": 5})
    refused(missed, 409, "changes_trimmed", "were deleted. Request after=now")
    # a game server that applied a player's last change may report it, also after a trim beyond that change
    assert world.call("PUT", put, by="Server", body={"AppliedSeq": bobs, "Exp": 5}).status == 200
    ann = world.call("PUT", f"{LINK}/players/{ANN.id}", by="Server", body={"AppliedSeq": bobs, "Exp": 5})
    refused(ann, 409, "changes_trimmed", "were deleted. Request after=now")


def test_own_report_does_not_hide_an_earlier_api_change(world: World) -> None:
    """The newest change of a player is its game server's report; the API's change before it is kept too."""
    applied = last(world)
    world.give("Bob", 1, by="Shop")
    put = f"{LINK}/players/{BOB.id}"
    assert world.call("PUT", put, by="Server", body={"Exp": 5}).status == 200
    age(world)
    trim(world)
    answer = world.call("PUT", put, by="Server", body={"AppliedSeq": applied, "Exp": 6})
    assert (answer.status, answer.code) == (409, "changes_trimmed")


def test_concurrent_trims_of_several_instances_are_correct(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    for _ in range(20):
        one.give("Bob", by="Shop")
    age(one)
    # the economy counts each day in a transaction of its own: all changes are of one day, even around midnight
    one.sql("UPDATE ledger SET at = (SELECT MIN(at) FROM ledger)")
    older = LONG_AGO - 2 * retention.DAY_MS
    one.at_once(trim_older(each.keeper, older) for each in (one, two, one, two))
    assert [row.player_id for row in one.ledger()].count(BOB.id) == 1
    assert sum(row.kind == "ledger_trimmed" for row in one.ledger()) == 1
    assert errors(one) == []


def test_changes_with_wrong_times_are_neither_lost_nor_in_the_way(world: World) -> None:
    """One change is too old because of a wrong clock, and one of the past is in the future; the last ones are, too."""
    for _ in range(3):
        world.give("Bob", 5, by="Shop")
    old = [each.seq for each in world.ledger()[-3:]]
    age(world)
    world.sql("UPDATE ledger SET at = at + $1 WHERE seq = $2", 3 * LONG_AGO, old[0])
    for _ in range(3):
        world.give("Bob", 5, by="Shop")
    young = [each.seq for each in world.ledger()[-3:]]
    world.sql("UPDATE ledger SET at = at - $1 WHERE seq = $2", LONG_AGO, young[1])
    trim(world, 2)
    kept = {each.seq for each in world.ledger()}
    assert ({*young} < kept, {*old[:2]} & kept) == (True, set())
    world.sql("UPDATE ledger SET at = at + $1 WHERE seq = $2", LONG_AGO, young[1])
    world.sql("UPDATE ledger SET at = at + $1 WHERE seq >= $2", retention.DAY_MS, young[0])
    trim(world, 2)
    assert {*young} < {each.seq for each in world.ledger()}
    assert world.ledger()[-1].kind == "ledger_trimmed"
    assert errors(world) == []


def test_record_of_an_erasure_is_kept(world: World) -> None:
    """The record of an erasure is kept: without it an import could recreate the erased account."""
    assert world.call("DELETE", "/api/v1/users/Clerk").status == 200
    age(world)
    world.give("Bob", 5, by="Shop")
    trim(world, 2)
    assert world.run(ledger.find_deleted_users(world.keeper.store, [USER_IDS["Clerk"]])) == {USER_IDS["Clerk"]}


def test_undo_concurrent_with_a_trim_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change to undo is deleted by a trim between two reads of the undo."""
    world.give("Bob", 5, by="Shop")
    world.post(f"/api/keeper/v1/changes/{last(world)}/undo")
    undo = last(world)
    world.give("Bob", 5, by="Shop")
    age(world)
    world.give("Ann", 5, by="Shop")
    origins = history.find_origins

    async def late(tx: Reading, numbers: Iterable[int]) -> dict[int, history.UndoOrigin]:
        monkeypatch.setattr(history, "find_origins", origins)
        await trim_older(world.keeper, LONG_AGO - 2 * retention.DAY_MS)
        return await origins(tx, numbers)

    monkeypatch.setattr(history, "find_origins", late)
    refused(world.post(f"/api/keeper/v1/changes/{undo}/undo"), 404, "no_such_change")


def test_read_concurrent_with_a_trim_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cursor = last(world)
    for _ in range(4):
        world.give("Bob", 1, by="Shop")
    upto = last(world)
    age(world)
    between = feed.read_between

    async def and_trim(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(feed, "read_between", between)
        await trim_older(world.keeper, LONG_AGO - 2 * retention.DAY_MS)
        return await between(*given, **more)

    monkeypatch.setattr(feed, "read_between", and_trim)
    answer = world.get(f"{CHANGES}?after={cursor}", by="Server")
    refused(answer, 409, "changes_trimmed", f"Changes up to {upto} were deleted.")
