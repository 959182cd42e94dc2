"""Client and server agree: each route has a method, each type its fields, each refusal an error class."""

import importlib
import pkgutil
import re
import types
from typing import Any, Literal, get_args, get_origin

import msgspec
import pytest
from msgspec import Struct, UnsetType

import gamekeeper_client
from client_calls import CALLED, GUID, METHODS, OPERATIONS, WRITES, build_call
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import bulk_shapes, history_shapes
from gamekeeper.http.contract import schemas, shapes
from gamekeeper.http.contract.operation import WRITE
from gamekeeper.http.contract.routes import ROUTES
from gamekeeper.http.insight import economy_shapes
from gamekeeper.http.players import player_shapes
from gamekeeper.http.server import errors as server_errors
from gamekeeper.http.world import link_shapes
from gamekeeper_client import activity, approvals, bulk, errors, feed, history, mails, paging, players, security, users
from loops import collecting

SYNONYMS = {route.path for route in ROUTES if route.path.startswith(("/api/oauth/tokens/", "/api/info/"))}
HTML_PAGES = {route.path for route in ROUTES if isinstance(route.answer, str)}  # routes that return HTML
OTHER_NAMES: dict[Any, Any] = {
    paging.Page: shapes.Paged,
    paging.LegacyPage: shapes.Legacy,
    players.Player: player_shapes.PlayerRecord,
    users.User: account_shapes.UserRecord,
    feed.Change: link_shapes.FeedChange,
    history.HistoryPage: history_shapes.History,
    mails.MailsPage: account_shapes.Mails,
    activity.PlaySessionsPage: economy_shapes.PlaySessions,
    approvals.ApprovalsPage: history_shapes.Approvals,
    bulk.BulkJobsPage: bulk_shapes.BulkJobs,
    bulk.BulkTargetsPage: bulk_shapes.BulkTargets,
    security.SecurityPage: credential_shapes.SecurityEvents,
    errors.Error: link_shapes.UnappliedError,
}
# the client has one error shape with the fields of all error shapes of the server
OTHER_ERRORS = (shapes.QuotaError, shapes.HeldError)


def test_operation_ids_are_names_of_methods() -> None:
    ids = {route.name for route in ROUTES if route.path not in SYNONYMS | HTML_PAGES}
    assert ids == OPERATIONS.keys() - {"refresh_token"}  # the client method refresh_token uses the route of issue_token


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
    assert call.read(msgspec.json.encode(make_sample(route.answer))) is not None
    with pytest.raises(ValueError, match=r"Expected|no field"):
        call.read(b'"something else"')


SAMPLES: dict[Any, Any] = {str: "x", int: 7, float: 1.5, bool: True, type(None): None, msgspec.Raw: {"a": [1]}, Any: 8}


def make_sample(shape: Any) -> Any:
    """Make a simple JSON value that fits a type."""
    origin, arguments = get_origin(shape), get_args(shape)
    if shape in SAMPLES:
        return SAMPLES[shape]
    if origin is Literal:
        return arguments[0]
    if origin is list or is_union(shape) or hasattr(shape, "__metadata__"):
        of = make_sample(next(each for each in arguments if each is not UnsetType))
        return [of] if origin is list else of
    if origin is dict:
        return {"x": SAMPLES.get(arguments[1], 1)}
    return {each.encode_name: make_sample(each.type) for each in msgspec.structs.fields(shape)}


def is_union(shape: Any) -> bool:
    return isinstance(shape, types.UnionType) or str(get_origin(shape)) == "typing.Union"


SHAPES: list[type[Struct]] = [
    each
    for module in pkgutil.iter_modules(gamekeeper_client.__path__, "gamekeeper_client.")
    for each in vars(importlib.import_module(module.name)).values()
    if isinstance(each, type) and issubclass(each, Struct) and each.__module__ == module.name
]


def describe_type(shape: Any) -> str:
    """Describe a field's type without its limits, which only the server declares."""
    origin, arguments = get_origin(shape), get_args(shape)
    if hasattr(shape, "__metadata__"):
        return describe_type(arguments[0])
    if shape in {msgspec.Raw, Any}:
        return "anything"
    if origin is Literal:
        return f"one of {arguments}"
    if origin is list or is_union(shape):
        return ("list of " if origin is list else "") + " or ".join(sorted({describe_type(each) for each in arguments}))
    known: Any = OTHER_NAMES.get(origin or shape, shape)
    return getattr(known, "__name__", str(known))


def test_every_shape_has_the_fields_of_the_server() -> None:
    for ours in SHAPES:
        theirs: Any = OTHER_NAMES.get(ours) or schemas.list_shapes()[ours.__name__]
        mine = {each.encode_name: describe_type(each.type) for each in msgspec.structs.fields(ours)}
        shapes = (theirs, *OTHER_ERRORS) if ours is errors.Error else (theirs,)
        assert mine == {
            each.encode_name: describe_type(each.type) for shape in shapes for each in msgspec.structs.fields(shape)
        }, ours


def find_subclasses(kind: type[Any]) -> list[type[Any]]:
    return [found for each in kind.__subclasses__() for found in (each, *find_subclasses(each))]


# modules of refusals that the console shows on pages and the API never sends
CONSOLE = ("gamekeeper.console.", "gamekeeper.game.access.console_refusals")
SERVER_REFUSALS = [kind for kind in find_subclasses(Refusal) if kind.__module__.startswith("gamekeeper.")]
REFUSALS = [kind for kind in SERVER_REFUSALS if not kind.__module__.startswith(CONSOLE)]


def test_every_refusal_has_an_error_class() -> None:
    for kind in REFUSALS:
        code: str = getattr(Exception.__new__(kind), "code")  # noqa: B009 - any kind of refusal has one
        ours = errors.find_class(server_errors.find_status(kind), code)
        assert ours.__name__ == kind.__name__
        above = {each.__name__ for each in kind.__mro__} | {"Refused", "TooManyRequests", "Unavailable"}
        assert {each.__name__ for each in ours.__mro__ if issubclass(each, errors.Refused)} <= above


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
