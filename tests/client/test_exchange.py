"""Both clients against a scripted server that is unreachable, rejects requests, or sends invalid answers."""

import json
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

import pytest

import people
from client_driver import Driver, connecting
from fault_proxy import refusal
from gamekeeper_client import AsyncClient, Client, Patience, errors
from loops import over
from remote import wait_until
from scripted_server import ScriptedServer, answer

SHORT = Patience(retries=1, first=0.01, longest=0.02)
USER = {"username": "Root", "password": people.PASSWORD}
DENIED = refusal("401 Unauthorized", "")
TOKEN, FEED = "POST /api/oauth/token", "GET /api/link/v1/changes"
GIVE = "POST /api/v1/players/Bob/items/give"
Connect = Callable[..., Driver]


def token_response(expires_in: int = 3600) -> bytes:
    """Make the answer to a log-in. A token with `expires_in=0` must be renewed before the next call."""
    fields = {"access_token": "gka_a", "token_type": "bearer", "expires_in": expires_in, "refresh_token": "r"}
    return answer("200 OK", json.dumps({**fields, ".issued": "", ".expires": ""}).encode())


def feed_response(seq: int) -> bytes:
    change = {"Seq": seq, "At": "", "Kind": "k", "PlayerId": "", "Before": None, "After": None, "By": None}
    found = {"Changes": [{**change, "RequestId": ""}], "Next": seq, "Epoch": "e"}
    return answer("200 OK", json.dumps(found).encode())


def run_with_timeout(act: Callable[[], Any]) -> Any:
    """Run `act` in a thread and return its result or raise its error; fail after 60 seconds."""
    done = Future[Any]()

    def run() -> None:
        try:
            done.set_result(act())
        except errors.GamekeeperError as problem:
            done.set_exception(problem)

    threading.Thread(target=run, daemon=True).start()
    return done.result(timeout=60)


@pytest.fixture
def script() -> Generator[ScriptedServer]:
    with ScriptedServer(None) as server:
        yield server


@pytest.fixture(params=[Client, AsyncClient], ids=["blocking", "awaiting"])
def connect(request: pytest.FixtureRequest, script: ScriptedServer) -> Generator[Connect]:
    yield from connecting(request.param, script.url, patience=SHORT)


# --- log-ins of the client -----------------------------------------------------------------------------------------


def test_denied_log_in_is_raised(connect: Connect, script: ScriptedServer) -> None:
    script.say(DENIED)
    driver = connect(**USER)
    for _ in range(2):
        with pytest.raises(errors.Denied):
            run_with_timeout(lambda: driver.call("get_info"))
    assert script.requests == [TOKEN] * 2


# --- invalid arguments ---------------------------------------------------------------------------------------------


def test_reason_is_stripped_and_one_that_cannot_be_a_header_is_not_sent(
    connect: Connect, script: ScriptedServer
) -> None:
    driver = connect(token="gka_a")
    for reason in ("a\n", "\x7f", "\u00a0refund", "\ud800", "\tx"):
        with pytest.raises(ValueError, match="printable"):
            driver.call("give_item", "Bob", people.COIN.id, 1, reason=reason)
    assert script.requests == []
    script.say(refusal("409 Conflict", "inventory_full"))
    with pytest.raises(errors.InventoryFull):
        driver.call("give_item", "Bob", people.COIN.id, 1, reason="  refund  ")
    assert script.reasons == ["refund"]


# --- following the change feed -------------------------------------------------------------------------------------


def test_follow_changes_survives_failed_token_renewals(connect: Connect, script: ScriptedServer) -> None:
    away = refusal("503 Service Unavailable", "database_away")
    script.say(token_response(expires_in=0), feed_response(2), *[None, away] * 3, token_response(), feed_response(3))
    assert [change.seq for change in connect(**USER).each("follow_changes", 1, most=2)] == [2, 3]
    assert [each.split("?")[0] for each in script.requests] == [TOKEN, FEED, *[TOKEN] * 7, FEED]


def test_threads_do_not_wait_for_one_that_follows_changes(script: ScriptedServer) -> None:
    with Client(script.url, username="Root", password=people.PASSWORD, patience=SHORT) as client:
        found = Future[int]()
        threading.Thread(target=lambda: found.set_result(next(client.follow_changes(1)).seq), daemon=True).start()
        wait_until(lambda: len(script.requests) >= 5)  # more than a call with one retry (SHORT) would send
        with pytest.raises(errors.Unreachable):
            run_with_timeout(client.get_info)
        script.say(token_response(), feed_response(2))
        assert found.result(timeout=60) == 2


# --- idempotency keys ----------------------------------------------------------------------------------------------


def test_failed_token_renewal_error_has_key_of_write(connect: Connect, script: ScriptedServer) -> None:
    script.say(token_response(expires_in=0), None, None)
    with pytest.raises(errors.Unreachable, match=TOKEN) as caught:
        connect(**USER).call("give_item", "Bob", people.COIN.id, 1)
    assert script.requests == [TOKEN, GIVE, TOKEN]
    assert [caught.value.idempotency_key] == script.keys


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (refusal("503 Service Unavailable", "outcome_unknown"), errors.OutcomeUnknown),
        (refusal("504 Gateway Timeout", ""), errors.Unavailable),
        (answer("200 OK", b"hello"), errors.NotUnderstood),
        (refusal("409 Conflict", "inventory_full"), errors.InventoryFull),
    ],
    ids=["outcome unknown", "gateway", "not understood", "refused"],
)
def test_every_error_has_the_key_of_its_write(
    connect: Connect, script: ScriptedServer, said: bytes, kind: type[errors.GamekeeperError]
) -> None:
    script.say(said)
    driver = connect(token="gka_a")
    with pytest.raises(kind) as caught:
        driver.call("give_item", "Bob", people.COIN.id, 1)
    assert {caught.value.idempotency_key} == set(script.keys)
    with pytest.raises(errors.GamekeeperError) as caught:
        driver.call("get_info")
    assert caught.value.idempotency_key is None


# --- invalid answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [b'{"name": "caf\xe9", "Message": "caf\xe9"}', b'{"a":' * 100_000], ids=["latin", "deep"]
)
def test_invalid_json_raises_not_understood_or_status_error(
    connect: Connect, script: ScriptedServer, body: bytes
) -> None:
    driver = connect(token="gka_a")
    script.say(answer("200 OK", body))
    with pytest.raises(errors.NotUnderstood):
        driver.call("get_openapi")
    script.say(answer("404 Not Found", body))
    with pytest.raises(errors.NotFound, match="status 404"):
        driver.call("get_info")


# --- pauses between retries ----------------------------------------------------------------------------------------


def test_too_long_retry_after_ends_retries_unless_endless(connect: Connect, script: ScriptedServer) -> None:
    problem = errors.make_refusal(503, b"", "31")
    assert Patience().pause(problem, 0, endless=False) is None
    assert Patience().pause(problem, 0, endless=True) == 30
    script.say(refusal("503 Service Unavailable", "", "Retry-After: 999999999"), feed_response(2))
    driver = connect(token="gka_a", patience=Patience(longest_retry_after=0.1))
    assert run_with_timeout(lambda: driver.each("follow_changes", 1, most=1))


@over(
    "asked, attempt, least, most",
    (None, 0, 0.05, 0.1),
    ("0", 5, 1.6, 3.2),
    ("1", 0, 1, 1),
    ("1", 5, 1.6, 3.2),
    ("30", 0, 30, 30),
)
def test_pause_is_at_least_retry_after(asked: str | None, attempt: int, least: float, most: float) -> None:
    for endless in (True, False):
        pause = Patience().pause(errors.make_refusal(503, b"", asked), attempt, endless=endless)
        assert pause is not None
        assert least <= pause <= most
