"""What every write to characters and over the link has: Idempotency-Key, ?dryRun=true, X-Reason and a ledger row."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import game_server
import people
from expectations import everything, refused
from gamekeeper.game import retention, tokens
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.http.routes import ROUTES, WRITE
from gamekeeper.store import users
from gamekeeper.store.engine import Reading
from people import ANN, ARROW, BOB, COIN, FIREBALL, HEAL, KILLS, POUCH, SWORD, ZOE
from world import Answer, World

PLAYERS, LINK = "/api/v1/players", "/api/link/v1"
ZERO_GUID = "00000000-0000-0000-0000-000000000000"
NEW = people.guid(0x900)


@dataclass(frozen=True)
class Call:
    path: str
    body: object = None


@dataclass(frozen=True)
class Case:
    """A write that works, another that the same key must not be used for, and one that a rule refuses."""

    route: str  # method and path as the table has them
    good: Call
    other: Call
    bad: Call
    rows: Mapping[str, tuple[object, object]] = field(default_factory=dict[str, tuple[object, object]])
    player: str | None = None
    user: str | None = None  # whose it is, in rows about a character that comes or goes

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]


def slot(number: int, item_id: str = ZERO_GUID, quantity: int = 0, **more: object) -> dict[str, object]:
    buffs = [0, 0, 0, 0, 0]
    return {"Slot": number, "BagId": None, "ItemId": item_id, "Quantity": quantity, "StatBuffs": buffs} | more


def items(item_id: str, quantity: object) -> dict[str, object]:
    return {"itemid": item_id, "quantity": quantity}


GIVE, TAKE = f"{PLAYERS}/Ann/items/give", f"{PLAYERS}/Ann/items/take"
TEACH, FORGET = f"{PLAYERS}/Ann/spells/teach", f"{PLAYERS}/Ann/spells/forget"
POUCHED = slot(6, POUCH.id, 1, BagId=NEW)
EMPTY_BAG: dict[str, object] = {"Id": NEW, "SlotCount": 8, "Slots": list[object]()}
FROST = {"Id": NEW, "Name": "Frost"}
CASES = (
    Case(
        f"POST {PLAYERS}/[lookupKey]/variables/[variableId]",
        Call(f"{PLAYERS}/Ann/variables/{KILLS.id}", {"value": 8}),
        Call(f"{PLAYERS}/Ann/variables/{KILLS.id}", {"value": 9}),
        Call(f"{PLAYERS}/Ann/variables/{KILLS.id}", {"value": True}),
        {
            "variables_set": (
                {"Variables": [{"VariableId": KILLS.id, "Value": 7}]},
                {"Variables": [{"VariableId": KILLS.id, "Value": 8}]},
            )
        },
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/items/give",
        Call(GIVE, items(ARROW.id, 45)),
        Call(GIVE, items(ARROW.id, 46)),
        Call(GIVE, items(SWORD.id, 100)),
        {
            "items_given": (
                {"Items": [slot(1, ARROW.id, 60), slot(4)]},
                {"Items": [slot(1, ARROW.id, 100), slot(4, ARROW.id, 5)]},
            )
        },
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/items/take",
        Call(TAKE, items(SWORD.id, 1)),
        Call(f"{PLAYERS}/Bob/items/take", items(SWORD.id, 1)),
        Call(TAKE, items(POUCH.id, 1)),
        {
            "items_taken": (
                {"Items": [slot(2, SWORD.id, 1, StatBuffs=[1, 2, 3, 4, 5])]},
                {"Items": [slot(2)]},
            ),
            "player_changed": ({"Equipment": [-1, -1, 2, -1, -1]}, {"Equipment": [-1, -1, -1, -1, -1]}),
        },
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/spells/teach",
        Call(TEACH, {"spellid": HEAL.id}),
        Call(TEACH, {"spellid": FIREBALL.id}),
        Call(TEACH, {"spellid": FIREBALL.id}),
        {
            "spell_taught": (
                {"Spells": [{"Slot": 1, "SpellId": ZERO_GUID}]},
                {"Spells": [{"Slot": 1, "SpellId": HEAL.id}]},
            )
        },
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/spells/forget",
        Call(FORGET, {"spellid": FIREBALL.id}),
        Call(FORGET, {"spellid": HEAL.id}),
        Call(FORGET, {"spellid": HEAL.id}),
        {
            "spell_forgotten": (
                {"Spells": [{"Slot": 0, "SpellId": FIREBALL.id}]},
                {"Spells": [{"Slot": 0, "SpellId": ZERO_GUID}]},
            )
        },
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/name",
        Call(f"{PLAYERS}/Ann/name", {"name": "Annie"}),
        Call(f"{PLAYERS}/Ann/name", {"name": "Anna"}),
        Call(f"{PLAYERS}/Ann/name", {"name": "Bob"}),
        {"player_changed": ({"Name": "Ann"}, {"Name": "Annie"})},
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/level",
        Call(f"{PLAYERS}/Ann/level", {"level": 13}),
        Call(f"{PLAYERS}/Ann/level", {"level": 14}),
        Call(f"{PLAYERS}/Ann/level", {"level": 101}),
        {"player_changed": ({"Level": 12, "Exp": 345}, {"Level": 13, "Exp": 0})},
        ANN.id,
    ),
    Case(
        f"POST {PLAYERS}/[lookupKey]/class",
        Call(f"{PLAYERS}/Bob/class", {"classid": people.WARRIOR.id}),
        Call(f"{PLAYERS}/Ann/class", {"classid": people.WARRIOR.id}),
        Call(f"{PLAYERS}/Bob/class", {"classid": NEW}),
        {"player_changed": ({"ClassId": BOB.class_id}, {"ClassId": people.WARRIOR.id})},
        BOB.id,
    ),
    Case(
        f"DELETE {PLAYERS}/[lookupKey]",
        Call(f"{PLAYERS}/Bob"),
        Call(f"{PLAYERS}/Ann"),
        Call(f"{PLAYERS}/Zoe"),
        {"player_deleted": (..., None)},
        BOB.id,
        BOB.user_id,
    ),
    Case(
        f"PUT {LINK}/catalogue/[kind]",
        Call(f"{LINK}/catalogue/spells", [FROST, {"Id": HEAL.id, "Name": "Cure"}]),
        Call(f"{LINK}/catalogue/maps", [FROST, {"Id": HEAL.id, "Name": "Cure"}]),
        Call(f"{LINK}/catalogue/swords", [FROST]),
        {
            "catalogue_put": (
                {"Spells": [{"Id": HEAL.id, "Name": "Heal"}]},
                {"Spells": [FROST, {"Id": HEAL.id, "Name": "Cure"}]},
            )
        },
    ),
    Case(
        f"PUT {LINK}/players/[id]",
        Call(f"{LINK}/players/{BOB.id}", {"Level": 4, "Items": [POUCHED], "Bags": [EMPTY_BAG]}),
        Call(f"{LINK}/players/{BOB.id}", {"Level": 5}),
        Call(f"{LINK}/players/{BOB.id}", {"Name": "Ann"}),
        {
            "player_changed": ({"Level": 3}, {"Level": 4}),
            "items_set": (
                {"Items": [slot(6)]},
                {"Items": [POUCHED], "Bags": [EMPTY_BAG]},
            ),
        },
        BOB.id,
    ),
    Case(
        f"DELETE {LINK}/players/[id]",
        Call(f"{LINK}/players/{BOB.id}"),
        Call(f"{LINK}/players/{ANN.id}"),
        Call(f"{LINK}/players/{ZOE.id}"),
        {"player_deleted": (..., None)},
        BOB.id,
        BOB.user_id,
    ),
    Case(
        f"PUT {LINK}/servers/[server]",
        Call(f"{LINK}/servers/two", {"Lease": 60}),
        Call(f"{LINK}/servers/two", {"Lease": 61}),
        Call(f"{LINK}/servers/a%20b", {"Lease": 60}),
    ),
    Case(
        f"POST {LINK}/servers/[server]/joined",
        Call(f"{LINK}/servers/one/joined", {"Players": [ANN.id]}),
        Call(f"{LINK}/servers/one/joined", {"Players": [BOB.id]}),
        Call(f"{LINK}/servers/nowhere/joined", {"Players": [ANN.id]}),
    ),
    Case(
        f"POST {LINK}/servers/[server]/left",
        Call(f"{LINK}/servers/one/left", {"Players": [ZOE.id]}),
        Call(f"{LINK}/servers/one/left", {"Players": []}),
        Call(f"{LINK}/servers/nowhere/left", {"Players": [ZOE.id]}),
    ),
    Case(
        f"DELETE {LINK}/servers/[server]",
        Call(f"{LINK}/servers/one"),
        Call(f"{LINK}/servers/three"),
        Call(f"{LINK}/servers/nowhere"),
    ),
)
every_write = pytest.mark.parametrize("case", CASES, ids=[re.sub(r"[][]|/api/", "", case.route) for case in CASES])
COINS = items(COIN.id, 5)


@pytest.fixture
def ready(world: World) -> World:
    """Zoe is online on server one, so that every case has something to do."""
    game_server.heartbeat(world)
    game_server.join(world, ZOE.id)
    return world


def send(world: World, case: Case, call: Call, query: str = "", *, token: str | None = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.call(case.method, call.path + query, body=call.body, headers=named, token=token)


def token_of(world: World, name: str, *, read_only: bool = False) -> tokens.Pair:
    user = world.run(users.by_fold(world.keeper.store, name.lower()))
    assert user
    return world.run(tokens.issue_for_service(world.keeper, user, 1, read_only=read_only))


def stored(world: World) -> int:
    return len(world.sql("SELECT key FROM idempotency_keys"))


def coins(world: World) -> int:
    return world.get(f"{PLAYERS}/Ann/items/inventory").json[0]["Quantity"]


def give(world: World, key: str, **more: Any) -> Answer:
    return world.post(GIVE, COINS, headers={"Idempotency-Key": key}, **more)


def timeless(answer: Answer) -> tuple[int, bytes]:
    """Without the moment a lease ends: two heartbeats are two moments."""
    return answer.status, re.sub(rb'"ExpiresAt":"[^"]*"', b'"ExpiresAt":""', answer.raw)


def test_every_write_to_characters_and_over_the_link_is_in_this_files_table() -> None:
    writes = [route for route in ROUTES if route.does is WRITE and route.path.startswith((PLAYERS, LINK))]
    writes = [route for route in writes if "/admin/" not in route.path]  # these are in test_moderation.py
    assert [case.route for case in CASES] == [f"{route.method} {route.path}" for route in writes]


# --- Idempotency-Key -----------------------------------------------------------------------------------------------


@every_write
def test_the_same_request_with_the_same_key_is_answered_again_and_applied_once(ready: World, case: Case) -> None:
    first = send(ready, case, case.good, Idempotency_Key="k")
    assert first.status == 200, first.raw
    assert "idempotent-replay" not in first.headers
    done = everything(ready)
    again = send(ready, case, case.good, Idempotency_Key="k")
    assert (again.status, again.raw) == (200, first.raw)
    assert again.headers["idempotent-replay"] == "true"
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert everything(ready) == done


@every_write
def test_another_request_with_the_same_key_is_422_and_changes_nothing(ready: World, case: Case) -> None:
    send(ready, case, case.good, Idempotency_Key="k")
    done = everything(ready)
    refused(send(ready, case, case.other, Idempotency_Key="k"), 422, "idempotency_key_reused")
    assert everything(ready) == done


@every_write
def test_a_refusal_is_not_stored_and_is_decided_anew(ready: World, case: Case) -> None:
    before = everything(ready)
    statuses = [send(ready, case, case.bad, Idempotency_Key="k").status for _ in range(2)]
    assert statuses[0] == statuses[1]
    assert statuses[0] in {400, 404, 409}
    assert everything(ready) == before
    good = send(ready, case, case.good, Idempotency_Key="k")
    assert (good.status, "idempotent-replay" in good.headers) == (200, False)


def test_a_key_is_scoped_by_account_not_by_token(world: World) -> None:
    others = token_of(world, "Root").access
    assert give(world, "k").status == 200
    assert give(world, "k", token=others).headers["idempotent-replay"] == "true"
    assert coins(world) == 255
    shop = give(world, "k", by="Shop")
    assert "idempotent-replay" not in shop.headers
    assert world.post(TEACH, {"spellid": HEAL.id}, by="Clerk", headers={"Idempotency-Key": "k"}).status == 200
    assert coins(world) == 260


def test_one_request_in_two_spellings_is_the_same_request(world: World) -> None:
    first = give(world, "k")
    spelt = {"ItemId": COIN.id.upper(), "QUANTITY": "5", "bankOverflow": "false", "unknown": 1}
    again = world.post(GIVE, spelt, headers={"Idempotency-Key": "k"})
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")
    form = world.call("POST", GIVE, form={"itemid": COIN.id, "quantity": "5"}, headers={"Idempotency-Key": "k"})
    assert form.headers["idempotent-replay"] == "true"
    assert coins(world) == 255


def test_without_a_key_and_with_another_key_the_request_is_applied_again(world: World) -> None:
    for key in ("k", "l", "K"):
        assert "idempotent-replay" not in give(world, key).headers
    world.post(GIVE, COINS)
    world.post(GIVE, COINS)
    assert coins(world) == 275


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


def test_a_key_is_1_to_255_visible_ascii_characters(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for key in ("", " ", "a b", "x" * 256, "\x7f", "schlüssel", "\u20ac"):
        with subtests.test(repr(key[:9])):
            refused(give(world, key), 400, "bad_field", "'Idempotency-Key'")
    assert everything(world) == before
    for key in ("!", "~" * 255):
        assert give(world, key).status == 200


def test_a_key_is_kept_for_thirty_days(world: World) -> None:
    day = 24 * 60 * 60 * 1000
    give(world, "k")
    for days, kept in ((29, 1), (2, 0)):
        world.sql(f"UPDATE idempotency_keys SET at = at - {days * day}")  # noqa: S608 - a number of the test's own
        world.run(retention.tidy(world.keeper))
        assert stored(world) == kept
    assert "idempotent-replay" not in give(world, "k").headers


def test_a_key_replays_from_another_instance(make_world: Callable[..., World]) -> None:
    one, two = make_world(), make_world()
    first, again = give(one, "k"), give(two, "k")
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")
    assert coins(one) == 255


def test_requests_at_the_same_time_with_one_key_are_applied_once(make_world: Callable[..., World]) -> None:
    one, two = make_world(), make_world()
    headers = {"Idempotency-Key": "k"}

    async def together() -> list[Answer]:
        return await asyncio.gather(*[each.send("POST", GIVE, body=COINS, headers=headers) for each in [one, two] * 4])

    answers = one.run(together())
    assert {(answer.status, answer.raw) for answer in answers} == {(200, answers[0].raw)}
    assert [answer.headers.get("idempotent-replay") for answer in answers].count(None) == 1
    assert coins(one) == 255


def test_one_still_under_way_is_waited_for_and_then_told_to_come_back(world: World) -> None:
    """On SQLite one writer does all the work, so the second waits; on PostgreSQL it is told so after five seconds."""
    slow = Intent("test", actor_id=people.USER_IDS["Root"], key="k", fingerprint="another request")

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


# --- ?dryRun=true --------------------------------------------------------------------------------------------------


@every_write
def test_a_dry_run_answers_what_would_happen_and_changes_nothing(ready: World, case: Case) -> None:
    before = everything(ready)
    tried = send(ready, case, case.good, "?dryRun=true")
    tried_in_vain = send(ready, case, case.bad, "?dryrun=TRUE")
    assert everything(ready) == before
    in_vain = send(ready, case, case.bad)
    assert (tried_in_vain.status, tried_in_vain.code, tried_in_vain.message) == (
        in_vain.status,
        in_vain.code,
        in_vain.message,
    )
    assert timeless(tried) == timeless(send(ready, case, case.good, "?dryRun=false"))
    assert everything(ready) != before


@every_write
def test_a_dry_run_neither_reads_nor_stores_keys(ready: World, case: Case) -> None:
    send(ready, case, case.good, "?dryRun=true", Idempotency_Key="k")
    assert stored(ready) == 0
    real = send(ready, case, case.good, Idempotency_Key="k")
    assert (real.status, "idempotent-replay" in real.headers, stored(ready)) == (200, False, 1)
    done = everything(ready)
    again = send(ready, case, case.good, "?dryRun=true", Idempotency_Key="k")
    assert "idempotent-replay" not in again.headers
    assert send(ready, case, case.other, "?dryRun=true", Idempotency_Key="k").status != 422
    assert everything(ready) == done


def test_a_dry_run_of_a_new_character_answers_the_record_it_would_have(world: World) -> None:
    player_id, body = game_server.newcomer(1, Items=[game_server.stack(0, POUCH.id)])
    path = f"{LINK}/players/{player_id}"
    tried = world.call("PUT", f"{path}?dryRun=true", body=body).json
    refused(world.get(f"{PLAYERS}/New1"), 404, "no_such_player")
    real = world.call("PUT", path, body=body).json
    assert tried | {"CreationDate": ""} == real | {"CreationDate": ""}


def test_a_dry_run_is_true_or_false(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for value in ("yes", "1", "", "tru"):
        with subtests.test(value):
            refused(world.post(f"{GIVE}?dryRun={value}", COINS), 400, "bad_field", "'dryRun'")
    refused(world.post(f"{GIVE}?dryRun=true&DRYRUN=false", COINS), 400, "repeated_field")
    assert everything(world) == before


# --- the ledger and X-Reason ---------------------------------------------------------------------------------------


def sides(before: bytes | str | None, after: bytes | str | None) -> tuple[object, object]:
    return json.loads(before or "null"), json.loads(after or "null")


@every_write
def test_the_ledger_says_who_did_what_to_whom_and_why(ready: World, case: Case) -> None:
    pair, seen = token_of(ready, "Root"), len(ready.ledger())
    answer = send(ready, case, case.good, token=pair.access, X_Reason="  naïve refund ")
    assert answer.status == 200, answer.raw
    rows = ready.ledger()[seen:]
    assert [row.kind for row in rows] == list(case.rows)
    for row in rows:
        before, after = sides(row.before, row.after)
        expected_before, expected_after = case.rows[row.kind]
        assert before == expected_before or expected_before is ...
        assert after == expected_after
        assert (row.actor_id, row.token_id) == (people.USER_IDS["Root"], pair.id)
        assert (row.request_id, row.reason) == (answer.headers["x-request-id"], "naïve refund")
        assert (row.player_id, row.user_id) == (case.player, case.user)
        assert row.over_link is case.good.path.startswith(LINK)
        assert row.at > 1_700_000_000_000


def test_numbers_ascend_and_a_reason_is_optional(world: World) -> None:
    world.post(GIVE, COINS)
    world.post(GIVE, COINS, headers={"X-Reason": ""})
    rows = world.ledger()
    assert [row.reason for row in rows[-2:]] == [None, None]
    assert [row.seq for row in rows] == sorted({row.seq for row in rows})


def test_a_reason_is_short_and_printable(world: World, subtests: pytest.Subtests) -> None:
    before = everything(world)
    for reason in ("x" * 501, "a\tb", "a\x01b", "a\x7fb"):
        with subtests.test(repr(reason[:9])):
            refused(world.post(GIVE, COINS, headers={"X-Reason": reason}), 400, "bad_field", "'X-Reason'")
    assert everything(world) == before
    assert world.post(GIVE, COINS, headers={"X-Reason": "x" * 500}).status == 200


# --- who may write -------------------------------------------------------------------------------------------------


@every_write
def test_nobody_writes_with_a_read_only_token_or_none(ready: World, case: Case) -> None:
    read_only = token_of(ready, "Root", read_only=True).access
    before = everything(ready)
    refused(send(ready, case, case.good, token=read_only), 403, "read_only_token")
    refused(send(ready, case, case.good, "?dryRun=true", token=read_only), 403, "read_only_token")
    refused(send(ready, case, case.good, token="gka_wrong"), 401, "denied")
    assert everything(ready) == before
