"""Bans, mutes and kicks of accounts, addressed by account or by player."""

import json
from typing import Any

import pytest

import people
from audit_log import last
from expectations import unchanged
from game_server import LINK, newcomer, put_player
from gamekeeper.ground.instants import DAY_MS, parse_instant
from proof import refused, spelt
from world import PLAYERS, SENT, USERS, Answer, World

ACTS = {"ban": "Ban", "unban": "Ban", "mute": "Mute", "unmute": "Mute", "kick": "Kick"}
SAID = {
    "ban": "has been banned!",
    "mute": "has been muted!",
    "unban": "has been unbanned!",
    "unmute": "has been unmuted!",
    "kick": "has been kicked by the server!",
}
LOG_IN = {"grant_type": "password", "username": "Shop", "password": SENT}


def act(world: World, what: str, name: str = "Ann", body: object = None, of: str = USERS, **more: Any) -> Answer:
    return world.post(f"{of}/{name}/admin/{what}", body, **more)


def user(world: World, name: str = "Ann") -> dict[str, Any]:
    return world.get(f"{USERS}/{name}").json


def empower(world: World, name: str, *powers: str) -> None:
    """Set the account's roles and permissions to exactly these plus API access, and clear the cache of callers."""
    held = ", ".join(
        f"{each} = {'NOT ' * (each in powers)}(id <> id)"
        for each in ("editor", "mute", "kick", "ban", "users_query", "users_manage", "game_link")
    )
    world.sql(f"UPDATE users SET {held} WHERE name = $1", name)  # noqa: S608 - ours
    world.call("DELETE", "/api/oauth/token/Ann")  # clears the cache of callers


def join(world: World, *ids: str) -> None:
    world.call("PUT", f"{LINK}/servers/s1", body={"Lease": 600})
    assert world.post(f"{LINK}/servers/s1/joined", {"Players": ids}).status == 200


def read_feed(world: World, after: int) -> list[dict[str, Any]]:
    return world.get(f"{LINK}/changes?after={after}").json["Changes"]


def prepare(world: World, what: str, name: str = "Ann") -> None:
    """Prepare the account so that the moderation operation succeeds, such as a ban before an unban."""
    if what.startswith("un"):
        assert act(world, what.removeprefix("un"), name).status in {200, 409}
    if what == "kick":
        join(world, people.ANN.id)


def test_answer_has_the_exact_message_in_any_case_and_without_a_body(world: World) -> None:
    for what in ACTS:
        for of, key, name in ((USERS, "ann", "Ann"), (PLAYERS, people.ZOE.id, "Zoe")):
            prepare(world, what)
            answer = act(world, what, key, {}, of=of)
            assert (answer.status, answer.raw) == (200, spelt({"Message": f"{name} {SAID[what]}"}))
            if what in {"ban", "mute"}:
                assert act(world, f"un{what}").status == 200
    assert act(world, "bAn", raw=b"[]").status == 200
    assert act(world, "UNBAN", form={"Reason": "sorry"}).status == 200


def test_act_that_the_engine_refuses_is_refused_before_the_key(shared_world: World) -> None:
    with unchanged(shared_world):
        for what, status, code, message in (
            ("warpmeto", 400, "act_not_supported", "'WarpMeTo' not supported by the API."),
            ("SetFace", 501, "act_not_implemented", "SetFace"),
            ("nothing", 400, "invalid_action", "Invalid action."),
            ("6", 400, "invalid_action", "Invalid action."),
        ):
            for of in (USERS, PLAYERS):
                for key in ("Ann", "Nobody"):
                    refused(act(shared_world, what, key, raw=b"[]", of=of), status, code, message)
                refused(act(shared_world, what, of=of, by=None), 401, "denied")
                refused(act(shared_world, what, of=of, by="Shop"), status, code, message)


def test_refused_or_needless_act_changes_nothing(world: World) -> None:
    for what, status, code, message in (
        ("kick", 404, "user_not_online", "User not online!"),
        ("ban", 409, "already_banned", "Ann has already been banned!"),
        ("mute", 409, "already_muted", "Ann has already been muted!"),
    ):
        with unchanged(world):
            for of in (USERS, PLAYERS) if what != "kick" else ():
                answer = act(world, f"un{what}", body={"reason": "sorry"}, of=of)
                assert (answer.status, answer.raw) == (200, spelt({"Message": f"Ann {SAID[f'un{what}']}"}))
        if what != "kick":
            assert act(world, what).status == 200
        with unchanged(world):
            for of in (USERS, PLAYERS):
                refused(act(world, what, of=of), status, code, message)


def test_caller_cannot_act_on_an_account_with_more_permissions(world: World) -> None:
    for caller, target, fine in [
        (("mute",), ("editor", "mute"), False),
        (("mute", "ban"), ("kick", "mute"), True),
        (("mute", "ban"), ("kick", "ban"), False),
        (("ban", "kick", "mute", "editor"), ("game_link",), False),
        (("ban", "game_link"), ("users_query", "users_manage"), False),
        (("ban", "game_link"), ("game_link",), True),
    ]:
        empower(world, "Clerk", "users_query", *caller)
        empower(world, "Ann", *target)
        for of in (USERS, PLAYERS):
            answer = act(world, f"{'ban' if 'ban' in caller else 'mute'}?dryRun=true", of=of, by="Clerk")
            if fine:
                assert answer.status == 200
            else:
                refused(answer, 400, "outranked", "You do not have the permission to do this.")


def test_ban_revokes_tokens_and_prevents_log_in(world: World) -> None:
    pair = world.post("/api/oauth/token", LOG_IN, by=None).json
    assert world.get(PLAYERS, token=pair["access_token"]).status == 200
    assert act(world, "ban", "Shop", {"reason": "fraud"}).status == 200
    for token in (pair["access_token"], world.tokens["Shop"]):
        assert world.get(PLAYERS, token=token).status == 401
    answer = world.post("/api/oauth/token", LOG_IN, by=None)
    refused(answer, 400, "account_banned")
    assert answer.json["error"] == "unauthorized_client"
    wrong = world.post("/api/oauth/token", LOG_IN | {"password": "00" * 32}, by=None)
    refused(wrong, 400, "invalid_grant")
    renewed = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
    refused(world.post("/api/oauth/token", renewed, by=None), 400, "invalid_grant")
    assert act(world, "unban", "Shop").status == 200
    assert world.get(PLAYERS, token=pair["access_token"]).status == 401
    assert world.post("/api/oauth/token", LOG_IN, by=None).status == 200


@pytest.mark.both_engines
def test_ban_beside_log_ins_leaves_no_token(world: World) -> None:
    calls = [world.send("POST", "/api/oauth/token", by=None, body=LOG_IN) for _ in range(4)]
    answers = world.at_once([*calls, world.send("POST", f"{USERS}/Shop/admin/ban")])
    assert answers[-1].status == 200
    for answer in answers[:-1]:
        if answer.status == 200:
            assert world.get(PLAYERS, token=answer.json["access_token"]).status == 401
    good = "SELECT COUNT(*) FROM token_records WHERE name = 'Shop' AND revoked_at IS NULL"
    assert world.sql(good) == [(0,)]


def test_caller_cannot_ban_the_own_account(world: World) -> None:
    """A self-ban would revoke the account's tokens, and possibly no one could lift it."""
    player, body = newcomer(1, UserId=people.USER_IDS["Root"])
    assert put_player(world, player, body).status == 200
    with unchanged(world):
        for of, key in ((USERS, "root"), (USERS, people.USER_IDS["Root"]), (PLAYERS, player)):
            refused(act(world, "ban", key, {}, of=of), 409, "own_account")


def test_ban_or_mute_expires_after_its_days(world: World) -> None:
    for what, flag in (("ban", "IsBanned"), ("mute", "IsMuted")):
        for days in ({"duration": 0}, {}):
            act(world, what, body=days)
            assert read_times(world, what)[1] is None
            act(world, f"un{what}")
        assert act(world, what, body={"duration": "3", "reason": "x", "ip": True}).status == 200
        started, ends = read_times(world, what)
        assert abs(ends - started - 3 * DAY_MS) < 1000
        assert user(world)[flag] is True
        world.sql(f"UPDATE {what}s SET ends_at = ends_at - $1", 3 * DAY_MS)  # noqa: S608 - ours
        assert user(world)[flag] is False
        assert act(world, what, body={"duration": 999_999}).status == 200
        # The ban or mute ends more than a thousand years from now
        assert json.loads(world.ledger()[-1].after or "")["EndsAt"].startswith("4")
        assert user(world)[flag] is True


def read_times(world: World, what: str) -> Any:
    """Return when the ban or mute of Ann's account started and when it ends."""
    return world.sql(f"SELECT started_at, ends_at FROM {what}s WHERE user_id = $1", people.USER_IDS["Ann"])[0]  # noqa: S608 - ours


def test_audit_log_has_acts(world: World) -> None:
    act(world, "ban", body={"reason": "spam", "moderator": "Marshal"}, headers={"x-reason": "ticket 7"})
    entry = world.ledger()[-1]
    banned = {"BanReason": "spam", "Moderator": "Marshal", "EndsAt": None}
    assert (entry.kind, entry.player_id, entry.user_id) == ("user_banned", None, people.USER_IDS["Ann"])
    assert (entry.actor_id, entry.reason) == (people.USER_IDS["Root"], "ticket 7")
    assert [json.loads(side or "") for side in (entry.before, entry.after)] == [{"BanReason": None}, banned]
    act(world, "unban", body={"reason": "sorry"})
    entry = world.ledger()[-1]
    lifted = {"BanReason": None, "Reason": "sorry", "Moderator": "Root"}
    assert entry.kind == "user_unbanned"
    assert [json.loads(side or "") for side in (entry.before, entry.after)] == [banned, lifted]


def test_feed_has_acts_on_online_players(world: World) -> None:
    join(world, people.BOB.id)
    began = last(world)
    for what in ("mute", "unmute", "ban", "unban"):
        assert act(world, what).status == 200
    assert read_feed(world, began) == []
    join(world, people.ZOE.id, people.BOB.id)
    began = last(world)
    for what in ("mute", "unmute", "kick", "ban", "unban"):
        assert act(world, what, of=PLAYERS, body={"reason": "afk"}).status == 200
    told = read_feed(world, began)
    assert {(each["PlayerId"], each["Before"]) for each in told} == {(people.ZOE.id, None)}
    assert [(each["Kind"], each["After"]) for each in told] == [
        ("user_muted", {"MuteReason": "afk", "Moderator": "Root", "EndsAt": None}),
        ("user_unmuted", {"MuteReason": None, "Reason": "afk", "Moderator": "Root"}),
        ("user_kicked", {"Reason": "afk", "Moderator": "Root"}),
        ("user_banned", {"BanReason": "afk", "Moderator": "Root", "EndsAt": None}),
    ]


def test_ban_in_minutes_or_until_a_time(world: World) -> None:
    end = "2199-11-20T00:00:00Z"
    for what in ("ban", "mute"):
        assert act(world, what, body={"Minutes": "90", "duration": 0}).status == 200
        started, ends = read_times(world, what)
        assert abs(ends - started - 90 * 60_000) < 1000
        act(world, f"un{what}")
        assert act(world, what, body={"until": end}).status == 200
        assert read_times(world, what)[1] == parse_instant(end)
        act(world, f"un{what}")
        for wrong in (
            {"until": "friday"},
            {"until": "2020-01-01T00:00:00Z"},  # in the past
            {"minutes": 5, "until": end},
            {"minutes": 0, "duration": 1},
            {"until": end, "duration": 1},
        ):
            refused(act(world, what, body=wrong), 400, "bad_field")
        for field in ("minutes", "until", "duration"):  # an empty or null field must not become permanent
            refused(act(world, what, form={field: ""}), 400, "bad_field")
            refused(act(world, what, body={field: None}), 400, "bad_field")
