"""Log-in with a password: answers, refusals, and changes during the password check."""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime

import pytest

import people
from gamekeeper.game.core.lookup import parse_guid
from gamekeeper.http.server import caller
from proof import rows
from token_pairs import BY_PASSWORD, FIELDS, exchange, log_in, require_oauth_error, works
from world import SENT, TOKEN, WRONG, World


def test_log_in_answer_has_exactly_the_fields_and_dates(world: World) -> None:
    answer = log_in(world)
    body = answer.json
    assert list(body) == FIELDS
    assert (body["token_type"], body["expires_in"]) == ("bearer", 3600)
    assert re.fullmatch(r"gka_[A-Za-z0-9_-]{43,251}", body["access_token"])
    assert parse_guid(body["refresh_token"]) == body["refresh_token"]
    assert answer.headers["cache-control"] == "no-store"
    issued, expires = (parsedate_to_datetime(body[name]) for name in (".issued", ".expires"))
    assert re.fullmatch(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT", body[".issued"])
    assert (expires - issued).total_seconds() == 3600
    assert abs((datetime.now(issued.tzinfo) - issued).total_seconds()) < 60
    second = log_in(world)
    assert works(world, answer)
    assert works(world, second)
    assert second.json["access_token"] != body["access_token"]


def test_log_in_refusals_follow_rfc_6749_and_tell_no_name(world: World) -> None:
    wrong_password = BY_PASSWORD | {"password": WRONG}
    for body, error in [
        ({}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        (BY_PASSWORD | {"password": people.PASSWORD}, "invalid_request"),
        (BY_PASSWORD | {"scope": "write"}, "invalid_request"),
        (BY_PASSWORD | {"Password": SENT}, "invalid_request"),  # the password field is sent twice, in two spellings
        (wrong_password, "invalid_grant"),
        (BY_PASSWORD | {"username": people.NOBODY_ID}, "invalid_grant"),
        (BY_PASSWORD | {"username": "Ann"}, "unauthorized_client"),
        ({"grant_type": "refresh_token", "refresh_token": people.NOBODY_ID}, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": ""}, "invalid_request"),
    ]:
        tokens = rows(world, "tokens")
        require_oauth_error(world.post(TOKEN, body, by=None), error)
        assert rows(world, "tokens") == tokens
    sent = (wrong_password, BY_PASSWORD | {"username": "Nobody"}, wrong_password | {"username": "Ann"})
    bodies = [{**world.post(TOKEN, each, by=None).json, "RequestId": ""} for each in sent]
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


CHANGE_PASSWORD = ("POST", "/api/v1/users/Shop/manage/password/change", {"new": "cd" * 32})
ERASE = ("DELETE", "/api/v1/users/Shop", None)


@pytest.mark.both_engines
@pytest.mark.parametrize("meanwhile", [CHANGE_PASSWORD, ERASE], ids=["new_password", "erased"])
def test_log_in_with_a_password_that_is_void_meanwhile_gets_no_token(
    world: World, monkeypatch: pytest.MonkeyPatch, meanwhile: tuple[str, str, object]
) -> None:
    """The account may be changed while the slow check of its old password is running."""
    matched = world.keeper.passwords.verify_and_upgrade
    method, path, body = meanwhile

    async def slow(sent: str, stored: str | None) -> str | None:
        found = await matched(sent, stored)
        assert (await world.send(method, path, body=body)).status == 200
        return found

    monkeypatch.setattr(world.keeper.passwords, "verify_and_upgrade", slow)
    require_oauth_error(world.post(TOKEN, BY_PASSWORD, by=None), "invalid_grant")
    assert world.sql(
        "SELECT COUNT(*) FROM token_records WHERE user_id = $1 AND revoked_at IS NULL", people.USER_IDS["Shop"]
    ) == [(0,)]
