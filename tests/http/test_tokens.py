"""Tokens: log-in, refresh, revocation, and what is left of them in the database."""

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from types import SimpleNamespace

import pytest

import people
from expectations import everything
from gamekeeper.game.lookup import guid
from gamekeeper.game.passwords import wire_form
from gamekeeper.http import caller
from gamekeeper.store import tokens as stored
from gamekeeper.store.engine import Reading
from proof import at_once, refused, rows
from world import SENT, Answer, World

TOKEN = "/api/oauth/token"
PLAYERS = "/api/v1/players"
WRONG = wire_form("not it")
FIELDS = ["access_token", "token_type", "expires_in", "refresh_token", ".issued", ".expires"]
DENIED = "Authorization has been denied for this request."
MINUTE, DAY = 60_000, 86_400_000
BY_PASSWORD = {"grant_type": "password", "username": "Shop", "password": SENT}


def log_in(world: World, user: str = "Shop", **more: str) -> Answer:
    answer = world.post(TOKEN, BY_PASSWORD | {"username": user} | more, by=None)
    assert answer.status == 200, answer.raw
    return answer


def exchange(world: World, refresh_token: str) -> Answer:
    return world.post(TOKEN, {"grant_type": "refresh_token", "refresh_token": refresh_token}, by=None)


def works(world: World, log_in: Answer) -> bool:
    answer = world.get(PLAYERS, token=log_in.json["access_token"])
    assert answer.status in {200, 401}
    return answer.status == 200


def public_ids(world: World, user: str) -> list[str]:
    """Newest first."""
    return [token.id for token in world.run(stored.list_(world.keeper.store, people.USER_IDS[user]))]


def age(world: World, token_id: str, milliseconds: int) -> None:
    world.sql("UPDATE tokens SET access_expires = access_expires - $1 WHERE id = $2", milliseconds, token_id)


def failed(answer: Answer, error: str) -> None:
    """As RFC 6749 has it, with our fields beside."""
    assert (answer.status, answer.json["error"]) == (400, error), answer.raw
    assert list(answer.json) == ["error", "Message", "Code", "RequestId"]
    assert answer.message


# --- the password grant -------------------------------------------------------------------------------------------


def test_answer_has_exactly_the_fields(world: World) -> None:
    answer = log_in(world)
    body = answer.json
    assert list(body) == FIELDS
    assert (body["token_type"], body["expires_in"]) == ("bearer", 3600)
    assert re.fullmatch(r"gka_[A-Za-z0-9_-]{43,}", body["access_token"])
    assert len(body["access_token"]) <= 255
    assert guid(body["refresh_token"]) == body["refresh_token"]
    assert answer.headers["cache-control"] == "no-store"
    assert works(world, answer)


def test_dates_are_rfc_1123(world: World) -> None:
    body = log_in(world).json
    issued, expires = (parsedate_to_datetime(body[name]) for name in (".issued", ".expires"))
    assert re.fullmatch(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT", body[".issued"])
    assert (expires - issued).total_seconds() == 3600
    assert abs((datetime.now(issued.tzinfo) - issued).total_seconds()) < 60


@pytest.mark.parametrize(
    "sent",
    [
        {"body": BY_PASSWORD},
        {"form": BY_PASSWORD},
        {"body": {"Grant_Type": "password", "USERNAME": "sHOP", "Password": SENT.upper(), "unknown": [1]}},
        {"form": {"GRANT_TYPE": "password", "UserName": "shop", "pASSWORD": SENT.upper()}},
        {"raw": b'{"grant_type":"password","username":"Shop","password":"%b"}' % SENT.encode()},
    ],
)
def test_json_and_form_and_keys_in_any_case(world: World, sent: dict[str, object]) -> None:
    answer = world.call("POST", TOKEN, by=None, **sent)
    assert answer.status == 200
    assert works(world, answer)


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer gka_old", "Basic Zm9vOmJhcg==", "nonsense"])
def test_a_stray_authorization_header_is_ignored(world: World, header: str) -> None:
    assert world.post(TOKEN, BY_PASSWORD, by=None, headers={"Authorization": header}).status == 200


def test_lifetimes_are_settings(make_world: Callable[..., World]) -> None:
    world = make_world(access_minutes=5, refresh_days=1)
    assert log_in(world).json["expires_in"] == 300
    lives = "SELECT access_expires - issued_at, refresh_expires - issued_at FROM tokens ORDER BY issued_at DESC LIMIT 1"
    assert world.sql(lives) == [(5 * MINUTE, DAY)]


def test_a_new_token_never_revokes_an_older_one(world: World) -> None:
    first, second = log_in(world), log_in(world)
    assert works(world, first)
    assert works(world, second)
    assert first.json["access_token"] != second.json["access_token"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "PASSWORD"}, "unsupported_grant_type"),
        ({"grant_type": "password", "username": "Shop"}, "invalid_request"),
        ({"grant_type": "password", "password": SENT}, "invalid_request"),
        ({"grant_type": "refresh_token"}, "invalid_request"),
        (BY_PASSWORD | {"password": "correct horse"}, "invalid_request"),
        (BY_PASSWORD | {"password": 7}, "invalid_request"),
        (BY_PASSWORD | {"username": ["Shop"]}, "invalid_request"),
        (BY_PASSWORD | {"username": "Sh\x00p"}, "invalid_request"),
        (BY_PASSWORD | {"scope": "write"}, "invalid_request"),
        (BY_PASSWORD | {"Password": SENT}, "invalid_request"),  # twice
        (BY_PASSWORD | {"password": WRONG}, "invalid_grant"),
        (BY_PASSWORD | {"username": "Nobody"}, "invalid_grant"),
        (BY_PASSWORD | {"username": people.NOBODY_ID}, "invalid_grant"),
        (BY_PASSWORD | {"username": "Ann"}, "unauthorized_client"),
        ({"grant_type": "refresh_token", "refresh_token": people.NOBODY_ID}, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": "nonsense"}, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": ""}, "invalid_request"),
    ],
)
def test_refusals_are_rfc_6749s(world: World, body: object, error: str) -> None:
    tokens = rows(world, "tokens")
    failed(world.post(TOKEN, body, by=None), error)
    assert rows(world, "tokens") == tokens


def test_refusals_of_broken_bodies_too(world: World) -> None:
    for raw in (b"{", b"[1]", b"null", b"\xff\xfe"):
        failed(
            world.call("POST", TOKEN, by=None, raw=raw, headers={"Content-Type": "application/json"}), "invalid_request"
        )


def test_a_name_nobody_has_and_a_wrong_password_get_the_same_answer(world: World) -> None:
    unknown = world.post(TOKEN, BY_PASSWORD | {"username": "Nobody"}, by=None)
    wrong = world.post(TOKEN, BY_PASSWORD | {"password": WRONG}, by=None)
    hidden = world.post(TOKEN, BY_PASSWORD | {"username": "Ann", "password": WRONG}, by=None)
    bodies = [{**answer.json, "RequestId": ""} for answer in (unknown, wrong, hidden)]
    assert bodies[0] == bodies[1] == bodies[2]


def test_only_accounts_with_api_access_log_in(world: World) -> None:
    answer = world.post(TOKEN, BY_PASSWORD | {"username": "Bob"}, by=None)
    failed(answer, "unauthorized_client")
    world.sql("UPDATE users SET api = (1 = 1) WHERE name = 'Bob'")
    assert works(world, log_in(world, "Bob"))
    assert not rows(world, "guesses")


def test_api_access_taken_away_ends_tokens_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "BELIEVED_SECONDS", 0)
    pair = log_in(world)
    assert works(world, pair)
    world.sql("UPDATE users SET api = (1 = 0) WHERE name = 'Shop'")
    assert not works(world, pair)
    failed(exchange(world, pair.json["refresh_token"]), "unauthorized_client")


# --- reading only -------------------------------------------------------------------------------------------------


def test_a_read_only_token_reads_and_nothing_else(world: World) -> None:
    token = log_in(world, "Root", scope="read").json["access_token"]
    reads = [("GET", PLAYERS), ("POST", f"{PLAYERS}/online"), ("POST", PLAYERS), ("POST", "/api/v1/users")]
    for method, path in reads:
        assert world.call(method, path, token=token).status == 200, path
    validate = world.post("/api/v1/users/Ann/password/validate", {"password": SENT}, token=token)
    assert validate.status == 200
    before = everything(world)
    writes = [
        ("GET", "/api/v1/users/Ann/password/reset"),
        ("POST", "/api/v1/users/register"),
        ("DELETE", f"{TOKEN}/Root"),
    ]
    for method, path in writes:
        refused(world.call(method, path, token=token), 403, "read_only_token", "This token can only read.")
    assert everything(world) == before


def test_a_refreshed_read_only_token_still_only_reads(world: World) -> None:
    pair = exchange(world, log_in(world, "Root", scope="read").json["refresh_token"])
    token = pair.json["access_token"]
    assert world.get(PLAYERS, token=token).status == 200
    refused(world.get("/api/v1/users/Ann/password/reset", token=token), 403, "read_only_token")


# --- the Authorization header -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer   "])
def test_the_scheme_is_in_any_case(world: World, scheme: str) -> None:
    header = {"Authorization": scheme + world.tokens["Shop"]}
    assert world.get(PLAYERS, by=None, headers=header).status == 200


def test_whatever_is_no_token_is_denied(world: World) -> None:
    good = world.tokens["Shop"]
    bad = ["", "Bearer", "Bearer ", good, f"Basic {good}", f"Token {good}", f"Bearer {good}x", f"Bearer {good[:-1]}"]
    odd = [f"Bearer {good.upper()}", f"Bearer {good[4:]}", "Bearer gka_", "Bearer gka_" + "x" * 300, "Bearer gka_ünï"]
    for header in (*bad, *odd, f"Bearer{good}", f"Bearer {good} {good}", "Bearer ' OR 1=1 --"):
        answer = world.get(PLAYERS, by=None, headers={"Authorization": header})
        refused(answer, 401, "denied", DENIED)
        assert answer.headers["www-authenticate"] == "Bearer"


def test_a_refresh_token_is_no_access_token(world: World) -> None:
    refused(world.get(PLAYERS, token=log_in(world).json["refresh_token"]), 401, "denied")


def test_an_access_token_expires(world: World) -> None:
    old, young = log_in(world), log_in(world)
    newest, older = public_ids(world, "Shop")[:2]
    age(world, older, 60 * MINUTE)
    age(world, newest, 59 * MINUTE)
    assert sorted((works(world, old), works(world, young))) == [False, True]


def test_a_token_is_not_believed_beyond_its_life(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(caller, "time", clock)
    pair = log_in(world)
    age(world, public_ids(world, "Shop")[0], 60 * MINUTE - 1000)
    assert works(world, pair)  # and now believed, but only for the second it has left
    world.sql("UPDATE tokens SET access_expires = 0")
    clock.monotonic = lambda: 1001.1
    assert not works(world, pair)


# --- the refresh grant --------------------------------------------------------------------------------------------


def test_refresh_rotates(world: World) -> None:
    first = log_in(world)
    second = exchange(world, first.json["refresh_token"])
    assert (second.status, list(second.json)) == (200, FIELDS)
    assert second.json["refresh_token"] != first.json["refresh_token"]
    assert second.json["access_token"] != first.json["access_token"]
    assert works(world, second)
    assert works(world, first)
    assert exchange(world, second.json["refresh_token"]).status == 200


def test_refresh_takes_a_guid_in_any_form(world: World) -> None:
    token = log_in(world).json["refresh_token"]
    assert exchange(world, token.upper().replace("-", "")).status == 200


def age_exchange(world: World, seconds: int) -> None:
    world.sql("UPDATE tokens SET exchanged_at = exchanged_at - $1", seconds * 1000)


def test_an_exchanged_token_stays_good_for_thirty_seconds(world: World) -> None:
    token = log_in(world).json["refresh_token"]
    exchange(world, token)
    age_exchange(world, 25)
    assert works(world, exchange(world, token))


def test_reuse_after_that_revokes_the_family_at_once(world: World) -> None:
    first, stranger = log_in(world), log_in(world)
    second = exchange(world, first.json["refresh_token"])
    third = exchange(world, second.json["refresh_token"])
    assert all(works(world, each) for each in (first, second, third))
    age_exchange(world, 31)
    failed(exchange(world, first.json["refresh_token"]), "invalid_grant")
    assert not any(works(world, each) for each in (first, second, third))
    failed(exchange(world, third.json["refresh_token"]), "invalid_grant")
    assert works(world, stranger)


def test_grace_does_not_begin_anew(world: World) -> None:
    token = log_in(world).json["refresh_token"]
    for _ in range(2):
        assert exchange(world, token).status == 200
        age_exchange(world, 20)
    failed(exchange(world, token), "invalid_grant")


def test_grace_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(refresh_grace_seconds=0)
    token = log_in(world).json["refresh_token"]
    assert exchange(world, token).status == 200
    age_exchange(world, 1)
    failed(exchange(world, token), "invalid_grant")


def test_a_refresh_token_expires(world: World) -> None:
    token = log_in(world).json["refresh_token"]
    world.sql("UPDATE tokens SET refresh_expires = refresh_expires - $1", 7 * DAY)
    failed(exchange(world, token), "invalid_grant")


def test_two_at_once_with_one_refresh_token_both_get_a_pair(make_world: Callable[..., World]) -> None:
    first, second = make_world(), make_world()
    body = {"grant_type": "refresh_token", "refresh_token": log_in(first).json["refresh_token"]}
    answers = at_once(first, [world.send("POST", TOKEN, body=body, by=None) for world in (first, second) * 2])
    assert [answer.status for answer in answers] == [200] * 4
    assert len({answer.json["access_token"] for answer in answers}) == 4


# --- revoking -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", [TOKEN, "/api/oauth/tokens"])
def test_revoke_all_of_ones_own(world: World, route: str) -> None:
    pairs = [log_in(world), log_in(world)]
    assert all(works(world, pair) for pair in pairs)
    answer = world.call("DELETE", f"{route}/sHOP", token=pairs[0].json["access_token"])
    assert (answer.status, answer.raw) == (200, b'{"username":"Shop"}')
    assert not any(works(world, pair) for pair in pairs)
    for pair in pairs:
        failed(exchange(world, pair.json["refresh_token"]), "invalid_grant")
    assert world.get(PLAYERS, by="Clerk").status == 200


@pytest.mark.parametrize("route", [TOKEN, "/api/oauth/tokens"])
@pytest.mark.parametrize("named_by", ["refresh token", "public id"])
def test_revoke_one(world: World, route: str, named_by: str) -> None:
    pair, other = log_in(world), log_in(world)
    name: str = pair.json["refresh_token"] if named_by == "refresh token" else id_of(world, pair)
    answer = world.call("DELETE", f"{route}/Shop/{name}", by="Shop")
    assert (answer.status, answer.raw) == (200, b'{"username":"Shop","tokenId":"%b"}' % name.encode())
    assert not works(world, pair)
    assert works(world, other)


def test_a_refresh_token_that_named_itself_is_not_kept_with_the_answer(world: World) -> None:
    token: str = log_in(world).json["refresh_token"]
    first, again = (
        world.call("DELETE", f"{TOKEN}/Shop/{token}", by="Shop", headers={"Idempotency-Key": "k"}) for _ in range(2)
    )
    assert again.headers["idempotent-replay"] == "true"
    assert first.raw == again.raw == b'{"username":"Shop","tokenId":"%b"}' % token.encode()
    assert token not in repr(everything(world))


def test_an_answer_about_somebody_who_is_erased_is_erased_too(world: World) -> None:
    path, key = f"{TOKEN}/Shop/{log_in(world).json['refresh_token']}", {"Idempotency-Key": "k"}
    assert world.call("DELETE", path, headers=key).status == 200
    assert world.call("DELETE", "/api/v1/users/Shop").status == 200
    refused(world.call("DELETE", path, headers=key), 409, "answer_erased")


def id_of(world: World, pair: Answer) -> str:
    """A pair's public id, as the ledger would name it."""
    asked = world.run(caller.Callers(world.keeper.store).caller(f"Bearer {pair.json['access_token']}".encode()))
    return asked.token_id


def test_ones_own_by_id(world: World) -> None:
    answer = world.call("DELETE", f"{TOKEN}/{people.USER_IDS['Shop'].upper()}", by="Shop")
    assert (answer.status, answer.json) == (200, {"username": "Shop"})
    refused(world.get(PLAYERS, by="Shop"), 401, "denied")


def test_a_name_that_looks_like_an_id_is_not_ones_own(world: World) -> None:
    """Such names come only from imports; the path means the account with that id."""
    world.sql("UPDATE users SET name = $1, fold = $1 WHERE name = 'Shop'", people.USER_IDS["Root"])
    refused(world.call("DELETE", f"{TOKEN}/{people.USER_IDS['Root']}", by="Shop"), 403, "role_missing")


@pytest.mark.parametrize("path", ["Clerk", "Nobody", people.USER_IDS["Clerk"], "Clerk/{}", "Nobody/{}"])
def test_others_tokens_need_the_role_and_nothing_is_learnt(world: World, path: str) -> None:
    """The same answer, whether the account and the token exist or not."""
    token = id_of(world, log_in(world, "Clerk"))
    for by in ("Shop", "Clerk" if "Nobody" in path else "Server"):
        answer = world.call("DELETE", f"{TOKEN}/{path.format(token)}", by=by)
        refused(answer, 403, "role_missing", "This needs the role users.manage.")
    assert world.get(PLAYERS, by="Clerk").status == 200


def test_others_tokens_with_the_role(world: World) -> None:
    pair = log_in(world, "Clerk")
    assert world.call("DELETE", f"{TOKEN}/Clerk/{pair.json['refresh_token']}").status == 200
    assert not works(world, pair)
    assert world.get(PLAYERS, by="Clerk").status == 200
    assert world.call("DELETE", f"{TOKEN}/Clerk").status == 200
    refused(world.get(PLAYERS, by="Clerk"), 401, "denied")


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("Nobody", "no_such_user", "No user with name 'Nobody'."),
        (f"Nobody/{people.NOBODY_ID}", "no_such_user", "No user with name 'Nobody'."),
        (f"Shop/{people.NOBODY_ID}", "no_such_token", f"User 'Shop' has no token '{people.NOBODY_ID}'."),
        ("Shop/nonsense", "no_such_token", "User 'Shop' has no token 'nonsense'."),
    ],
)
def test_nothing_to_revoke(world: World, path: str, code: str, message: str) -> None:
    refused(world.call("DELETE", f"{TOKEN}/{path}"), 404, code, message)


def test_a_token_is_revoked_under_its_own_users_name_only(world: World) -> None:
    pair = log_in(world)
    refused(world.call("DELETE", f"{TOKEN}/Clerk/{pair.json['refresh_token']}"), 404, "no_such_token")
    assert works(world, pair)


def test_revoking_needs_a_token(world: World) -> None:
    refused(world.call("DELETE", f"{TOKEN}/Shop", by=None), 401, "denied", DENIED)
    assert world.get(PLAYERS, by="Shop").status == 200


def test_revoked_at_once_here_and_within_five_seconds_elsewhere(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(caller, "time", clock)
    here, elsewhere = make_world(), make_world()
    pair = log_in(here)
    assert works(here, pair)
    assert works(elsewhere, pair)
    assert here.call("DELETE", f"{TOKEN}/Shop", by="Root").status == 200
    assert not works(here, pair)
    clock.monotonic = lambda: 1005.0
    assert not works(elsewhere, pair)
    assert caller.BELIEVED_SECONDS < 5


def test_a_token_asked_about_while_it_is_revoked_is_not_believed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question is under way, the revocation overtakes it, and only then comes the answer: good, as it was."""
    pair, real = log_in(world), stored.caller
    assert world.get(PLAYERS, by="Root").status == 200

    async def overtaken(tx: Reading, access_hash: str) -> stored.CallerRow | None:
        row = await real(tx, access_hash)
        assert (await world.send("DELETE", f"{TOKEN}/Shop", by="Root")).status == 200
        return row

    with monkeypatch.context() as patched:
        patched.setattr(stored, "caller", overtaken)
        assert works(world, pair)
    assert not works(world, pair)


# --- at rest ------------------------------------------------------------------------------------------------------


def test_no_tokens_text_is_in_the_database(world: World) -> None:
    first = log_in(world)
    second = exchange(world, first.json["refresh_token"])
    third = log_in(world, "Root", scope="read")
    works(world, second)
    text = repr(everything(world)).lower()
    for pair in (first, second, third):
        access, refresh = pair.json["access_token"].lower(), pair.json["refresh_token"]
        assert all(each not in text for each in (access, access[4:], refresh, refresh.replace("-", "")))
    assert people.USER_IDS["Shop"] in text  # the text does hold what the database holds


def test_a_stolen_hash_is_no_token(world: World) -> None:
    log_in(world)
    access_hash, refresh_hash = world.sql(
        "SELECT access_hash, refresh_hash FROM tokens WHERE refresh_hash IS NOT NULL"
    )[0]
    refused(world.get(PLAYERS, token=access_hash), 401, "denied")
    refused(world.get(PLAYERS, token=f"gka_{access_hash}"), 401, "denied")
    failed(exchange(world, refresh_hash), "invalid_grant")


def test_a_password_changed_while_a_log_in_is_checked_gets_no_token(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check takes its time; what it found may be over when it ends."""
    matched = world.keeper.passwords.matched

    async def slow(sent: str, stored: str | None) -> str | None:
        found = await matched(sent, stored)
        await world.send("POST", "/api/v1/users/Shop/manage/password/change", body={"new": "cd" * 32})
        return found

    monkeypatch.setattr(world.keeper.passwords, "matched", slow)
    body = {"grant_type": "password", "username": "Shop", "password": SENT}
    answer = world.post("/api/oauth/token", body, by=None)
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert world.sql(
        "SELECT COUNT(*) FROM token_records WHERE user_id = $1 AND revoked_at IS NULL", people.USER_IDS["Shop"]
    ) == [(0,)]


def test_who_is_erased_while_logging_in_is_told_what_nobody_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    matched = world.keeper.passwords.matched

    async def slow(sent: str, stored: str | None) -> str | None:
        found = await matched(sent, stored)
        assert (await world.send("DELETE", "/api/v1/users/Shop")).status == 200
        return found

    monkeypatch.setattr(world.keeper.passwords, "matched", slow)
    failed(world.post(TOKEN, BY_PASSWORD, by=None), "invalid_grant")


def test_a_refresh_under_way_does_not_outlive_a_revocation(make_world: Callable[..., World]) -> None:
    one, two = make_world(), make_world()
    log_in = {"grant_type": "password", "username": "Shop", "password": SENT}

    async def race() -> None:
        pair = (await one.send("POST", "/api/oauth/token", by=None, body=log_in)).json
        refresh = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
        refreshing = one.send("POST", "/api/oauth/token", by=None, body=refresh)
        await asyncio.gather(refreshing, two.send("DELETE", "/api/oauth/token/Shop"))

    for _ in range(15):
        one.run(race())
        issued = one.sql(
            "SELECT COUNT(*) FROM tokens t WHERE t.user_id = $1 AND t.revoked_at IS NULL "
            "AND EXISTS (SELECT 1 FROM tokens o WHERE o.family_id = t.family_id AND o.revoked_at IS NOT NULL)",
            people.USER_IDS["Shop"],
        )
        assert issued == [(0,)]
