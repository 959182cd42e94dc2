"""GET /api/link/v1/changes and AppliedSeq: how a game server receives the changes of its players."""

import time
from typing import Any

from expectations import refused, unchanged
from game_server import LINK, heartbeat, newcomer, put_catalogue, put_player, stack, until_they_wait
from gamekeeper.game.access import tokens
from gamekeeper.store.accounts import users
from people import BOB, COIN, KILLS, NOBODY_ID, guid
from world import SENT, World

CHANGES = f"{LINK}/changes"
ZERO_SLOT = {
    "Slot": 0,
    "BagId": None,
    "ItemId": "00000000-0000-0000-0000-000000000000",
    "Quantity": 0,
    "StatBuffs": [0, 0, 0, 0, 0],
}


def ask(world: World, query: str = "", by: str = "Server") -> Any:
    answer = world.get(f"{CHANGES}?{query}", by=by).accepted()
    assert list(answer.json) == ["Changes", "Next", "Epoch"]
    return answer.json


def now(world: World) -> int:
    return ask(world, "after=now")["Next"]


async def send_gift(world: World) -> Any:
    body = {"itemid": COIN.id, "quantity": 1}
    return await world.send("POST", "/api/v1/players/Bob/items/give", body=body, by="Shop")


def kinds(told: Any) -> list[str]:
    return [each["Kind"] for each in told["Changes"]]


def test_pages_skip_changes_of_accounts_and_catalogue(world: World) -> None:
    for number in range(6):
        world.give("Ann" if number % 2 else "Bob", by="Shop").accepted()
        world.post("/api/v1/users/Ann/manage/email/change", {"new": f"ann{number}@example.test"})
    whole = ask(world, "after=0&limit=1000")["Changes"]
    assert kinds({"Changes": whole}) == ["player_created"] * 3 + ["items_given"] * 6
    for size in (1, 2, 5):
        pieces: list[Any] = []
        cursor = 0
        while len(piece := ask(world, f"after={cursor}&limit={size}")["Changes"]) > 0:
            assert len(piece) <= size
            pieces += piece
            cursor = ask(world, f"after={cursor}&limit={size}")["Next"]
        assert pieces == whole
    assert ask(world, "after=0") == ask(world, "after=0")  # the same feed cursor gives the same changes again
    before = now(world)
    world.get("/api/v1/users/Ann/password/reset").accepted()
    code = world.get("/api/v1/users/Ann").json["PasswordResetCode"]
    assert world.post("/api/v1/users/Bob/manage/password/change", {"new": "ab" * 32}).status == 200
    assert put_catalogue(world, "maps", [{"Id": guid(0x77), "Name": "Cave"}]).status == 200
    told = ask(world, f"after={before}&own=true")
    assert told["Changes"] == []
    assert told["Next"] == world.ledger()[-1].seq > before  # the feed's cursor moved past the skipped changes
    raw = world.get(f"{CHANGES}?after=0&own=true&limit=1000", by="Server").raw.decode()
    for hidden in (SENT, code, "ab" * 32, "argon2", "password", "@example.test"):
        assert hidden.lower() not in raw.lower()


def test_own_reports_are_excluded_and_a_read_only_token_is_accepted(world: World) -> None:
    after = now(world)
    put_player(world, BOB.id, {"Level": 4})
    assert world.call("PUT", f"{LINK}/players/{BOB.id}", body={"Level": 5}, by="Root").status == 200
    # this change is made by the game server's account, but through the API instead of the link
    world.give("Bob", by="Server").accepted()
    last = world.ledger()[-1].seq
    told = ask(world, f"after={after}")
    assert [(each["Kind"], each["By"]) for each in told["Changes"]] == [
        ("player_changed", "Root"),
        ("items_given", "Server"),
    ]
    assert told["Next"] == last
    assert [each["By"] for each in ask(world, f"after={after}&own=true")["Changes"]] == ["Server", "Root", "Server"]
    put_player(world, BOB.id, {"Level": 6})
    assert ask(world, f"after={last}") == {"Changes": [], "Next": last + 1, "Epoch": told["Epoch"]}
    server = world.run(users.find_by_fold(world.keeper.store, "server"))
    assert server
    pair = world.run(tokens.issue_for_service(world.keeper, server, 1, read_only=True))
    assert world.get(CHANGES, token=pair.access).json == ask(world)
    assert world.call("PUT", f"{LINK}/players/{BOB.id}", body={"Level": 2}, token=pair.access).status == 403


def test_feed_has_every_player_change_once_with_its_fields(world: World) -> None:
    after = now(world)
    body = {"itemid": COIN.id, "quantity": 1}
    assert world.post("/api/v1/players/Bob/items/give?dryRun=true", body).status == 200
    assert world.post("/api/v1/players/Bob/items/take", body).status == 409
    heartbeat(world)
    told = ask(world, f"after={after}&own=true")
    assert (told["Changes"], told["Next"]) == ([], after)
    after = now(world)
    world.give("Bob", 5, by="Shop").accepted()
    told = ask(world, f"after={after}")
    (change,) = told["Changes"]
    row = world.ledger()[-1]
    assert list(change) == ["Seq", "At", "Kind", "PlayerId", "Before", "After", "By", "RequestId"]
    assert (change["Seq"], change["Kind"], change["PlayerId"]) == (row.seq, "items_given", BOB.id)
    assert change["Before"] == {"Items": [ZERO_SLOT]}
    assert change["After"] == {"Items": [{**ZERO_SLOT, "ItemId": COIN.id, "Quantity": 5}]}
    assert told["Next"] == row.seq
    after = now(world)
    world.post(f"/api/v1/players/Bob/variables/{KILLS.id}", {"value": 3})
    put_player(world, BOB.id, {"Level": 4})
    player_id, body = newcomer(1)
    put_player(world, player_id, body)
    world.call("DELETE", f"{LINK}/players/{player_id}", by="Server")
    told = ask(world, f"after={after}&own=true")
    assert kinds(told) == ["variables_set", "player_changed", "player_created", "player_deleted"]
    assert told["Changes"][-2]["Before"] is None
    assert told["Changes"][-1]["After"] is None
    assert told["Changes"][-1]["Before"]["Name"] == "New1"


def test_long_poll_ends_with_a_change_or_a_revoked_token(world: World) -> None:
    after = now(world)

    async def give_later() -> Any:
        await until_they_wait(world.keeper.feed)
        return await send_gift(world)

    began = time.monotonic()
    told, _ = world.at_once([world.send("GET", f"{CHANGES}?after={after}&wait=60", by="Server"), give_later()])
    assert time.monotonic() - began < 30
    assert kinds(told.json) == ["items_given"]
    after = now(world)

    async def revoke_and_give() -> Any:
        await until_they_wait(world.keeper.feed)
        await world.send("DELETE", "/api/oauth/token/Server")
        return await send_gift(world)

    told, _ = world.at_once([world.send("GET", f"{CHANGES}?after={after}&wait=60", by="Server"), revoke_and_give()])
    refused(told, 401, "denied")


def test_wrong_epoch_is_409_and_a_lost_one_503(world: World) -> None:
    epoch = ask(world)["Epoch"]
    assert ask(world, f"epoch={epoch.upper().replace('-', '')}")["Epoch"] == epoch
    refused(world.get(f"{CHANGES}?epoch={NOBODY_ID}"), 409, "epoch_changed", epoch)
    world.sql("UPDATE epoch SET id = $1", guid(0xE))
    refused(world.get(f"{CHANGES}?epoch={epoch}&after=999999&wait=60"), 409, "epoch_changed", guid(0xE))
    # Without the row of table `epoch`, the feed, reports with AppliedSeq and undos are answered with a 503.
    world.give("Bob", by="Shop").accepted()
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    world.sql("DELETE FROM epoch")
    for answer in (
        *(world.get(f"{CHANGES}?{query}", by="Server") for query in ("", "after=now", "after=0&wait=1")),
        put_player(world, BOB.id, {"Level": 9, "AppliedSeq": 0}),
        world.post(undo),
    ):
        refused(answer, 503, "database_away")


def report(world: World, applied: object, quantity: int = 9, **more: str) -> Any:
    return put_player(world, BOB.id, {"Items": [stack(0, COIN.id, quantity)], "AppliedSeq": applied}, **more)


def test_report_that_missed_changes_is_409_with_them(world: World) -> None:
    applied = now(world)
    world.give("Bob", 5, by="Shop").accepted()
    world.give("Ann", 5, by="Shop").accepted()
    world.give("Bob", 6, by="Shop").accepted()
    with unchanged(world):
        answer = report(world, applied)
        told = [each for each in ask(world, f"after={applied}")["Changes"] if each["PlayerId"] == BOB.id]
        assert answer.status == 409
        assert list(answer.json) == ["Message", "Code", "RequestId", "Changes"]
        assert answer.code == "unapplied_changes"
        assert answer.json["Changes"] == told
        assert len(told) == 2
    assert report(world, told[0]["Seq"]).json["Changes"] == told[1:]
    assert report(world, told[1]["Seq"]).status == 200
    assert world.get("/api/v1/players/Bob/items/inventory").json[0]["Quantity"] == 9
    applied = now(world)
    key: Any = {"headers": {"Idempotency-Key": "loot-1"}}
    first = report(world, applied, 4, **key)
    world.give("Bob", by="Shop").accepted()
    again = report(world, applied, 4, **key)
    assert (again.status, again.raw) == (200, first.raw)
    assert again.headers["idempotent-replay"] == "true"
    refused(report(world, now(world), 4, **key), 422, "idempotency_key_reused")
    assert report(world, applied, 4).code == "unapplied_changes"
