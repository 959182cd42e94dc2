"""The generated clients are what the declarations say: each method fits its route, and reads its answer."""

import re

import msgspec
import pytest
from msgspec import Struct

import generate_clients
from client_calls import CALLED, GUID, METHODS, WRITES, build_call
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import WRITE
from gamekeeper_client import errors
from loops import collecting


def test_generated_modules_are_those_of_the_declarations() -> None:
    assert generate_clients.find_stale() == [], "run: make clients"


def test_calls_match_their_routes() -> None:
    with collecting() as case:
        for name in METHODS:
            with case(name):
                assert_call_matches_route(name)
                assert_call_reads_answer(name)
        for name in WRITES:
            with case(name):
                assert_write_options(name)


def assert_call_matches_route(name: str) -> None:
    call, route = build_call(name), CALLED[name]
    assert call.needs_token == (route.permissions is not None)
    has_key = route.access is WRITE and not route.path.endswith("/token")
    assert (call.key is not None) == has_key
    asked = set(route.query.__struct_fields__) if route.query else set[str]()
    assert set(call.query) <= asked
    if isinstance(route.body, type) and issubclass(route.body, Struct):
        assert call.body is not None
        msgspec.json.decode(call.body, type=route.body)
        assert set(msgspec.json.decode(call.body)) <= set(route.body.__struct_encode_fields__)
    else:
        assert (call.body is None) == (route.body is None)


def assert_write_options(name: str) -> None:
    call = build_call(name, dry_run=True, reason="why", idempotency_key="mine")
    assert (call.query["dryRun"], call.headers) == ("true", {"Idempotency-Key": "mine", "X-Reason": "why"})
    assert build_call(name).key != build_call(name).key
    assert build_call(name).query == {}


def assert_call_reads_answer(name: str) -> None:
    call, route = build_call(name), CALLED[name]
    assert call.read(shapes.encode(route.example_answer)) is not None
    with pytest.raises(ValueError, match=r"Expected|no field"):
        call.read(b'"something else"')


def test_unknown_code_gets_the_class_of_its_status() -> None:
    assert errors.find_class(409, "dragon_asleep") is errors.Conflict
    assert errors.find_class(418, "teapot") is errors.Refused
    proxy = errors.make_refusal(502, b"<html>Bad Gateway</html>", "3")
    assert (type(proxy), proxy.code, proxy.retry_after) == (errors.Unavailable, "", 3.0)
    assert str(proxy) == "The server answered with status 502. (502)"


def test_empty_or_invalid_argument_is_value_error() -> None:
    for name, given in (
        ("get_player", {"player": ""}),
        ("give_item", {"player": "Ann", "item_id": GUID, "idempotency_key": "two words"}),
        ("give_item", {"player": "Ann", "item_id": GUID, "reason": "x" * 501}),
    ):
        with pytest.raises(ValueError, match=r"must not be empty|visible ASCII|printable"):
            METHODS[name].call(**given)


def test_special_characters_in_names_are_escaped() -> None:
    for odd in ("a/b", "..", "a?b", "a#b", "ä b", "%41"):
        call = METHODS["get_player"].call(odd)
        assert re.fullmatch(r"/api/v1/players/[A-Za-z0-9%_~-]+", call.path), odd
