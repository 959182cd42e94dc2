"""Staff: the list, suspension, and the end of sessions."""

import staff
from gamekeeper.game import tokens
from gamekeeper.game.security import UNKNOWN_ORIGIN
from proof import refused
from world import SENT, Answer, World

LOG_IN = {"grant_type": "password", "username": "Shop", "password": SENT}


def act(world: World, what: str, name: str, **more: str) -> Answer:
    return world.post(f"/api/keeper/v1/users/{name}/{what}", **more)


def test_suspended_account_has_no_token_and_gets_none_until_resumed(world: World) -> None:
    pair = world.post("/api/oauth/token", LOG_IN, by=None).json
    token, refresh = pair["access_token"], pair["refresh_token"]
    assert world.get("/api/v1/players/Ann", token=token).status == 200
    shop = world.get("/api/v1/users/Shop").json["Id"]
    assert act(world, "suspend", "Shop").json == {"Id": shop, "Name": "Shop", "Suspended": True, "WeakenedKeys": []}
    assert world.get("/api/v1/players/Ann", token=token).status == 401
    answer = world.post("/api/oauth/token", LOG_IN, by=None)
    assert (answer.status, answer.json["error"]) == (400, "unauthorized_client")
    assert "'Shop' is suspended" in answer.message
    renew = {"grant_type": "refresh_token", "refresh_token": refresh}
    assert world.post("/api/oauth/token", renew, by=None).json["error"] == "invalid_grant"
    assert act(world, "resume", "Shop").json["Suspended"] is False
    assert world.get("/api/v1/players/Ann", token=token).status == 401
    assert world.post("/api/oauth/token", LOG_IN, by=None).status == 200


def test_suspended_account_is_unaffected_in_the_game_and_its_token_refused(world: World) -> None:
    assert act(world, "suspend", "Ann").status == 200
    assert world.get("/api/v1/users/Ann").json["IsBanned"] is False
    assert world.post("/api/v1/users/Ann/password/validate", {"password": SENT}).status == 200
    assert [row.kind for row in world.ledger()[-1:]] == ["user_suspended"]
    event = world.get("/api/keeper/v1/security").json["Events"][0]
    assert (event["Kind"], event["User"], event["Details"]) == ("tokens_revoked", "Ann", {"By": "suspension"})
    token = staff.add_account(world, "Guard", "moderator")
    world.sql("UPDATE users SET suspended = (1 = 1) WHERE name = 'Guard'")
    assert world.get("/api/v1/players/Ann", token=token).status == 401


def test_repeated_suspension_changes_nothing_and_an_older_one_is_not_undone(world: World) -> None:
    assert act(world, "suspend", "Shop").status == act(world, "suspend", "Shop").status == 200
    assert act(world, "resume", "Shop").status == act(world, "resume", "Shop").status == 200
    assert [row.kind for row in world.ledger()[-2:]] == ["user_suspended", "user_resumed"]
    for what in ("suspend", "resume", "suspend"):
        assert act(world, what, "Ann").status == 200
    first = [row.seq for row in world.ledger() if row.kind == "user_suspended"][1]
    refused(world.post(f"/api/keeper/v1/changes/{first}/undo"), 409, "undo_conflict")


def test_nobody_suspends_themselves_or_an_account_that_outranks_them(world: World) -> None:
    chief = staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    refused(act(world, "suspend", "Chief", token=chief), 409, "own_account")
    refused(act(world, "suspend", "Root", token=chief), 403, "outranked")
    refused(act(world, "resume", "Root", token=chief), 403, "outranked")
    guard = staff.add_account(world, "Guard", "moderator")
    refused(act(world, "suspend", "Chief", token=guard), 403, "permission_missing")
    refused(act(world, "suspend", "Nobody"), 404, "no_such_user")


def test_list_has_roles_sessions_and_last_sign_in_on_pages(world: World) -> None:
    staff.add_account(world, "Guard", "moderator")
    world.run(tokens.log_in(world.keeper, "Guard", SENT, UNKNOWN_ORIGIN, session=True))
    assert act(world, "suspend", "Shop").status == 200
    found = {each["Name"]: each for each in world.get("/api/keeper/v1/staff").json["Staff"]}
    guard = found["Guard"]
    assert (guard["Roles"], guard["Granted"], guard["Sessions"], guard["Suspended"]) == (["moderator"], [], 1, False)
    assert guard["LastSignIn"] is not None
    assert guard["SecondFactor"] is False
    assert (found["Shop"]["Suspended"], found["Shop"]["Sessions"]) == (True, 0)
    assert "Ann" not in found
    whole = world.get("/api/keeper/v1/staff").json
    assert whole["Next"] is None
    names: list[str] = []
    offset = 0
    while offset is not None:
        page = world.get(f"/api/keeper/v1/staff?offset={offset}&limit=2").json
        assert len(page["Staff"]) <= 2
        names += [each["Name"] for each in page["Staff"]]
        offset = page["Next"]
    assert names == [each["Name"] for each in whole["Staff"]]


def test_ended_sessions_leave_tokens_of_programs(world: World) -> None:
    token = staff.add_account(world, "Guard", "moderator")
    pair = world.run(tokens.log_in(world.keeper, "Guard", SENT, UNKNOWN_ORIGIN, session=True))
    assert world.get("/api/v1/players/Ann", token=pair.access).status == 200
    assert world.call("DELETE", "/api/keeper/v1/users/Guard/sessions").json["Name"] == "Guard"
    assert world.get("/api/v1/players/Ann", token=pair.access).status == 401
    assert world.get("/api/v1/players/Ann", token=token).status == 200
    chief = staff.add_account(world, "Chief", staff.save_role(world, "chief", ["users.query", "staff.manage"]))
    refused(world.call("DELETE", "/api/keeper/v1/users/Root/sessions", token=chief), 403, "outranked")
    assert world.call("DELETE", "/api/keeper/v1/users/Chief/sessions", token=chief).status == 200
