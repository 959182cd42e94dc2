"""The runner of bulk jobs: rules of single requests count for each change, and nobody is changed twice."""

from itertools import product
from typing import Any

import pytest

import approving
from bulking import GIVE, ROOT, act, add_players, create, get, list_results, list_targets, run, start, work
from gamekeeper.game.audit import retention
from gamekeeper.game.audit.approvals import parse_rules
from gamekeeper.game.audit.bulk_jobs import JobTaken
from gamekeeper.game.core.writes import ApplyResult
from gamekeeper.http.audit.bulk_runner import BulkRunner
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.engine.interface import CommitUnknown, DatabaseUnavailable, Writing
from gamekeeper.store.engine.statements import Statement
from people import COIN, USER_IDS
from proof import refused
from tidying import tidy
from world import MakeWorld, World

REVOKE = Statement("revoke", {"": "DELETE FROM role_permissions WHERE role = $1 AND permission = $2"})
LOSSES = (
    ("UPDATE users SET api = $2 WHERE id = $1", "UPDATE users SET api = NOT $2 WHERE id = $1"),
    ("UPDATE users SET suspended = NOT $2 WHERE id = $1", "UPDATE users SET suspended = $2 WHERE id = $1"),
    (
        "INSERT INTO bans (user_id, reason, moderator, started_at) SELECT $1, 'x', 'y', 1 WHERE NOT $2",
        "DELETE FROM bans WHERE user_id = $1 AND NOT $2",
    ),
)


def restrict(world: World, most: int) -> None:
    """Give Clerk, who runs jobs, a daily quota of coins by a role of its own."""
    needed = ["players.read", "items.give", "bulk.run", "users.query"]
    body = {"name": "giver", "permissions": needed, "quotas": [{"ItemId": COIN.id, "PerDay": most}]}
    world.post("/api/keeper/v1/roles", body).accepted()
    world.sql("UPDATE users SET api = $2 WHERE id = $1", USER_IDS["Clerk"], False)
    world.insert("user_roles", user_id=USER_IDS["Clerk"], role="giver", given_at=1)
    world.asgi.services.callers.clear_cache()


def test_quota_pauses_the_job_in_the_middle(world: World) -> None:
    restrict(world, 12)
    job = run(world, "Ann", "Bob", "Zoe", by="Clerk")
    assert (job["State"], job["Done"], job["Remaining"]) == ("paused", 2, 1)
    assert [state for _, state, _ in list_results(world, job["Id"])] == ["done", "done", "waiting"]
    assert world.count_coins("Zoe") == 0
    world.sql("UPDATE gift_totals SET day = day - 1")  # the next day
    start(world, job["Id"], by="Clerk")
    work(world)
    job = get(world, job["Id"])
    assert (job["State"], job["Done"], job["Problem"], world.count_coins("Zoe")) == ("finished", 3, None, 5)


def test_job_pauses_when_its_creator_loses_access(world: World) -> None:
    job = create(world, "Ann", "Bob", by="Shop")["Id"]
    for loss, undo in LOSSES:
        start(world, job, by="Shop")
        world.sql(loss, USER_IDS["Shop"], False)
        work(world)
        found = get(world, job)
        assert (found["State"], found["Done"]) == ("paused", 0), loss
        world.sql(undo, USER_IDS["Shop"], False)
        world.asgi.services.callers.clear_cache()
    made = world.post(
        "/api/keeper/v1/keys", {"name": "shop", "permissions": ["items.give", "bulk.run", "players.read"]}
    ).json
    job = world.post(ROOT, GIVE | {"Players": ["Bob"]}, token=made["Key"]).json["Id"]
    assert world.post(f"{ROOT}/{job}/start", token=made["Key"]).status == 200
    assert world.call("DELETE", f"/api/keeper/v1/keys/{made['Id']}").status == 200
    work(world)
    assert (get(world, job)["State"], world.count_coins("Bob")) == ("paused", 0)


def test_permission_lost_during_a_batch_stops_the_next_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    restrict(world, 100)
    job = create(world, "Ann", "Bob", by="Clerk")["Id"]
    start(world, job, by="Clerk")
    run_target = BulkRunner.run_target

    async def run_then_revoke(self: BulkRunner, job: rows.BulkJob, target: rows.WaitingTarget) -> None:
        await run_target(self, job, target)

        async def revoke(tx: Writing) -> None:
            tx.defer(REVOKE, "giver", "items.give")

        await world.keeper.store.write(revoke)

    monkeypatch.setattr(BulkRunner, "run_target", run_then_revoke)
    work(world)
    assert [state for _, state, _ in list_results(world, job)] == ["done", "waiting"]
    assert get(world, job)["State"] == "paused"


def test_job_above_the_size_of_a_rule_waits_for_a_second_person(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="bulk.run>1")
    small, job = create(world, "Ann", by="Shop")["Id"], create(world, "Ann", "Bob", by="Shop")["Id"]
    assert act(world, small, "start", by="Shop").json["State"] == "running"
    held = act(world, job, "start", by="Shop")
    assert (held.status, held.json["Code"]) == (202, "approval_required")
    work(world)
    assert (get(world, job)["State"], get(world, small)["State"]) == ("previewed", "finished")
    approval = held.json["ApprovalId"]
    shown = world.get(f"{approving.ROOT}/{approval}", by="Clerk").json
    after = shown["Preview"][0]["After"]
    assert (shown["Rule"], after["Players"], after["Each"], after["ItemId"]) == ("bulk.run>1", 2, 5, COIN.id)
    refused(approving.decide(world, approval, by="Shop"), 403, "permission_missing")
    assert approving.decide(world, approval).status == 200
    work(world)
    assert (get(world, job)["State"], world.count_coins("Bob")) == ("finished", 5)


def test_rule_for_gifts_holds_the_start_of_a_job(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="items.give>12")
    for rule in ("items.give>12", "items.give"):
        world.keeper.changes.gate.rules = parse_rules(rule)
        job = create(world, "Ann", "Bob", "Zoe", by="Shop")["Id"]  # 15 coins together
        held = act(world, job, "start", by="Shop")
        assert held.status == 202
        assert world.get(f"{approving.ROOT}/{held.json['ApprovalId']}", by="Clerk").json["Rule"] == rule
        assert approving.decide(world, held.json["ApprovalId"]).status == 200
        work(world)  # the approval of the job counts for each of its gifts
        assert [state for _, state, _ in list_results(world, job)] == ["done"] * 3


def test_gifts_beyond_a_rule_are_held_one_by_one_without_approval_of_the_job(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="items.give>12")
    job = create(world, "Ann", "Bob", by="Shop")["Id"]  # 10 coins together
    start(world, job, by="Shop")
    world.give("Zoe", 5, by="Shop").accepted()  # meanwhile
    work(world)
    assert list_results(world, job) == [("Ann", "done", None), ("Bob", "held", None)]
    found = get(world, job)
    assert (found["State"], found["Done"], found["Held"], world.count_coins("Bob")) == ("finished", 1, 1, 0)
    approval = list_targets(world, job)[1]["ApprovalId"]
    assert approving.decide(world, approval).status == 200
    assert world.count_coins("Bob") == 5
    target, found = list_targets(world, job)[1], get(world, job)
    newest = max(each.seq for each in world.ledger() if each.kind == "items_given")
    assert (target["State"], target["Seq"], target["ApprovalId"]) == ("done", newest, approval)
    assert (found["Done"], found["Held"], found["Refused"]) == (2, 0, 0)
    assert act(world, job, "undo", by="Shop").json["Players"] == 2


def test_held_change_that_is_not_approved_is_refused(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="people.erase")
    give: dict[str, Any] = {"Act": "give_item", "ItemId": COIN.id, "Quantity": 5}
    ban: dict[str, Any] = {"Act": "ban_player", "Days": 3}
    cases = (("items.give>4", give), ("moderation.ban", ban))
    for (rule, fields), code in product(cases, ("approval_denied", "approval_expired")):
        world.keeper.changes.gate.rules = parse_rules("people.erase")
        job = create(world, "Bob", **fields)["Id"]
        start(world, job)
        world.keeper.changes.gate.rules = parse_rules(rule)
        work(world)
        [target] = list_targets(world, job)
        assert (target["State"], get(world, job)["Held"]) == ("held", 1)
        if code == "approval_denied":
            assert approving.decide(world, target["ApprovalId"], "deny").status == 200
        else:
            world.sql("UPDATE approvals SET expires_at = 1 WHERE state = 'waiting'")
            tidy(world)
        [target] = list_targets(world, job)
        assert (target["State"], target["Code"], target["Seq"]) == ("refused", code, None)
        found = get(world, job)
        assert (found["Done"], found["Held"], found["Refused"]) == (0, 0, 1)


def test_undo_of_an_approved_size_is_still_held_by_other_rules(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="bulk.run>0, items.give")
    job = create(world, "Ann", Act="take_item", ItemId=COIN.id, Quantity=5, by="Shop")["Id"]
    approving.decide(world, act(world, job, "start", by="Shop").json["ApprovalId"])
    work(world)
    undo = act(world, job, "undo", by="Shop").json["Id"]
    approving.decide(world, act(world, undo, "start", by="Shop").json["ApprovalId"])
    work(world)
    assert list_results(world, undo) == [("Ann", "held", None)]  # it gives coins
    assert world.count_coins("Ann") == 1245


@pytest.mark.both_engines
def test_two_instances_change_everybody_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.http.audit.bulk_runner.BATCH_TARGETS", 3)
    ids = add_players(world, 20)
    job = create(world, *ids)["Id"]
    start(world, job)
    other = World(world.url, {}, world.loop)
    runners = [BulkRunner(each.asgi.services) for each in (world, other)]
    try:
        while world.run(rows.read_running(world.keeper.store, 1)):
            world.at_once(each.run() for each in runners)
    finally:
        other.close()
    assert (get(world, job)["State"], get(world, job)["Done"]) == ("finished", 20)
    assert [world.count_coins(each) for each in ids] == [5] * 20
    changes = world.get(f"/api/keeper/v1/changes?request=bulk-{job}&limit=100").json["Changes"]
    assert len(changes) == 20


@pytest.mark.both_engines
def test_target_that_another_instance_has_changed_is_left_alone(world: World) -> None:
    job = create(world, "Bob")["Id"]
    start(world, job)
    (found,) = world.run(rows.read_running(world.keeper.store, 1))
    (target,) = world.run(rows.read_waiting(world.keeper.store, job, 1))
    runner = BulkRunner(world.asgi.services)
    world.run(runner.run_target(found, target))
    with pytest.raises(JobTaken):
        world.run(runner.run_target(found, target))
    assert (world.count_coins("Bob"), get(world, job)["Done"]) == (5, 1)


@pytest.mark.both_engines
def test_lost_connection_repeats_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change of the second player is committed, but its outcome is unknown to the runner."""
    apply, calls = world.keeper.changes.apply, list[int]()
    for number, error in enumerate((CommitUnknown, DatabaseUnavailable), start=1):
        job = create(world, "Ann", "Bob", "Zoe")["Id"]
        start(world, job)
        calls.clear()

        async def apply_then_lose(*given: Any, error: type[DatabaseUnavailable] = error) -> ApplyResult:
            done = await apply(*given)
            calls.append(1)
            if len(calls) == 2:
                raise error("lost")
            return done

        monkeypatch.setattr(world.keeper.changes, "apply", apply_then_lose)
        with pytest.raises(DatabaseUnavailable):
            work(world)
        assert get(world, job)["State"] == "running"
        work(world)
        assert (get(world, job)["State"], get(world, job)["Done"]) == ("finished", 3)
        assert [world.count_coins(each) for each in ("Bob", "Zoe")] == [5 * number] * 2


def test_internal_error_pauses_the_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = create(world, "Ann", "Bob")["Id"]
    start(world, job)

    async def fail(*_: object) -> None:
        raise RuntimeError("broken")

    with monkeypatch.context() as broken:
        broken.setattr("gamekeeper.http.server.dispatcher.call_as", fail)
        work(world)
    found = get(world, job)
    assert (found["State"], found["Done"]) == ("paused", 0)
    start(world, job)
    work(world)
    assert (get(world, job)["State"], get(world, job)["Problem"]) == ("finished", None)


def test_erased_people_leave_neither_name_nor_reason_in_a_job(world: World) -> None:
    run(world, "Bob", Act="ban_player", Days=0)
    job = run(world, "Bob", Act="ban_player", Days=0, reason="Bob cheated")["Id"]  # refused with its name
    assert "Bob" in list_targets(world, job)[0]["Message"]
    assert world.call("DELETE", "/api/v1/users/Bob").status == 200
    [target] = list_targets(world, job)
    names = ("State", "Code", "Player", "Message")
    assert [target[name] for name in names] == ["refused", "already_banned", None, None]
    job = create(world, "Ann", by="Shop", reason="for my friend")["Id"]
    start(world, job, by="Shop")
    assert world.call("DELETE", "/api/v1/users/Shop").status == 200
    work(world)
    found = get(world, job)
    assert (found["Creator"], found["Reason"], found["State"]) == (None, None, "paused")


def test_jobs_take_turns(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.http.audit.bulk_runner.BATCH_TARGETS", 1)
    jobs = [create(world, "Ann", "Bob", "Zoe")["Id"] for _ in range(2)]
    for each in jobs:
        start(world, each)
    work(world)
    changes = world.get("/api/keeper/v1/changes?kind=items_given&limit=6").json["Changes"]
    order = [each["RequestId"] for each in changes]
    assert order[:2] == order[2:4] == order[4:]
    assert set(order) == {f"bulk-{each}" for each in jobs}


def test_old_jobs_are_deleted_unless_they_run(world: World) -> None:
    old, running, recent = (create(world, "Ann", "Bob")["Id"] for _ in range(3))
    start(world, running)
    world.sql("UPDATE bulk_jobs SET created_at = 1 WHERE id <> $1", recent)
    ((now,),) = world.sql("SELECT created_at FROM bulk_jobs WHERE id = $1", recent)
    world.run(retention.delete_old(world.keeper, now))
    assert {each["Id"] for each in world.get(ROOT).json["Jobs"]} == {running, recent}
    assert world.sql("SELECT COUNT(*) FROM bulk_targets WHERE job_id = $1", old) == [(0,)]
    assert world.sql("SELECT COUNT(*) FROM bulk_targets") == [(4,)]


def test_previews_are_deleted_after_a_day_unless_an_approval_of_their_start_waits(make_world: MakeWorld) -> None:
    world = approving.make_strict(make_world, approvals="bulk.run>1")
    held, left, recent = (create(world, "Ann", "Bob")["Id"] for _ in range(3))
    paused = create(world, "Ann")["Id"]
    start(world, paused)
    assert act(world, paused, "pause").status == 200
    asked = act(world, held, "start")
    assert asked.status == 202, asked.raw
    world.sql("UPDATE bulk_jobs SET created_at = created_at - 90000000 WHERE id <> $1", recent)
    ((now,),) = world.sql("SELECT created_at FROM bulk_jobs WHERE id = $1", recent)
    for denied, rest in ((False, {held, recent, paused}), (True, {recent, paused})):
        if denied:
            assert approving.decide(world, asked.json["ApprovalId"], "deny").status == 200
        world.run(retention.delete_old(world.keeper, now))
        assert {each["Id"] for each in world.get(ROOT).json["Jobs"]} == rest
    assert world.sql("SELECT COUNT(*) FROM bulk_targets WHERE job_id IN ($1, $2)", held, left) == [(0,)]
