"""Erasing a person: afterwards nothing in the database says who it was, and everything still adds up."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

import people
from expectations import everything, refused
from findings import errors
from game_server import LINK, heartbeat, join, leave, put_player
from gamekeeper.game import player_edits, retention
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.link import PlayerReport
from gamekeeper.game.link import put_player as put_character
from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statement
from people import ANN, COIN
from person import EMAIL, QUILLON, TAMSYN, WORDS, WREN, erase, finish, key, live, said
from tidying import trim_older
from world import SENT, World

WAITS = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def test_nothing_says_who_it_was(world: World) -> None:
    user_id = live(world)
    before = {(row.seq, row.kind, row.at, row.actor_id) for row in world.ledger()}
    known = said(world)
    assert [word for word in WORDS if any(word in row.lower() for row in known)] == list(WORDS)
    answer = erase(world, headers=key() | {"X-Reason": "by request 17"})
    assert (answer.status, answer.json["Name"], answer.json["Email"]) == (200, "Quillon", EMAIL)
    world.run(world.keeper.lists.maintain())
    finish(world)
    assert said(world) == []
    assert errors(world) == []
    rows = world.ledger()
    assert before < {(row.seq, row.kind, row.at, row.actor_id) for row in rows}
    last = rows[-1]
    assert (last.kind, last.user_id, last.before, last.after) == ("user_deleted", user_id, None, None)
    assert [row.kind for row in rows[-3:]] == ["player_deleted", "player_deleted", "user_deleted"]
    assert {row.reason for row in rows[-3:]} == {"by request 17"}
    refused(world.get(QUILLON), 404, "no_such_user")
    refused(world.get(f"/api/v1/players/{WREN}"), 404, "no_such_player")


def test_names_are_taken_out_of_the_reason_of_the_erasure(world: World) -> None:
    live(world)
    erase(world, headers={"X-Reason": "QUILLON asked for Wrenfold (quillon.tresk@example.test); see Quillons"})
    reasons = {row.reason for row in world.ledger() if row.kind == "user_deleted"}
    assert reasons == {"(erased) asked for (erased) ((erased)); see Quillons"}


def test_the_ledger_keeps_quantities_and_numbers(world: World) -> None:
    live(world)
    gave = next(row for row in world.ledger() if row.kind == "items_given")
    born = next(row for row in world.ledger() if row.player_id == WREN)
    erase(world)
    after = {row.seq: row for row in world.ledger()}
    assert json.loads(after[gave.seq].after or "") == json.loads(gave.after or "")
    assert json.loads(after[born.seq].after or "") | {"Name": "Wrenna"} == json.loads(born.after or "")
    taken = [json.loads(row.before or "") for row in world.ledger() if row.kind == "player_deleted"]
    assert [each["Items"][0]["Quantity"] for each in taken] == [40, 40, 40]
    assert not [each for each in taken if each.get("Name")]


def test_others_are_as_they_were(world: World) -> None:
    """Also the answers that were kept for those who wrote at the same time."""
    live(world)
    kept = key()
    give = {"itemid": COIN.id, "quantity": 1}
    answer = world.post("/api/v1/players/Ann/name", {"name": "Anne"}, headers=kept)
    assert world.post("/api/v1/players/Anne/items/give", give, headers={"X-Reason": "Anne asked"}).status == 200
    rows = {row.seq: row for row in world.ledger() if row.player_id == ANN.id or row.user_id == people.USER_IDS["Ann"]}
    erase(world)
    assert {row.seq: row for row in world.ledger() if row.seq in rows} == rows
    again = world.post("/api/v1/players/Ann/name", {"name": "Anne"}, headers=kept)
    assert (again.raw, again.headers["idempotent-replay"]) == (answer.raw, "true")


def test_a_word_of_theirs_blanks_no_answer_about_another(world: World) -> None:
    live(world)
    world.sql("UPDATE mutes SET reason = '-'")
    kept, give = key(), {"itemid": COIN.id, "quantity": 1}
    assert world.post(f"{QUILLON}/admin/unmute", {}, headers=key()).status == 200
    answer = world.post("/api/v1/players/Ann/items/give", give, headers=kept)
    erase(world)
    again = world.post("/api/v1/players/Ann/items/give", give, headers=kept)
    assert (again.raw, again.headers["idempotent-replay"]) == (answer.raw, "true")


def test_answers_to_what_changed_nothing_are_blanked(world: World) -> None:
    """Every keyed answer that names somebody is kept with whom it names; each of these names Quillon or Wrenfold."""
    live(world)
    world.sql("DELETE FROM idempotency_keys")
    said_before = [
        world.post(f"{QUILLON}/name", {"name": "Quillon"}, headers=key()),
        world.post(f"{QUILLON}/manage/email/change", {"new": EMAIL}, headers=key()),
        world.call("DELETE", "/api/oauth/tokens/Quillon", headers=key()),
        world.post("/api/v1/players/Wrenfold/name", {"name": "Wrenfold"}, headers=key()),
        world.post("/api/v1/players/Wrenfold/level", {"level": 3}, headers=key()),
        world.call("PUT", f"{LINK}/players/{WREN}", body={"Name": "Wrenfold"}, by="Server", headers=key()),
        world.post("/api/v1/players/Wrenfold/admin/unmute", {}, headers=key()),
    ]
    assert [(each.status, any(word in each.raw.decode().lower() for word in WORDS)) for each in said_before] == [
        (200, True)
    ] * len(said_before)
    erase(world)
    finish(world)
    assert {bytes(answer) for (answer,) in world.sql("SELECT answer FROM idempotency_keys")} == {b"{}"}
    assert len(world.sql("SELECT key FROM idempotency_keys")) == len(said_before)


def test_what_was_done_is_not_done_again(world: World) -> None:
    """The answers are gone, the keys are not: a late repetition does not bring the person back."""
    kept = key()
    body = {"username": "Quillon", "password": SENT, "email": EMAIL}
    world.post("/api/v1/users/register", body, headers=kept)
    goodbye = key()
    whole = erase(world, headers=goodbye)
    late = world.post("/api/v1/users/register", body, headers=kept)
    refused(late, 409, "answer_erased")
    again = erase(world, headers=goodbye)
    assert (again.status, again.headers["idempotent-replay"]) == (200, "true")
    assert again.json == whole.json | {"Name": "", "Email": ""}
    refused(world.get(QUILLON), 404, "no_such_user")


def test_nor_by_the_person_whose_token_is_still_believed_elsewhere(make_world: Callable[..., World]) -> None:
    one, other = make_world(), make_world()
    kept, give = key(), {"itemid": COIN.id, "quantity": 5}
    told = other.post("/api/v1/players/Ann/items/give", give, by="Shop", headers=kept)
    assert told.status == 200
    before = other.get("/api/v1/players/Ann/items").json
    assert one.call("DELETE", "/api/v1/users/Shop").status == 200
    refused(other.post("/api/v1/players/Ann/items/give", give, by="Shop", headers=kept), 409, "answer_erased")
    assert other.get("/api/v1/players/Ann/items").json == before


def test_followers_go_on(world: World) -> None:
    changes = f"{LINK}/changes"
    live(world)
    cursor = world.get(f"{changes}?after=now", by="Server").json["Next"]
    erase(world)
    seen = world.get(f"{changes}?after={cursor}", by="Server").json
    assert [(each["Kind"], each["PlayerId"]) for each in seen["Changes"]] == [
        ("player_deleted", WREN),
        ("player_deleted", TAMSYN),
    ]
    assert world.get(f"{changes}?after={seen['Next']}", by="Server").json["Changes"] == []
    whole = world.get(f"{changes}?after=0&limit=1000", by="Server").json["Changes"]
    assert [each["Seq"] for each in whole] == sorted(each["Seq"] for each in whole)
    assert WREN in {each["PlayerId"] for each in whole}


def test_tokens_end_with_the_account(world: World) -> None:
    token = world.run(_logged_in(world))
    assert world.get("/api/v1/players", token=token).status == 200
    assert world.call("DELETE", "/api/v1/users/Clerk").status == 200
    refused(world.get("/api/v1/players", token=token), 401, "denied")
    refused(world.get("/api/v1/players", by="Clerk"), 401, "denied")
    assert [row.actor_id for row in world.ledger()][-1] == people.USER_IDS["Root"]


async def _logged_in(world: World) -> str:
    log_in = {"grant_type": "password", "username": "Clerk", "password": SENT}
    return (await world.send("POST", "/api/oauth/token", body=log_in, by=None)).json["access_token"]


def test_what_the_account_did_to_others_stays(world: World) -> None:
    give = {"itemid": COIN.id, "quantity": 1}
    because = {"X-Reason": "sold", **key()}
    assert world.post("/api/v1/players/Ann/items/give", give, by="Shop", headers=because).status == 200
    gave = world.ledger()[-1]
    assert world.call("DELETE", "/api/v1/users/Shop").status == 200
    assert gave in world.ledger()
    assert gave.actor_id == people.USER_IDS["Shop"]
    finish(world)
    kept = world.sql("SELECT answer FROM idempotency_keys WHERE account_id = $1", people.USER_IDS["Shop"])
    assert [bytes(answer) for (answer,) in kept] == [b"{}"]
    fed = world.get(f"{LINK}/changes?after={gave.seq - 1}", by="Server").json["Changes"]
    assert [each["By"] for each in fed] == [None]


def test_no_penalty_names_the_moderator_any_more(world: World) -> None:
    """The ledger's rows about those who were punished do; the command line says so."""
    for name, kind, moderator in (("Ann", "mute", "mona"), ("Bob", "ban", "Mona"), ("Clerk", "mute", "Monas")):
        body = {"reason": "shouting", "moderator": moderator}
        assert world.post(f"/api/v1/users/{name}/admin/{kind}", body).status == 200
    assert world.call("DELETE", "/api/v1/users/Mona").status == 200
    assert world.sql("SELECT moderator FROM mutes ORDER BY moderator") == [("",), ("Monas",)]
    assert world.sql("SELECT reason, moderator FROM bans") == [("shouting", "")]
    told = [json.loads(row.after or "")["Moderator"] for row in world.ledger() if row.kind == "user_banned"]
    assert told == ["Mona"]


def test_refused_while_one_is_online(world: World) -> None:
    heartbeat(world)
    join(world, people.ZOE.id)
    before = everything(world)
    refused(world.call("DELETE", "/api/v1/users/Ann"), 409, "player_online")
    assert everything(world) == before
    leave(world, people.ZOE.id)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200


def test_nobody_deletes_the_account_they_call_with(world: World) -> None:
    before = everything(world)
    for own in ("root", people.USER_IDS["Root"]):
        refused(world.call("DELETE", f"/api/v1/users/{own}"), 409, "own_account", "gamekeeper users delete")
    assert everything(world) == before


def test_a_dry_run_changes_nothing(world: World) -> None:
    live(world)
    before = everything(world)
    tried = world.call("DELETE", f"{QUILLON}?dryRun=true")
    assert everything(world) == before
    assert erase(world).json == tried.json


def test_a_character_that_went_to_somebody_else_keeps_its_name(world: World) -> None:
    live(world)
    assert put_player(world, TAMSYN, {"UserId": people.USER_IDS["Bob"]}).status == 200
    erase(world)
    assert world.get("/api/v1/players/Tamsyn").json["UserId"] == people.USER_IDS["Bob"]
    born = next(row for row in world.ledger() if row.player_id == TAMSYN and row.kind == "player_created")
    assert json.loads(born.after or "")["Name"] == "Tamsyn"
    assert errors(world) == []


def test_a_character_that_another_deleted_is_not_theirs(world: World) -> None:
    live(world)
    kept = key()
    assert put_player(world, TAMSYN, {"UserId": people.USER_IDS["Bob"]}).status == 200
    renamed = world.post("/api/v1/players/Tamsyn/name", {"name": "Bobbin"}, headers=kept | {"X-Reason": "Bob asked"})
    assert world.call("DELETE", "/api/v1/players/Bobbin").status == 200
    rows = [row for row in world.ledger() if row.player_id == TAMSYN]
    erase(world)
    assert [row for row in world.ledger() if row.player_id == TAMSYN] == rows
    assert world.post("/api/v1/players/Tamsyn/name", {"name": "Bobbin"}, headers=kept).raw == renamed.raw
    assert errors(world) == []


def test_it_can_be_trimmed_like_any_other(world: World) -> None:
    live(world)
    erase(world)
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    world.run(trim_older(world.keeper, 8 * retention.DAY_MS))
    assert errors(world) == []


def test_two_who_erase_at_once(make_world: Callable[..., World]) -> None:
    one, two = make_world(), make_world()
    live(one)

    async def together() -> list[Any]:
        return await asyncio.gather(*(each.send("DELETE", QUILLON) for each in (one, two, one)))

    assert sorted(answer.status for answer in one.run(together())) == [200, 404, 404]
    assert [row.kind for row in one.ledger()].count("user_deleted") == 1
    assert errors(one) == []


@pytest.mark.parametrize("written", ["give", "born"])
def test_who_writes_meanwhile_comes_before_or_finds_nobody(make_world: Callable[..., World], written: str) -> None:
    one, two = make_world(), make_world()
    user_id = live(one)
    give = two.send("POST", f"/api/v1/players/{WREN}/items/give", body={"itemid": COIN.id, "quantity": 1})
    born = two.send("PUT", f"{LINK}/players/{people.guid(0x710)}", body={"Name": "Late", "UserId": user_id})

    async def together() -> tuple[Any, Any]:
        writing = give if written == "give" else born
        (born if written == "give" else give).close()
        return await asyncio.gather(one.send("DELETE", QUILLON), writing)

    erased, other = one.run(together())
    assert erased.status == 200
    assert other.status in {200, 404}
    assert one.sql("SELECT id FROM players WHERE user_id = $1", user_id) == []
    one.run(one.keeper.lists.maintain())
    finish(one)
    assert said(one) == []
    assert errors(one) == []


@pytest.mark.parametrize("engine", ["postgres"])  # SQLite has one writer
@pytest.mark.parametrize("owner", [people.USER_IDS["Bob"], None])
def test_a_character_that_leaves_meanwhile_is_left_alone(make_world: Callable[..., World], owner: str | None) -> None:
    """It is given to another, or deleted, while the erasure waits for it."""
    one, two = make_world(), make_world()
    live(one)
    locked = asyncio.Event()  # the character, by the one who makes it leave

    async def leaves(tx: Reading) -> Decision[Any]:
        spelling, settings = two.keeper.changes.codec, two.keeper.settings
        if owner is None:
            decision = await player_edits.delete(tx, TAMSYN, spelling)
        else:
            report = PlayerReport({"user_id": owner})
            decision = await put_character(tx, TAMSYN, report, settings, spelling, people.USER_IDS["Server"])
        locked.set()
        waits = Statement("waits", {"": WAITS})
        async with asyncio.timeout(60):
            while not await one.keeper.store.one(waits):  # noqa: ASYNC110 - a session of the server waits, not a task
                await asyncio.sleep(0.01)
        return decision

    async def together() -> Any:
        leaving = asyncio.create_task(two.keeper.changes.apply(Intent("r"), leaves, lambda _: b"{}"))
        await asyncio.wait_for(locked.wait(), 60)
        erased = await one.send("DELETE", QUILLON)
        await leaving
        return erased

    assert one.run(together()).status == 200
    assert one.sql("SELECT user_id FROM players WHERE id = $1", TAMSYN) == ([(owner,)] if owner else [])
    assert errors(one) == []
