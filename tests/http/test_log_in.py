"""Log-in with a password: answers, refusals, and changes during the password check."""

import re
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime

import pytest

import people
from gamekeeper.game.lookup import parse_guid
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.http import caller
from proof import rows
from token_pairs import BY_PASSWORD, DAY, FIELDS, MINUTE, TOKEN, exchange, log_in, require_oauth_error, works
from world import SENT, World

WRONG = hash_for_wire("not it")


def test_log_in_answer_has_exactly_the_fields_and_dates(world: World) -> None:
    answer = log_in(world)
    body = answer.json
    assert list(body) == FIELDS
    assert (body["token_type"], body["expires_in"]) == ("bearer", 3600)
    assert re.fullmatch(r"gka_[A-Za-z0-9_-]{43,}", body["access_token"])
    assert len(body["access_token"]) <= 255
    assert parse_guid(body["refresh_token"]) == body["refresh_token"]
    assert answer.headers["cache-control"] == "no-store"
    assert works(world, answer)
    body = log_in(world).json
    issued, expires = (parsedate_to_datetime(body[name]) for name in (".issued", ".expires"))
    assert re.fullmatch(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT", body[".issued"])
    assert (expires - issued).total_seconds() == 3600
    assert abs((datetime.now(issued.tzinfo) - issued).total_seconds()) < 60
    first, second = log_in(world), log_in(world)
    assert works(world, first)
    assert works(world, second)
    assert first.json["access_token"] != second.json["access_token"]


def test_log_in_accepts_json_and_form_and_ignores_an_authorization_header(world: World) -> None:
    for sent in [
        {"body": BY_PASSWORD},
        {"form": BY_PASSWORD},
        {"body": {"Grant_Type": "password", "USERNAME": "sHOP", "Password": SENT.upper(), "unknown": [1]}},
        {"form": {"GRANT_TYPE": "password", "UserName": "shop", "pASSWORD": SENT.upper()}},
        {"raw": b'{"grant_type":"password","username":"Shop","password":"%b"}' % SENT.encode()},
    ]:
        answer = world.call("POST", TOKEN, by=None, **sent)
        assert answer.status == 200
        assert works(world, answer)
    for header in ["", "Bearer", "Bearer gka_old", "Basic Zm9vOmJhcg==", "nonsense"]:
        assert world.post(TOKEN, BY_PASSWORD, by=None, headers={"Authorization": header}).status == 200


def test_token_lifetimes_are_settings(make_world: Callable[..., World]) -> None:
    world = make_world(access_minutes=5, refresh_days=1)
    assert log_in(world).json["expires_in"] == 300
    lives = "SELECT access_expires - issued_at, refresh_expires - issued_at FROM tokens ORDER BY issued_at DESC LIMIT 1"
    assert world.sql(lives) == [(5 * MINUTE, DAY)]


def test_log_in_refusals_follow_rfc_6749(world: World) -> None:
    for body, error in [
        ({}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "PASSWORD"}, "unsupported_grant_type"),
        ({"grant_type": "password", "username": "Shop"}, "invalid_request"),
        ({"grant_type": "password", "password": SENT}, "invalid_request"),
        ({"grant_type": "refresh_token"}, "invalid_request"),
        (BY_PASSWORD | {"password": people.PASSWORD}, "invalid_request"),
        (BY_PASSWORD | {"password": 7}, "invalid_request"),
        (BY_PASSWORD | {"username": ["Shop"]}, "invalid_request"),
        (BY_PASSWORD | {"username": "Sh\x00p"}, "invalid_request"),
        (BY_PASSWORD | {"scope": "write"}, "invalid_request"),
        (BY_PASSWORD | {"Password": SENT}, "invalid_request"),  # the password field is sent twice, in two spellings
        (BY_PASSWORD | {"password": WRONG}, "invalid_grant"),
        (BY_PASSWORD | {"username": "Nobody"}, "invalid_grant"),
        (BY_PASSWORD | {"username": people.NOBODY_ID}, "invalid_grant"),
        (BY_PASSWORD | {"username": "Ann"}, "unauthorized_client"),
        ({"grant_type": "refresh_token", "refresh_token": people.NOBODY_ID}, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": "nonsense"}, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": ""}, "invalid_request"),
    ]:
        tokens = rows(world, "tokens")
        require_oauth_error(world.post(TOKEN, body, by=None), error)
        assert rows(world, "tokens") == tokens
    for raw in (b"{", b"[1]", b"null", b"\xff\xfe"):
        require_oauth_error(
            world.call("POST", TOKEN, by=None, raw=raw, headers={"Content-Type": "application/json"}), "invalid_request"
        )
    unknown = world.post(TOKEN, BY_PASSWORD | {"username": "Nobody"}, by=None)
    wrong = world.post(TOKEN, BY_PASSWORD | {"password": WRONG}, by=None)
    hidden = world.post(TOKEN, BY_PASSWORD | {"username": "Ann", "password": WRONG}, by=None)
    bodies = [{**answer.json, "RequestId": ""} for answer in (unknown, wrong, hidden)]
    assert bodies[0] == bodies[1] == bodies[2]


def test_only_accounts_with_api_access_log_in_and_keep_tokens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = world.post(TOKEN, BY_PASSWORD | {"username": "Bob"}, by=None)
    require_oauth_error(answer, "unauthorized_client")
    world.sql("UPDATE users SET api = (1 = 1) WHERE name = 'Bob'")
    assert works(world, log_in(world, "Bob"))
    assert not rows(world, "guesses")
    monkeypatch.setattr(caller, "CACHE_SECONDS", 0)
    pair = log_in(world)
    assert works(world, pair)
    world.sql("UPDATE users SET api = (1 = 0) WHERE name = 'Shop'")
    assert not works(world, pair)
    require_oauth_error(exchange(world, pair.json["refresh_token"]), "unauthorized_client")


def test_log_in_with_a_password_changed_meanwhile_gets_no_token(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The password may be changed while the slow check of the old one is running."""
    matched = world.keeper.passwords.verify_and_upgrade

    async def slow(sent: str, stored: str | None) -> str | None:
        found = await matched(sent, stored)
        await world.send("POST", "/api/v1/users/Shop/manage/password/change", body={"new": "cd" * 32})
        return found

    monkeypatch.setattr(world.keeper.passwords, "verify_and_upgrade", slow)
    answer = world.post(TOKEN, BY_PASSWORD, by=None)
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert world.sql(
        "SELECT COUNT(*) FROM token_records WHERE user_id = $1 AND revoked_at IS NULL", people.USER_IDS["Shop"]
    ) == [(0,)]


def test_account_erased_during_log_in_is_answered_like_an_unknown_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    matched = world.keeper.passwords.verify_and_upgrade

    async def slow(sent: str, stored: str | None) -> str | None:
        found = await matched(sent, stored)
        assert (await world.send("DELETE", "/api/v1/users/Shop")).status == 200
        return found

    monkeypatch.setattr(world.keeper.passwords, "verify_and_upgrade", slow)
    require_oauth_error(world.post(TOKEN, BY_PASSWORD, by=None), "invalid_grant")
