"""Limits of gifts: items, quantities and days of API keys, and quotas of roles."""

from typing import Any

import pytest

import people
import staff
from api_keys import KEYS, create
from gamekeeper.game.access import permissions
from gamekeeper.game.audit import retention
from gamekeeper.game.core.request import EVERY_OTHER_ITEM
from proof import refused
from undos import undone
from world import Answer, MakeWorld, World

COIN = people.COIN.id


def give(world: World, text: str | None, quantity: int, item: str = COIN, **more: Any) -> Answer:
    return world.give("Ann", quantity, item, token=text, **more)


@pytest.mark.both_engines
def test_undo_of_a_gift_gives_back_on_its_day_and_old_totals_are_deleted(world: World) -> None:
    text = create(world, MostPerDay=10)["Key"]
    assert give(world, text, 10).status == 200
    gift = world.ledger()[-1].seq
    refused(give(world, text, 1), 409, "quota_reached")
    assert undone(world, gift).status == 200
    assert world.sql("SELECT quantity FROM gift_totals") == [(0,)]
    assert give(world, text, 10).status == 200
    world.sql("UPDATE gift_totals SET day = day - 1 RETURNING 1")
    world.sql("UPDATE ledger SET at = at - 86400000 WHERE seq = $1 RETURNING 1", world.ledger()[-1].seq)
    assert give(world, text, 10).status == 200
    assert undone(world, world.ledger()[-1].seq).status == 200
    assert sorted(world.sql("SELECT quantity FROM gift_totals")) == [(0,), (10,)]
    world.sql("DELETE FROM gift_totals")
    text = create(world, MostPerDay=10)["Key"]
    assert give(world, text, 1).status == 200
    ((today,),) = world.sql("SELECT day FROM gift_totals")
    world.run(retention.delete_old(world.keeper, (today + 7) * 86_400_000))
    assert world.sql("SELECT COUNT(*) FROM gift_totals") == [(1,)]
    world.run(retention.delete_old(world.keeper, (today + 8) * 86_400_000))
    assert world.sql("SELECT COUNT(*) FROM gift_totals") == [(0,)]


@pytest.mark.both_engines
def test_parallel_gifts_never_pass_the_daily_limit(world: World) -> None:
    text, body = create(world, MostPerDay=37)["Key"], {"itemid": COIN, "quantity": 1}
    paths = [f"/api/v1/players/{name}/items/give" for name in ("Ann", "Bob")] * 100
    answers = world.at_once(world.send("POST", path, token=text, body=body) for path in paths)
    statuses = [each.status for each in answers]
    assert statuses.count(200) <= 37
    assert set(statuses) <= {200, 409, 503}
    ((total,),) = world.sql("SELECT quantity FROM gift_totals")
    assert total == statuses.count(200)


@pytest.mark.both_engines
def test_limits_of_a_key_are_per_item_and_day_and_count_only_real_gifts(world: World) -> None:
    assert give(world, None, 5).status == 200
    assert world.sql("SELECT COUNT(*) FROM gift_totals") == [(0,)]
    text = create(world, Items=[COIN], MostPerRequest=10)["Key"]
    assert give(world, text, 10).status == 200
    refused(give(world, text, 11), 409, "gift_too_large")
    refused(give(world, text, 1, people.SWORD.id), 409, "item_not_allowed")
    text = create(world, MostPerDay=10)["Key"]
    key = {"Idempotency-Key": "order-1"}
    assert give(world, text, 6, headers=key).status == 200
    assert give(world, text, 6, headers=key).headers["idempotent-replay"] == "true"
    assert give(world, text, 4, act="give?dryRun=true").status == 200
    over_quota = give(world, text, 5)
    refused(over_quota, 409, "quota_reached")
    assert over_quota.json["EndsAt"].endswith("T00:00:00.000Z")
    assert "retry-after" not in over_quota.headers
    refused(give(world, text, 5, act="give?dryRun=true"), 409, "quota_reached")
    assert give(world, text, 4).status == 200
    assert give(world, text, 1, people.SWORD.id).status == 200
    assert give(world, create(world)["Key"], 100).status == 200
    text = create(world, MostPerDay=10)["Key"]
    assert world.take("Ann", 20).status == 200
    taken = world.ledger()[-1].seq
    refused(world.post(f"/api/keeper/v1/changes/{taken}/undo", token=text), 409, "quota_reached")


def limit(world: World, role: str, quotas: dict[str, int]) -> None:
    listed = [{"ItemId": item, "PerDay": most} for item, most in quotas.items()]
    answer = world.call("PUT", f"/api/keeper/v1/roles/{role}", body={"quotas": listed})
    assert (answer.status, answer.json["Quotas"]) == (200, listed), answer.raw


def test_caller_with_a_quota_gets_no_giving_key_of_another_account(world: World) -> None:
    gus = staff.add_account(
        world, "Gus", staff.save_role(world, "giver", ["items.give", "keys.manage", "players.read"])
    )
    staff.save_role(world, "reader", ["players.read"])  # somebody may add items.give to it
    wanted, path = (
        {"Name": "k", "Permissions": ["items.give"]},
        f"{KEYS}/{create(world, Permissions=['items.give'])['Id']}",
    )
    assert world.post(KEYS, wanted | {"Owner": "Shop"}, token=gus).status == 200
    limit(world, "giver", {COIN: 5})
    own, of_role = (world.post(KEYS, each, token=gus).json for each in (wanted, {"Name": "k", "Role": "reader"}))
    others = create(world, Role="reader")["Id"]
    refused(world.post(KEYS, wanted | {"Owner": "Shop"}, token=gus), 403, "key_beyond_quota")
    refused(world.post(f"{path}/rotate", {}, token=gus), 403, "key_beyond_quota")
    refused(world.call("PUT", f"{KEYS}/{own['Id']}", body={"Owner": "Shop"}, token=gus), 403, "key_beyond_quota")
    refused(world.post(KEYS, {"Name": "k", "Role": "reader", "Owner": "Shop"}, token=gus), 403, "key_beyond_quota")
    refused(world.post(f"{KEYS}/{others}/rotate", {}, token=gus), 403, "key_beyond_quota")
    refused(world.call("PUT", f"{KEYS}/{of_role['Id']}", body={"Owner": "Shop"}, token=gus), 403, "key_beyond_quota")
    refused(world.call("PUT", path, body={"Owner": "Gus"}, token=gus), 403, "key_beyond_quota")
    refused(give(world, own["Key"], 6), 409, "quota_reached")
    assert world.call("PUT", path, body={"Suspended": True}, token=gus).status == 200


def test_caller_with_a_quota_lets_nobody_give_items(make_world: MakeWorld) -> None:
    world = make_world(public_url="https://keeper.example")
    gus = staff.add_account(world, "Gus", staff.save_role(world, "lead", permissions.ALL))
    staff.save_role(world, "reader", ["players.read"])
    roles, users, body = "/api/keeper/v1/roles", "/api/keeper/v1/users", {"permissions": ["players.read", "items.give"]}
    invitation = {"email": "new@example.test", "roles": ["shop"]}
    assert world.post(f"{users}/Bob/roles", {"give": ["shop"]}).status == 200
    assert world.post(f"{users}/Bob/roles", {"take": ["shop"]}).status == 200
    taken = world.ledger()[-1].seq
    assert world.post(f"{users}/Shop/suspend").status == 200
    suspended = world.ledger()[-1].seq
    assert world.post(f"{users}/Mona/powers", {"api": False}).status == 200
    named = ["items.give", "players.read", "staff.manage", "users.query"]
    limited = create(world, Owner="Root", Permissions=named, Items=[COIN])["Key"]
    limit(world, "lead", {EVERY_OTHER_ITEM: 10})
    attempts: list[tuple[str, str, Any]] = [
        ("POST", f"{users}/Bob/roles", {"give": ["shop"]}),
        ("POST", f"{users}/Bob/roles", {"give": ["api"]}),
        ("POST", f"{users}/Bob/roles", {"grant": ["items.give"]}),
        ("POST", "/api/keeper/v1/invitations", invitation),
        ("POST", roles, body | {"name": "new"}),
        ("PUT", f"{roles}/reader", body),
        ("PUT", f"{roles}/shop", {"quotas": []}),
        ("PUT", f"{roles}/shop", {"permissions": ["players.read"]}),  # an admin would put it back
        ("POST", f"{users}/Mona/powers", {"api": True}),
        ("POST", f"/api/keeper/v1/changes/{taken}/undo", None),
        ("POST", f"{users}/Shop/resume", None),
        ("POST", f"/api/keeper/v1/changes/{suspended}/undo", None),
    ]
    with world.nothing_recorded():
        for method, path, sent in attempts:
            refused(world.call(method, path, body=sent, token=gus), 403, "role_beyond_quota")
        refused(world.post(f"{users}/Bob/roles", {"give": ["shop"]}, token=limited), 403, "role_beyond_quota")
    assert world.post(f"{users}/Bob/roles", {"give": ["reader"]}, token=gus).status == 200


def test_largest_quota_of_several_roles_counts(world: World) -> None:
    text = staff.add_account(world, "Seller", "shop", "game master")
    limit(world, "shop", {COIN: 10})
    assert give(world, text, 30).status == 200
    limit(world, "game master", {COIN: 20})
    assert give(world, text, 15).status == 200
    refused(give(world, text, 6), 409, "quota_reached")
    assert world.post("/api/keeper/v1/users/Seller/roles", {"grant": ["items.give"]}).status == 200
    assert give(world, text, 50).status == 200


def test_quota_of_a_role_holds_for_each_account_over_all_its_credentials(world: World) -> None:
    limit(world, "shop", {COIN: 5})
    text = create(world, Role="shop", Owner="Root", MostPerDay=8)["Key"]
    limit(world, "shop", {COIN: 5})
    refused(give(world, text, 6), 409, "quota_reached")
    limit(world, "shop", {COIN: 20})
    refused(give(world, text, 9), 409, "quota_reached")
    assert give(world, text, 8).status == 200
    first, other = staff.add_account(world, "Seller", "shop"), staff.add_account(world, "Other", "shop")
    key = create(world, Role="shop", Owner="Seller")["Key"]
    limit(world, "shop", {EVERY_OTHER_ITEM: 3, COIN: 10})
    assert give(world, first, 6).status == 200
    refused(give(world, key, 5), 409, "quota_reached")
    assert give(world, key, 4).status == 200
    refused(give(world, first, 1), 409, "quota_reached")
    refused(give(world, first, 4, people.ARROW.id), 409, "quota_reached")
    assert give(world, first, 3, people.ARROW.id).status == 200
    assert give(world, other, 10).status == 200
    limit(world, "shop", {})
    assert give(world, first, 100).status == 200
