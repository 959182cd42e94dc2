"""Limits of gifts: items, quantities and days of API keys, and quotas of roles."""

import asyncio
from typing import Any

import people
import staff
from api_keys import KEYS, create
from gamekeeper.game import retention
from gamekeeper.game.gifts import EVERY_OTHER_ITEM
from undos import undone
from world import Answer, World

GIVE = "/api/v1/players/Ann/items/give"
COIN = people.COIN.id


def give(world: World, text: str | None, quantity: int, item: str = COIN, **more: Any) -> Answer:
    body = {"itemid": item, "quantity": quantity, "bankoverflow": True}
    return world.post(GIVE, body, token=text, **more)


def expect(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.raw


def test_key_gives_only_its_items_and_quantities(world: World) -> None:
    text = create(world, Items=[COIN], MostPerRequest=10)["Key"]
    assert give(world, text, 10).status == 200
    expect(give(world, text, 11), 409, "gift_too_large")
    refused = give(world, text, 1, people.SWORD.id)
    expect(refused, 409, "item_not_allowed")
    assert f"'Sword ({people.SWORD.id})'" in refused.message


def test_daily_limit_of_a_key_is_per_item_and_counts_only_real_gifts(world: World) -> None:
    text = create(world, MostPerDay=10)["Key"]
    key = {"Idempotency-Key": "order-1"}
    assert give(world, text, 6, headers=key).status == 200
    assert give(world, text, 6, headers=key).headers["idempotent-replay"] == "true"
    assert world.post(f"{GIVE}?dryRun=true", {"itemid": COIN, "quantity": 4}, token=text).status == 200
    refused = give(world, text, 5)
    expect(refused, 409, "quota_reached")
    assert f"10 of item 'Gold Coin ({COIN})' may be given per UTC day, and 6 were given today" in refused.message
    assert refused.json["EndsAt"].endswith("T00:00:00.000Z")
    assert "retry-after" not in refused.headers
    expect(world.post(f"{GIVE}?dryRun=true", {"itemid": COIN, "quantity": 5}, token=text), 409, "quota_reached")
    assert give(world, text, 4).status == 200
    assert give(world, text, 1, people.SWORD.id).status == 200
    assert give(world, create(world)["Key"], 100).status == 200


def test_undo_of_a_gift_gives_back_on_its_day(world: World) -> None:
    text = create(world, MostPerDay=10)["Key"]
    assert give(world, text, 10).status == 200
    gift = world.ledger()[-1].seq
    expect(give(world, text, 1), 409, "quota_reached")
    assert undone(world, gift).status == 200
    assert world.sql("SELECT quantity FROM gift_totals") == [(0,)]
    assert give(world, text, 10).status == 200
    world.sql("UPDATE gift_totals SET day = day - 1 RETURNING 1")
    world.sql("UPDATE ledger SET at = at - 86400000 WHERE seq = $1 RETURNING 1", world.ledger()[-1].seq)
    assert give(world, text, 10).status == 200
    assert undone(world, world.ledger()[-1].seq).status == 200
    assert sorted(world.sql("SELECT quantity FROM gift_totals")) == [(0,), (10,)]


def test_limited_key_cannot_get_around_its_limit_by_an_undo(world: World) -> None:
    text = create(world, MostPerDay=10)["Key"]
    assert world.post("/api/v1/players/Ann/items/take", {"itemid": COIN, "quantity": 20}).status == 200
    taken = world.ledger()[-1].seq
    expect(world.post(f"/api/keeper/v1/changes/{taken}/undo", token=text), 409, "quota_reached")


def test_parallel_gifts_never_pass_the_daily_limit(world: World) -> None:
    text = create(world, MostPerDay=37)["Key"]

    async def all_at_once() -> list[int]:
        body = {"itemid": COIN, "quantity": 1}
        sends = (
            world.send("POST", f"/api/v1/players/{('Ann', 'Bob')[number % 2]}/items/give", token=text, body=body)
            for number in range(200)
        )
        return [answer.status for answer in await asyncio.gather(*sends)]

    statuses = world.run(all_at_once())
    assert statuses.count(200) <= 37
    assert set(statuses) <= {200, 409, 503}
    ((total,),) = world.sql("SELECT quantity FROM gift_totals")
    assert total == statuses.count(200)


def test_unlimited_gift_writes_no_total(world: World) -> None:
    assert give(world, None, 5).status == 200
    assert world.sql("SELECT COUNT(*) FROM gift_totals") == [(0,)]


def test_old_totals_are_deleted(world: World) -> None:
    text = create(world, MostPerDay=10)["Key"]
    assert give(world, text, 1).status == 200
    ((today,),) = world.sql("SELECT day FROM gift_totals")
    world.run(retention.delete_old(world.keeper, (today + 7) * 86_400_000))
    assert world.sql("SELECT COUNT(*) FROM gift_totals") == [(1,)]
    world.run(retention.delete_old(world.keeper, (today + 8) * 86_400_000))
    assert world.sql("SELECT COUNT(*) FROM gift_totals") == [(0,)]


# --- quotas of roles -----------------------------------------------------------------------------------------------


def limit(world: World, role: str, quotas: dict[str, int]) -> None:
    listed = [{"ItemId": item, "PerDay": most} for item, most in quotas.items()]
    answer = world.call("PUT", f"/api/keeper/v1/roles/{role}", body={"quotas": listed})
    assert (answer.status, answer.json["Quotas"]) == (200, listed), answer.raw


def test_quota_of_a_role_holds_for_each_account_over_all_its_credentials(world: World) -> None:
    first, other = staff.add_account(world, "Seller", "shop"), staff.add_account(world, "Other", "shop")
    key = create(world, Role="shop", Owner="Seller")["Key"]
    limit(world, "shop", {EVERY_OTHER_ITEM: 3, COIN: 10})
    assert give(world, first, 6).status == 200
    expect(give(world, key, 5), 409, "quota_reached")
    assert give(world, key, 4).status == 200
    expect(give(world, first, 1), 409, "quota_reached")
    expect(give(world, first, 4, people.ARROW.id), 409, "quota_reached")
    assert give(world, first, 3, people.ARROW.id).status == 200
    assert give(world, other, 10).status == 200
    limit(world, "shop", {})
    assert give(world, first, 100).status == 200


def test_caller_with_a_quota_gets_no_giving_key_of_another_account(world: World) -> None:
    gus = staff.add_account(world, "Gus", staff.save_role(world, "giver", ["items.give", "keys.manage"]))
    wanted, path = (
        {"Name": "k", "Permissions": ["items.give"]},
        f"{KEYS}/{create(world, Permissions=['items.give'])['Id']}",
    )
    assert world.post(KEYS, wanted | {"Owner": "Shop"}, token=gus).status == 200
    limit(world, "giver", {COIN: 5})
    own = world.post(KEYS, wanted, token=gus).json
    expect(world.post(KEYS, wanted | {"Owner": "Shop"}, token=gus), 403, "key_beyond_quota")
    expect(world.post(f"{path}/rotate", {}, token=gus), 403, "key_beyond_quota")
    expect(world.call("PUT", f"{KEYS}/{own['Id']}", body={"Owner": "Shop"}, token=gus), 403, "key_beyond_quota")
    expect(give(world, own["Key"], 6), 409, "quota_reached")
    assert world.call("PUT", path, body={"Suspended": True}, token=gus).status == 200


def test_largest_quota_of_several_roles_counts(world: World) -> None:
    text = staff.add_account(world, "Seller", "shop", "game master")
    limit(world, "shop", {COIN: 10})
    assert give(world, text, 30).status == 200
    limit(world, "game master", {COIN: 20})
    assert give(world, text, 15).status == 200
    expect(give(world, text, 6), 409, "quota_reached")
    assert world.post("/api/keeper/v1/users/Seller/roles", {"grant": ["items.give"]}).status == 200
    assert give(world, text, 50).status == 200


def test_key_has_the_quota_of_its_role(world: World) -> None:
    text = create(world, Role="shop", Owner="Root", MostPerDay=8)["Key"]
    limit(world, "shop", {COIN: 5})
    expect(give(world, text, 6), 409, "quota_reached")
    limit(world, "shop", {COIN: 20})
    expect(give(world, text, 9), 409, "quota_reached")
    assert give(world, text, 8).status == 200


def test_change_of_a_quota_is_in_the_audit_log(world: World) -> None:
    limit(world, "shop", {COIN: 5})
    newest = world.get("/api/keeper/v1/changes?limit=1").json["Changes"][0]
    assert newest["Kind"] == "role_saved"
    assert newest["After"]["Quotas"] == [{"ItemId": COIN, "PerDay": 5}]
    twice = {"quotas": [{"ItemId": COIN, "PerDay": 1}, {"ItemId": COIN, "PerDay": 2}]}
    expect(world.call("PUT", "/api/keeper/v1/roles/shop", body=twice), 400, "bad_field")
