"""The rate limits on reset mails per account and per caller, counted in the database for all instances."""

import pytest

from expectations import everything
from outbox import Make, age, ask, list_mails
from proof import at_once, refused
from world import Answer, World

USERS = "/api/v1/users"
PEOPLE = ("Ann", "Bob", "Mona", "Shop")


def reset(world: World, name: str = "Ann", **more: object) -> Answer:
    return world.get(f"{USERS}/{name}/password/reset", **more)


def test_account_gets_three_reset_mails_an_hour(world: World) -> None:
    before = everything(world)
    for _ in range(4):
        assert world.get(f"{USERS}/Ann/password/reset?dryRun=true").status == 200
    assert everything(world) == before
    codes = [ask(world) for _ in range(3)]
    before = everything(world)
    answer = reset(world)
    refused(answer, 429, "too_many_mails")
    assert 3590 <= int(answer.headers["retry-after"]) <= 3600
    assert answer.message == f"Too many reset mails were requested; wait {answer.headers['retry-after']} seconds."
    refused(world.get(f"{USERS}/Ann/password/reset?dryRun=true"), 429, "too_many_mails")
    refused(reset(world, by="Clerk"), 429, "too_many_mails")  # Ann's mail limit holds for every caller
    refused(reset(world, by="Shop"), 403, "role_missing")  # the role is checked before the limit
    assert everything(world) == before
    assert reset(world, "Bob").status == 200
    body = {"code": codes[-1], "new": "ab" * 32}
    assert world.post(f"{USERS}/Ann/password/reset", body).status == 200  # the code still works


def test_reset_mail_limit_uses_a_sliding_hour(world: World) -> None:
    ask(world)
    age(world, 40)
    ask(world)
    ask(world)
    answer = reset(world)
    assert (answer.status, 1190 <= int(answer.headers["retry-after"]) <= 1200) == (429, True)
    age(world, 19)
    assert reset(world).status == 429
    age(world, 1)
    assert reset(world).status == 200
    assert reset(world).status == 429


def test_reset_mails_per_caller_are_limited(make_world: Make) -> None:
    world = make_world(resets_per_caller=3)
    for name in PEOPLE[:3]:
        assert reset(world, name, by="Clerk").status == 200
    refused(reset(world, "Shop", by="Clerk"), 429, "too_many_mails")
    assert reset(world, "Shop", by="Root").status == 200
    age(world, 60)
    assert reset(world, "Shop", by="Clerk").status == 200


@pytest.mark.both_engines
def test_concurrent_resets_on_two_instances_keep_the_limit(make_world: Make) -> None:
    worlds = [make_world(resets_per_caller=8) for _ in range(2)]
    calls = [each.send("GET", f"{USERS}/{name}/password/reset") for name in PEOPLE for each in worlds for _ in range(4)]
    statuses = [answer.status for answer in at_once(worlds[0], calls)]
    assert (statuses.count(200), statuses.count(429)) == (8, 24)
    assert len(list_mails(worlds[0])) == 8
    counts = worlds[0].sql("SELECT COUNT(*) FROM mails GROUP BY user_id")
    assert max(count for (count,) in counts) <= 3


@pytest.mark.both_engines
def test_two_accounts_resetting_each_other_do_not_deadlock(make_world: Make) -> None:
    """Both reset requests lock both accounts in the same order, so that there is no deadlock."""
    worlds = [make_world(resets_per_account=50) for _ in range(2)]
    calls = [
        each.send("GET", f"{USERS}/{name}/password/reset", by=by)
        for each in worlds
        for name, by in (("Root", "Clerk"), ("Clerk", "Root"))
        for _ in range(5)
    ]
    assert {answer.status for answer in at_once(worlds[0], calls)} == {200}


def test_replayed_reset_is_not_counted(world: World) -> None:
    key = {"Idempotency-Key": "once"}
    for _ in range(6):
        assert reset(world, headers=key).status == 200
    assert len(list_mails(world)) == 1
    ask(world)
    ask(world)
    assert reset(world, headers=key).headers["idempotent-replay"] == "true"
    assert reset(world).status == 429
