"""Errors: a 500 or 503 has one body without internals, and the log has no secrets."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from gamekeeper import log
from gamekeeper.game import lookup
from proof import refused
from world import SENT, Answer, World

USERS = "/api/v1/users"
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
    make_world: Callable[..., World], capsys: pytest.CaptureFixture[str]
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
    make_world: Callable[..., World], capsys: pytest.CaptureFixture[str]
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
