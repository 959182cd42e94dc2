"""Limits of gifts: items, quantities and days of API keys, and quotas of roles."""

import asyncio
from typing import Any

import people
from api_keys import create
from gamekeeper.game import retention
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
    expect(give(world, text, 1, people.SWORD.id), 409, "item_not_allowed")


def test_daily_limit_of_a_key_is_per_item_and_counts_only_real_gifts(world: World) -> None:
    text = create(world, MostPerDay=10)["Key"]
    key = {"Idempotency-Key": "order-1"}
    assert give(world, text, 6, headers=key).status == 200
    assert give(world, text, 6, headers=key).headers["idempotent-replay"] == "true"
    assert world.post(f"{GIVE}?dryRun=true", {"itemid": COIN, "quantity": 4}, token=text).status == 200
    refused = give(world, text, 5)
    expect(refused, 409, "quota_reached")
    assert "6 were given today" in refused.message
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
