"""Errors: every refusal has the same body, checks have a fixed order, and a 500 reveals no internals."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import people
from gamekeeper import log
from gamekeeper.game import lookup, refusals
from gamekeeper.http import errors, public
from gamekeeper.http.operation import NO_TOKEN, Route
from gamekeeper.http.routes import METRICS, ROUTES
from loops import over
from proof import refused
from world import SENT, Answer, World

USERS = "/api/v1/users"
EMAIL = f"{USERS}/Ann/manage/email/change"
DENIED = "Authorization has been denied for this request."
DECISIONS = Path(__file__).parents[2] / "docs" / "decisions" / "tokens.md"
INNER = "the inner text, with a secret"


@dataclass(frozen=True)
class RefusedCall:
    status: int
    code: str
    method: str
    path: str
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])  # headers that the refusal must have


FACES = [
    RefusedCall(400, "missing_field", "POST", EMAIL, {"body": {}}),
    RefusedCall(401, "denied", "GET", USERS, {"by": None}, {"www-authenticate": "Bearer"}),
    RefusedCall(403, "role_missing", "GET", USERS, {"by": "Shop"}),
    RefusedCall(404, "no_such_user", "GET", f"{USERS}/Nobody"),
    RefusedCall(404, "no_such_route", "GET", "/api/v1/nonsense"),
    RefusedCall(404, "no_such_route", "GET", "/nothing"),
    RefusedCall(404, "no_such_route", "GET", f"{USERS}//players"),
    RefusedCall(405, "method_not_allowed", "DELETE", USERS, {}, {"allow": "GET, POST"}),
    RefusedCall(405, "method_not_allowed", "PATCH", "/api/oauth/token", {}, {"allow": "POST"}),
    RefusedCall(409, "email_taken", "POST", EMAIL, {"body": {"new": "bob@example.test"}}),
    RefusedCall(413, "body_too_large", "POST", EMAIL, {"raw": b" " * 65_537}),
    RefusedCall(415, "unsupported_media_type", "POST", EMAIL, {"raw": b"x", "headers": {"Content-Type": "text/plain"}}),
]


def require_refusal_body(answer: Answer, status: int, code: str) -> None:
    """Require the body that all refusals share."""
    refused(answer, status, code)
    assert list(answer.json) == ["Message", "Code", "RequestId"]
    assert answer.json["RequestId"] == answer.headers["x-request-id"]
    assert answer.message.endswith(".")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["content-length"] == str(len(answer.raw))
    assert answer.headers["cache-control"] == "no-store"


# --- the body of refusals ------------------------------------------------------------------------------------------


@over("asked", FACES)
def test_every_refusal_has_the_same_body(shared_world: World, asked: RefusedCall) -> None:
    answer = shared_world.call(asked.method, asked.path, **asked.more)
    require_refusal_body(answer, asked.status, asked.code)
    assert {name: answer.headers[name] for name in asked.headers} == asked.headers


def test_refusals_of_reused_keys_and_too_many_guesses_have_the_same_body(make_world: Callable[..., World]) -> None:
    world, key = make_world(guesses_per_caller=1), {"Idempotency-Key": "k1"}
    assert world.post(EMAIL, {"new": "a@new.test"}, headers=key).status == 200
    require_refusal_body(world.post(EMAIL, {"new": "b@new.test"}, headers=key), 422, "idempotency_key_reused")
    nobody = f"{USERS}/Nobody/manage/email/change"  # a replay is answered before existence is checked
    refused(world.post(nobody, {"new": "a@new.test"}, headers=key), 422, "idempotency_key_reused")
    wrong = {"password": "a" * 64}
    assert world.post(f"{USERS}/Ann/password/validate", wrong).status == 400
    answer = world.post(f"{USERS}/Ann/password/validate", wrong)
    require_refusal_body(answer, 429, "too_many_guesses")
    assert int(answer.headers["retry-after"]) > 0


def test_every_refusal_class_has_a_status() -> None:
    def branches(kind: type[refusals.Refusal]) -> list[type[refusals.Refusal]]:
        return [kind, *(leaf for branch in kind.__subclasses__() for leaf in branches(branch))]

    for kind in branches(refusals.Refusal)[1:]:
        assert 400 <= errors.find_status(kind) <= 503, kind
    assert errors.find_status(errors.ActNotImplemented) == 501
    assert {500, 503} == errors.SERVER_ERRORS


def test_request_ids_differ(shared_world: World) -> None:
    ids = {shared_world.get(f"{USERS}/Nobody").json["RequestId"] for _ in range(20)}
    ids |= {shared_world.get(USERS).headers["x-request-id"] for _ in range(20)}
    assert len(ids) == 40


# --- the order of the checks of a request --------------------------------------------------------------------------


def test_checks_run_in_order_route_token_role_size_type_shape_existence_rule(shared_world: World) -> None:
    call, nobody = shared_world.call, f"{USERS}/Nobody/manage/email/change"
    refused(shared_world.get("/api/v1/nonsense", by=None), 404, "no_such_route")
    refused(call("DELETE", USERS, by=None), 405, "method_not_allowed")
    for path in (EMAIL, nobody):
        refused(call("POST", path, token="gka_bad", raw=b"x" * 70_000), 401, "denied", DENIED)
    plain = {"Content-Type": "text/plain"}
    large, typed = {"raw": b"x" * 65_537, "headers": plain}, {"raw": b"x", "headers": plain}
    message = "This needs the permission users.manage. Ask an administrator for a role that has it."
    for more in (large, typed, {"body": {"new": 7}}, {}):
        for key in ("Ann", "Nobody", people.NOBODY_ID, people.USER_IDS["Ann"], "%00"):
            answer = call("POST", f"{USERS}/{key}/manage/email/change", by="Clerk", **more)
            refused(answer, 403, "role_missing", message)
    refused(call("POST", nobody, **large), 413, "body_too_large")
    refused(call("POST", nobody, **typed), 415, "unsupported_media_type")
    refused(shared_world.post(nobody, {"new": 7}), 400, "bad_field")
    refused(shared_world.post(nobody, {"new": "bob@example.test"}), 404, "no_such_user")
    refused(shared_world.post(EMAIL, {"new": "bob@example.test"}), 409, "email_taken")


# --- refusals of paths and headers ---------------------------------------------------------------------------------


def test_only_listed_routes_need_no_token(shared_world: World) -> None:
    def is_denied(route: Route) -> bool:
        path = route.path.replace("[", "").replace("]", "")
        return shared_world.call(route.method, path, by=None).status == 401

    open_to_all = {route.path for route in ROUTES if not is_denied(route)}
    assert open_to_all == {route.path for route in ROUTES if route.permissions is NO_TOKEN}
    # these two exist only if a setting is given
    open_to_all |= {route.path for route in (METRICS, *public.ROUTES) if route.permissions is NO_TOKEN}
    row = next(
        line for line in DECISIONS.read_text("utf-8").splitlines() if line.startswith("| Paths without a token |")
    )
    listed = re.findall(r"`(/[^`]*)`", row)
    assert [path for path in open_to_all if not any(fnmatchcase(path, each) for each in listed)] == []
    assert [each for each in listed if not any(fnmatchcase(path, each) for path in open_to_all)] == []


def test_connection_close_is_echoed(shared_world: World) -> None:
    for headers in ({"Connection": "close"}, {"Connection": "Close"}):
        assert shared_world.get(USERS, headers=headers).headers["connection"] == "close"
    assert "connection" not in shared_world.get(USERS, headers={"Connection": "keep-alive"}).headers


# --- server errors -------------------------------------------------------------------------------------------------


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
