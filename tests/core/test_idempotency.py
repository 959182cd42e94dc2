"""Idempotency-Key: scope, checks before a replay, and concurrent requests. test_every_write.py repeats every write."""

import asyncio
from typing import Any

import pytest

from expectations import refused, unchanged
from game_server import LINK
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.store.engine.interface import Reading
from people import ANN, COIN, HEAL, USER_IDS, guid
from tidying import tidy
from world import PLAYERS, Answer, MakeWorld, World
from writes import COINS, FROST, GIVE, TEACH, count_keys, token_of


def coins(world: World) -> int:
    return world.get(f"{PLAYERS}/Ann/items/inventory").json[0]["Quantity"]


def give(world: World, key: str, **more: Any) -> Answer:
    return world.post(GIVE, COINS, headers={"Idempotency-Key": key}, **more)


def test_key_is_scoped_by_account_and_ignores_spelling_of_the_request(world: World) -> None:
    first = give(world, "k")
    spelt = {"ItemId": COIN.id.upper(), "QUANTITY": "5", "bankOverflow": "false", "unknown": 1}
    again = world.post("/API/v1/Players/Ann/Items/GIVE", spelt, headers={"Idempotency-Key": "k"})
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")
    form = world.call("POST", GIVE, form={"itemid": COIN.id, "quantity": "5"}, headers={"Idempotency-Key": "k"})
    assert form.headers["idempotent-replay"] == "true"
    assert coins(world) == 255
    assert give(world, "k", token=token_of(world, "Root").access).headers["idempotent-replay"] == "true"
    assert coins(world) == 255
    shop = give(world, "k", by="Shop")
    assert "idempotent-replay" not in shop.headers
    assert world.post(TEACH, {"spellid": HEAL.id}, by="Clerk", headers={"Idempotency-Key": "k"}).status == 200
    assert coins(world) == 260
    for key in ("m", "M"):
        assert "idempotent-replay" not in give(world, key).headers
    assert coins(world) == 270


def test_token_and_role_are_checked_before_a_replay(world: World) -> None:
    body, headers = [FROST], {"Idempotency-Key": "k"}
    path = f"{LINK}/catalogue/spells"
    assert world.call("PUT", path, body=body, headers=headers, by="Server").status == 200
    refused(world.call("PUT", path, body=body, headers=headers, by=None), 401, "denied")
    read_only = token_of(world, "Server", read_only=True).access
    refused(world.call("PUT", path, body=body, headers=headers, token=read_only), 403, "read_only_token")
    world.sql("UPDATE users SET game_link = (1 = 0) WHERE fold = 'server'")
    fresh = token_of(world, "Server").access
    refused(world.call("PUT", path, body=body, headers=headers, token=fresh), 403, "role_missing")


def test_second_key_of_a_request_is_400_unless_it_is_the_same(world: World) -> None:
    """If a gateway adds a key, a retry must not be applied twice."""
    key = {"Idempotency-Key": "order-1"}
    first = world.post(GIVE, COINS, headers=key)
    with unchanged(world):
        for added in ("mw-77", "Order-1", ""):
            answer = world.post(GIVE, COINS, headers=key, added=[("Idempotency-Key", added)])
            refused(answer, 400, "repeated_field", "'Idempotency-Key'")
    again = world.post(GIVE, COINS, headers=key, added=[("Idempotency-Key", "order-1")])
    assert (again.status, again.headers["idempotent-replay"], again.raw) == (200, "true", first.raw)


@pytest.mark.both_engines
def test_concurrent_requests_with_one_key_are_applied_once_over_instances(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    headers = {"Idempotency-Key": "k"}
    answers = one.at_once([each.send("POST", GIVE, body=COINS, headers=headers) for each in [one, two] * 4])
    assert {(answer.status, answer.raw) for answer in answers} == {(200, answers[0].raw)}
    assert [answer.headers.get("idempotent-replay") for answer in answers].count(None) == 1
    assert coins(one) == 255


@pytest.mark.both_engines
def test_repeat_waits_for_the_running_request_and_then_is_409(world: World) -> None:
    """SQLite has one writer, so the second request waits; PostgreSQL answers 409 after five seconds."""
    slow = Intent("test", actor_id=USER_IDS["Root"], key="k", fingerprint="another request")

    begun, answered = asyncio.Event(), asyncio.Event()

    async def decide(_: Reading) -> Decision[None]:
        world.loop.call_soon_threadsafe(begun.set)
        if world.keeper.store.engine == "postgres":
            await asyncio.wait_for(answered.wait(), 60)
        return Decision([], None)

    async def together() -> Answer:
        first = asyncio.ensure_future(world.keeper.changes.apply(slow, decide, lambda _: b"null"))
        await begun.wait()
        second = await world.send("POST", GIVE, body=COINS, headers={"Idempotency-Key": "k"})
        answered.set()
        await first
        return second

    answer = world.run(together())
    if world.keeper.store.engine == "postgres":
        refused(answer, 409, "idempotency_in_progress")
        assert answer.headers["retry-after"] == "1"
    refused(give(world, "k"), 422, "idempotency_key_reused")
    assert coins(world) == 250


def test_replay_does_not_depend_on_the_rule(world: World) -> None:
    """A repeated request gets its stored answer also if the same request with a new key would be refused now."""
    first = give(world, "k")
    world.sql("DELETE FROM slots WHERE player_id = $1", ANN.id)
    assert world.call("DELETE", f"{PLAYERS}/Ann").status == 200
    assert give(world, "l").status == 404
    again = give(world, "k")
    assert (again.raw, again.headers.get("idempotent-replay")) == (first.raw, "true")


@pytest.mark.both_engines
def test_key_is_kept_for_thirty_days_and_not_reused_for_an_unknown_player(world: World) -> None:
    for player in ["Nobody", "%01", guid(0x999)]:
        give(world, "k")
        again = world.post(f"{PLAYERS}/{player}/items/give", COINS, headers={"Idempotency-Key": "k"})
        refused(again, 422, "idempotency_key_reused")
    day = 24 * 60 * 60 * 1000
    give(world, "k")
    for days, kept in ((29, 1), (2, 0)):
        world.sql(f"UPDATE idempotency_keys SET at = at - {days * day}")  # noqa: S608 - a number of the test's own
        tidy(world)
        assert count_keys(world) == kept
    assert "idempotent-replay" not in give(world, "k").headers
