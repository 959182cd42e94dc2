"""Errors: order of checks, what a 401 says, a 500 or 503 without internals, and a log without secrets."""

import asyncio
import json
from typing import Any

import pytest

import people
from api_keys import KEYS, create
from gamekeeper.game.access.tokens import hash_token
from gamekeeper.game.core import lookup
from gamekeeper.ground import log
from proof import refused
from token_pairs import DENIED, log_in
from world import PLAYERS, SENT, USERS, Answer, MakeWorld, World

EMAIL = f"{USERS}/Ann/manage/email/change"
INNER = "the inner text, with a secret"


def require_refusal_body(answer: Answer, status: int, code: str) -> None:
    """Require the body that all refusals share."""
    refused(answer, status, code)
    assert list(answer.json) == ["Message", "Code", "RequestId"]
    assert answer.json["RequestId"] == answer.headers["x-request-id"]
    assert answer.message.endswith(".")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["content-length"] == str(len(answer.raw))
    assert answer.headers["cache-control"] == "no-store"


def test_checks_run_in_order_route_token_role_size_type_shape_existence_rule(shared_world: World) -> None:
    call, nobody = shared_world.call, f"{USERS}/Nobody/manage/email/change"
    refused(shared_world.get("/api/v1/nonsense", by=None), 404, "no_such_route")
    refused(call("DELETE", USERS, by=None), 405, "method_not_allowed")
    for path in (EMAIL, nobody):
        refused(call("POST", path, token="gka_bad", raw=b"x" * 70_000), 401, "denied", DENIED)
    plain = {"Content-Type": "text/plain"}
    large, typed = {"raw": b"x" * 65_537, "headers": plain}, {"raw": b"x", "headers": plain}
    for more in (large, typed, {"body": {"new": 7}}, {}):
        for key in ("Ann", "Nobody", people.NOBODY_ID, people.USER_IDS["Ann"], "%00"):
            refused(call("POST", f"{USERS}/{key}/manage/email/change", by="Clerk", **more), 403, "role_missing")
    refused(call("POST", nobody, **large), 413, "body_too_large")
    refused(call("POST", nobody, **typed), 415, "unsupported_media_type")
    refused(shared_world.post(nobody, {"new": 7}), 400, "bad_field")
    refused(shared_world.post(nobody, {"new": "bob@example.test"}), 404, "no_such_user")
    refused(shared_world.post(EMAIL, {"new": "bob@example.test"}), 409, "email_taken")


def read_log(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    log.flush()
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_500_hides_internals_and_the_log_has_them(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def raise_error(*_: object) -> None:
        raise RuntimeError(INNER)

    with monkeypatch.context() as patched:
        patched.setattr(lookup, "find_user_record", raise_error)
        answer = world.get(f"{USERS}/Ann")
    require_refusal_body(answer, 500, "internal_error")
    assert answer.message == "Internal server error. The server's log has the details under this RequestId."
    assert not any(word in answer.raw.decode() for word in (INNER, "RuntimeError", "Traceback", "lookup"))
    (line,) = read_log(capsys)
    assert line["id"] == answer.json["RequestId"]
    assert INNER in line["failure"]
    assert world.get(f"{USERS}/Ann").status == 200


def stop_writes(world: World) -> None:
    """Make the database read-only, like a full disk or a server that became a standby."""
    if world.keeper.store.engine == "sqlite":
        world.sql("PRAGMA max_page_count = 1")
        return
    name = world.sql("SELECT CAST(current_database() AS text)")[0][0]
    world.sql(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    world.sql("SELECT set_config('default_transaction_read_only', 'on', false)")


@pytest.mark.both_engines
def test_read_only_database_answers_503_to_writes_and_serves_reads(
    make_world: MakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a full database, writes succeed until its last page is full; then they get a 503, and reads still succeed."""
    world = make_world(resets_per_account=1000)
    stop_writes(world)
    answers = (world.post(EMAIL, {"new": f"{number}@new.test"}) for number in range(500))
    answer = next(answer for answer in answers if answer.status != 200)
    require_refusal_body(answer, 503, "database_away")
    assert answer.headers["retry-after"] == "1"
    assert answer.json["RequestId"] in {line["id"] for line in read_log(capsys)}
    assert world.get(USERS).status == 200


# PostgreSQL only: an SQLite file stays available, because this process holds it open
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_unreachable_database_answers_503(
    databases: Any, loop: asyncio.AbstractEventLoop, capsys: pytest.CaptureFixture[str]
) -> None:
    url = databases.fresh()
    world = World(url, databases.tokens, loop)
    assert world.get(USERS).status == 200
    databases.drop(url)
    answers = [world.get(USERS), world.post(EMAIL, {"new": "a@new.test"})]
    for answer in answers:
        require_refusal_body(answer, 503, "database_away")
    assert {line["id"] for line in read_log(capsys)} == {answer.json["RequestId"] for answer in answers}
    world.close()


def test_log_has_one_line_per_request_without_secrets(
    make_world: MakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    world = make_world(access_log=True)
    log_in = world.post("/api/oauth/token", {"grant_type": "password", "username": "Root", "password": SENT}, by=None)
    pair = log_in.json
    world.get(f"{USERS}/Ann/password/reset", token=pair["access_token"])
    code = world.get(f"{USERS}/Ann").json["PasswordResetCode"]
    world.post(f"{USERS}/Ann/password/reset", {"code": code, "new": "b" * 64})
    world.call("DELETE", f"/api/oauth/token/Root/{pair['refresh_token']}")
    log.flush()
    text = capsys.readouterr().err
    # the log has one line per request, and one saying that mail is not configured
    assert len(text.splitlines()) == 5 + 1
    secrets = [SENT, "b" * 64, code, pair["access_token"], pair["refresh_token"], "$argon2"]
    assert not [secret for secret in secrets if secret in text]
    answer = world.get(f"{USERS}/Nobody%0A%1B%5B2J", by="Clerk")
    (line,) = read_log(capsys)
    assert (line["id"], line["caller"], line["status"]) == (answer.json["RequestId"], "Clerk", 404)
    assert line["route"] == f"GET {USERS}/[lookupKey]"


def read_reason(world: World, authorization: str) -> str:
    answer = world.get(PLAYERS, by=None, headers={"Authorization": authorization} if authorization else {})
    refused(answer, 401, "denied", DENIED)
    return answer.headers["www-authenticate"].partition('error_description="')[2].rstrip('"')


@pytest.mark.both_engines
def test_401_tells_why_a_token_does_not_work(world: World) -> None:
    texts = {name: log_in(world).json["access_token"] for name in ("expired", "idle", "revoked", "of round", "barred")}
    text = texts["expired"]
    world.sql("UPDATE tokens SET access_expires = 1 WHERE access_hash = $1", hash_token(text))
    world.sql("UPDATE tokens SET idle_ms = 1, last_used = 1 WHERE access_hash = $1", hash_token(texts["idle"]))
    world.sql(
        "UPDATE tokens SET revoked_at = 1, access_expires = 1 WHERE access_hash = $1", hash_token(texts["revoked"])
    )
    world.sql("UPDATE tokens SET round = -1 WHERE access_hash = $1", hash_token(texts["of round"]))
    world.sql("UPDATE users SET suspended = $1 WHERE name = 'Shop'", True)
    sent = {name: f"Bearer {each}" for name, each in texts.items()}
    sent |= {
        "missing": "",
        "malformed": f"Basic {text}",
        "no prefix": f"Bearer {text[4:]}",
        "unknown": f"Bearer {text}x",
    }
    reasons = {name: read_reason(world, each) for name, each in sent.items()}
    assert reasons.pop("missing") == ""  # RFC 6750: a request without a token gets no error code
    assert {name: reason.split()[0] for name, reason in reasons.items()} == {
        **dict.fromkeys(("malformed", "no prefix"), "Malformed:"),
        **dict.fromkeys(("expired", "idle"), "Expired:"),
        **dict.fromkeys(("revoked", "of round"), "Revoked:"),
        "unknown": "Unknown:",
        "barred": "The",
    }


@pytest.mark.both_engines
def test_401_tells_why_an_api_key_does_not_work(world: World) -> None:
    names = ("expired", "rotated", "revoked", "suspended", "barred")
    keys = {name: create(world, Name=name, Owner="Shop") for name in names}
    world.sql("UPDATE api_keys SET expires_at = 1 WHERE name = 'expired'")
    assert world.post(f"{KEYS}/{keys['rotated']['Id']}/rotate", {}).status == 200
    assert world.call("DELETE", f"{KEYS}/{keys['revoked']['Id']}").status == 200
    assert world.call("PUT", f"{KEYS}/{keys['suspended']['Id']}", body={"Suspended": True}).status == 200
    world.sql("UPDATE users SET suspended = $1 WHERE name = 'Shop'", True)
    sent = {name: f"Bearer {each['Key']}" for name, each in keys.items()} | {"unknown": "Bearer gkk_unknown"}
    reasons = {name: read_reason(world, each) for name, each in sent.items()}
    assert {name: reasons[name].partition(":")[0] for name in ("expired", "revoked", "suspended", "unknown")} == {
        name: name.title() for name in ("expired", "revoked", "suspended", "unknown")
    }
    assert "rotated" in reasons["rotated"]
    assert reasons["barred"].startswith("The owner of the API key is banned")
