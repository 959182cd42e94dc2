"""Erasure of an account: afterwards the database holds no personal data of it, and all totals still add up."""

import asyncio
import json
from typing import Any

import pytest

import staff
from approving import DECIDER, let_decide
from approving import ROOT as APPROVALS
from expectations import everything, refused, unchanged
from findings import errors
from game_server import LINK, heartbeat, join, leave, put_player
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.players import player_edits
from gamekeeper.game.world.link import PlayerReport
from gamekeeper.game.world.link import put_player as put_character
from gamekeeper.store.engine.interface import Locking
from gamekeeper.store.engine.statements import Statement
from people import ANN, COIN, USER_IDS, ZOE, guid
from person import EMAIL, QUILLON, TAMSYN, WORDS, WREN, erase, find_words, finish, key, live
from world import MakeWorld, World

WAITS = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def test_erasure_removes_all_personal_data(world: World) -> None:
    user_id = live(world)
    before = {(row.seq, row.kind, row.at, row.actor_id) for row in world.ledger()}
    known = find_words(world)
    assert [word for word in WORDS if any(word in row.lower() for row in known)] == list(WORDS)
    because = "by request 17: QUILLON asked for Wrenfold (quillon.tresk@example.test); see Quillons"
    answer = erase(world, headers=key() | {"X-Reason": because})
    assert (answer.status, answer.json["Name"], answer.json["Email"]) == (200, "Quillon", EMAIL)
    world.run(world.keeper.lists.maintain())
    finish(world)
    assert [row for row in find_words(world) if "see Quillons" not in row] == []
    assert errors(world) == []
    rows = world.ledger()
    assert before < {(row.seq, row.kind, row.at, row.actor_id) for row in rows}
    last = rows[-1]
    assert (last.kind, last.user_id, last.before, last.after) == ("user_deleted", user_id, None, None)
    assert [row.kind for row in rows[-3:]] == ["player_deleted", "player_deleted", "user_deleted"]
    erased = "by request 17: (erased) asked for (erased) ((erased)); see Quillons"
    assert {row.reason for row in rows[-3:]} == {erased}
    refused(world.get(QUILLON), 404, "no_such_user")
    refused(world.get(f"/api/v1/players/{WREN}"), 404, "no_such_player")


def test_audit_log_keeps_quantities_of_an_erased_account(world: World) -> None:
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


def test_erasure_leaves_other_accounts_unchanged(world: World) -> None:
    """An erasure keeps the stored answers about other accounts, also with a word that a row of the erased one has."""
    live(world)
    world.sql("UPDATE mutes SET reason = '-'")
    assert world.post(f"{QUILLON}/admin/unmute", {}, headers=key()).status == 200
    kept = key()
    answer = world.post("/api/v1/players/Ann/name", {"name": "Anne"}, headers=kept)
    world.give("Anne", headers={"X-Reason": "Anne asked"}).accepted()
    rows = {row.seq: row for row in world.ledger() if row.player_id == ANN.id or row.user_id == USER_IDS["Ann"]}
    erase(world)
    assert {row.seq: row for row in world.ledger() if row.seq in rows} == rows
    again = world.post("/api/v1/players/Ann/name", {"name": "Anne"}, headers=kept)
    assert (again.raw, again.headers["idempotent-replay"]) == (answer.raw, "true")


def test_stored_answers_without_a_change_are_erased(world: World) -> None:
    """Stored answers that name the erased account are erased, also if their requests changed nothing."""
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


def test_cached_token_of_an_erased_account_cannot_repeat_a_change(make_world: MakeWorld) -> None:
    one, other = make_world(), make_world()
    kept = key()
    other.give("Ann", 5, by="Shop", headers=kept).accepted()
    before = other.get("/api/v1/players/Ann/items").json
    assert one.get("/api/v1/players", by="Shop").status == 200
    assert one.call("DELETE", "/api/v1/users/Shop").status == 200
    refused(other.give("Ann", 5, by="Shop", headers=kept), 409, "answer_erased")
    assert other.get("/api/v1/players/Ann/items").json == before
    refused(one.get("/api/v1/players", by="Shop"), 401, "denied")


def test_feed_continues_after_an_erasure(world: World) -> None:
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


def test_changes_by_an_erased_account_to_others_stay(world: World) -> None:
    world.give("Ann", by="Shop", headers={"X-Reason": "sold", **key()}).accepted()
    gave = world.ledger()[-1]
    assert world.call("DELETE", "/api/v1/users/Shop").status == 200
    assert gave in world.ledger()
    assert gave.actor_id == USER_IDS["Shop"]
    finish(world)
    kept = world.sql("SELECT answer FROM idempotency_keys WHERE account_id = $1", USER_IDS["Shop"])
    assert [bytes(answer) for (answer,) in kept] == [b"{}"]
    fed = world.get(f"{LINK}/changes?after={gave.seq - 1}", by="Server").json["Changes"]
    assert [each["By"] for each in fed] == [None]


@pytest.mark.both_engines
def test_nothing_names_an_erased_moderator_or_a_chat_target(world: World) -> None:
    """By id, and by each name that the account and its players had."""
    live(world)

    def send(path: str, **body: Any) -> None:
        assert world.post(f"/api/v1/{path}", body, headers=key()).status == 200, path

    for name, kind, moderator in (("Ann", "mute", "quillon"), ("Bob", "ban", "Quillon"), ("Clerk", "mute", "Monas")):
        send(f"users/{name}/admin/{kind}", reason="shouting", moderator=moderator)
    send("users/Shop/admin/mute", reason="rude", moderator="Quillix")  # a former name
    send("users/Shop/admin/unmute", reason="sorry")
    send("users/Quillon/name", name="Quillix")  # bans and mutes have the name that the account had then
    for target in ("Wrenfold", "tamsyn", "QUILLIX", "Ann"):
        send("chat", Message="hello", Target=target)
    send("players/Tamsyn/name", name="Wrenna")
    job = world.post(
        "/api/keeper/v1/bulk", {"Act": "mute_player", "Days": 1, "Players": ["Ann", "Quillix", "tamsyn", "Nobody"]}
    )
    assert job.status == 200
    assert world.call("DELETE", "/api/v1/users/Quillix").status == 200
    world.run(world.keeper.lists.maintain())
    finish(world)
    assert find_words(world) == []
    banned = world.sql("SELECT moderator, moderator_id FROM bans WHERE user_id = $1", USER_IDS["Bob"])
    assert banned == [("", None)]
    mutes = dict(world.sql("SELECT user_id, moderator FROM mutes"))
    assert [str(mutes[USER_IDS[each]]) for each in ("Ann", "Clerk")] == ["", "Monas"]
    sides = [(row.kind, json.loads(row.before or "{}"), json.loads(row.after or "{}")) for row in world.ledger()]
    assert [after.get("Target") for kind, _, after in sides if kind == "chat_sent"] == [None, None, None, "Ann"]
    lifted = [(before.get("Moderator"), after["Moderator"]) for kind, before, after in sides if kind == "user_unmuted"]
    assert lifted == [(None, "Root")]
    assert [given for (given,) in world.sql("SELECT given FROM bulk_targets ORDER BY number") if given] == ["Nobody"]
    assert errors(world) == []


def test_erasure_is_refused_while_a_player_is_online(world: World) -> None:
    heartbeat(world)
    join(world, ZOE.id)
    with unchanged(world):
        refused(world.call("DELETE", "/api/v1/users/Ann"), 409, "player_online")
    leave(world, ZOE.id)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200


def test_account_cannot_erase_itself(world: World) -> None:
    with unchanged(world):
        for own in ("root", USER_IDS["Root"]):
            refused(world.call("DELETE", f"/api/v1/users/{own}"), 409, "own_account", "gamekeeper users delete")


def test_account_that_outranks_the_caller_is_not_erased(world: World) -> None:
    role = staff.save_role(world, "privacy", ["users.query", "people.erase"])
    officer = staff.add_account(world, "Officer", role)
    staff.add_account(world, "Chief", "admin")
    staff.add_account(world, "Guard", "moderator")
    with unchanged(world):
        for name in ("Chief", "Guard", "Root"):
            refused(world.call("DELETE", f"/api/v1/users/{name}", token=officer), 403, "outranked")
    assert world.call("DELETE", "/api/v1/users/Ann", token=officer).status == 200


def test_player_deleted_by_a_later_owner_is_not_erased(world: World) -> None:
    live(world)
    kept = key()
    assert put_player(world, TAMSYN, {"UserId": USER_IDS["Bob"]}).status == 200
    renamed = world.post("/api/v1/players/Tamsyn/name", {"name": "Bobbin"}, headers=kept | {"X-Reason": "Bob asked"})
    assert world.call("DELETE", "/api/v1/players/Bobbin").status == 200
    rows = [row for row in world.ledger() if row.player_id == TAMSYN]
    erase(world)
    assert [row for row in world.ledger() if row.player_id == TAMSYN] == rows
    assert world.post("/api/v1/players/Tamsyn/name", {"name": "Bobbin"}, headers=kept).raw == renamed.raw
    assert errors(world) == []


@pytest.mark.both_engines
def test_concurrent_erasures_erase_once(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    live(one)

    answers = one.at_once(each.send("DELETE", QUILLON) for each in (one, two, one))
    assert sorted(answer.status for answer in answers) == [200, 404, 404]
    assert [row.kind for row in one.ledger()].count("user_deleted") == 1
    assert errors(one) == []


@pytest.mark.both_engines
@pytest.mark.parametrize("written", ["give", "born"])
def test_write_during_an_erasure_comes_first_or_is_404(make_world: MakeWorld, written: str) -> None:
    one, two = make_world(), make_world()
    user_id = live(one)
    if written == "give":
        writing = two.send("POST", f"/api/v1/players/{WREN}/items/give", body={"itemid": COIN.id, "quantity": 1})
    else:
        late = {"Name": "Late", "UserId": user_id}
        writing = two.send("PUT", f"{LINK}/players/{guid(0x710)}", body=late)
    erased, other = one.at_once([one.send("DELETE", QUILLON), writing])
    assert erased.status == 200
    assert other.status in {200, 404}
    assert one.sql("SELECT id FROM players WHERE user_id = $1", user_id) == []
    one.run(one.keeper.lists.maintain())
    finish(one)
    assert find_words(one) == []
    assert errors(one) == []


@pytest.mark.parametrize("engine", ["postgres"])  # PostgreSQL only: SQLite has one writer, so this race cannot happen
@pytest.mark.parametrize("owner", [USER_IDS["Bob"], None])
def test_player_that_changes_owner_meanwhile_is_not_erased(make_world: MakeWorld, owner: str | None) -> None:
    """A player that gets a new owner or is deleted while the erasure waits for its lock is not erased."""
    one, two = make_world(), make_world()
    live(one)
    locked = asyncio.Event()  # set when the other transaction has locked the player

    async def leaves(tx: Locking) -> Decision[Any]:
        spelling, settings = two.keeper.changes.codec, two.keeper.settings
        if owner is None:
            decision = await player_edits.delete(tx, TAMSYN, spelling)
        else:
            report = PlayerReport({"user_id": owner})
            decision = await put_character(tx, TAMSYN, report, settings, spelling, USER_IDS["Server"])
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


@pytest.mark.both_engines
def test_stored_answers_about_others_that_name_an_erased_account_are_erased(make_world: MakeWorld) -> None:
    """A note that it wrote, a bulk job that it created, and a denied change that is about it."""
    world = let_decide(make_world(approvals="moderation.ban"))
    live(world)
    quillon = staff.add_account(world, "Quillons", "admin")
    note = world.post("/api/keeper/v1/notes", {"Text": "Polite.", "Player": "Bob"}, token=quillon).json["Id"]
    body = {"Act": "mute_player", "Days": 1, "Players": ["Bob"]}
    job = world.post("/api/keeper/v1/bulk", body, token=quillon).json["Id"]
    ban = {"reason": "rude", "moderator": "Root"}
    held = world.post("/api/v1/users/Quillon/admin/ban", ban, token=quillon).json["ApprovalId"]
    calls = [
        ("DELETE", f"/api/keeper/v1/notes/{note}", "Root", key()),
        ("POST", f"/api/keeper/v1/bulk/{job}/cancel", "Root", key()),
        ("POST", f"{APPROVALS}/{held}/deny", DECIDER, key()),
    ]
    answers = [world.call(method, path, by=by, headers=kept) for method, path, by, kept in calls]
    assert [(each.status, b"Quillons" in each.raw) for each in answers] == [(200, True)] * 3
    world.wait_for_next_millisecond()
    for name in ("Quillon", "Quillons"):
        assert world.call("DELETE", f"/api/v1/users/{name}").status == 200
    for _ in range(2):
        for method, path, by, kept in calls:
            refused(world.call(method, path, by=by, headers=kept), 409, "answer_erased")
        finish(world)
    assert [row for row in find_words(world) if row.startswith("idempotency_keys")] == []


@pytest.mark.both_engines
def test_former_names_are_removed_from_bans_and_from_the_reasons_of_the_erasure(make_world: MakeWorld) -> None:
    """Also a name in another case with letters that SQLite's lower() does not know."""
    world = let_decide(make_world(approvals="people.erase", name_pattern=r"\w{2,20}"))
    live(world)
    assert world.post("/api/v1/players/Tamsyn/name", {"name": "Серафима"}).status == 200
    for name, kind, moderator in (("Bob", "ban", "WRENNA"), ("Ann", "mute", "СЕРАФИМА"), ("Shop", "mute", "Tamsyn")):
        sent = {"reason": "shouting", "moderator": moderator}
        assert world.post(f"/api/v1/users/{name}/admin/{kind}", sent).status == 200
    held = erase(world, headers={"X-Reason": "Quillix, once Wrenna"}).json["ApprovalId"]
    agreed = {"X-Reason": "Quillix and Tamsyn asked"}
    assert world.post(f"{APPROVALS}/{held}/approve", by=DECIDER, headers=agreed).status == 200
    world.run(world.keeper.lists.maintain())
    finish(world)
    assert find_words(world) == []
    assert [row for rows in everything(world).values() for row in map(str, rows) if "серафима" in row.lower()] == []
    assert world.sql("SELECT decision_reason FROM approvals") == [("(erased) and (erased) asked",)]
