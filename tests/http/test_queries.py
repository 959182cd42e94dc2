"""Queries: decoded as their shapes declare them; unknown parameters are rejected on our own operations only."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import msgspec
import pytest
from good_requests import EXAMPLES
from msgspec import UNSET, Meta, Struct

from expectations import everything, refused
from gamekeeper import app
from gamekeeper.game.history import PointInTime
from gamekeeper.game.refusals import BadField
from gamekeeper.http import mail_cursor, queries
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.wire.history import HistoryQuery, ThenQuery
from gamekeeper.http.wire.lists import EngineQuery, LegacyQuery
from gamekeeper.http.wire.mails import MailsQuery
from gamekeeper.http.wire.players import PlayersQuery
from gamekeeper.http.wire.scalars import PRINTABLE
from gamekeeper.store.history import NEVER
from people import ANN
from world import World

KEEPER, LINK = "/api/keeper/v1", "/api/link/v1"
DOCUMENT = "/api/openapi.json?tolerant=true"
# without the lists of the engine that take any text: test_logs.py and test_server_variables.py test these
LENIENT = (EngineQuery, LegacyQuery)
ASKED = [each for each in EXAMPLES if each.route.query and not issubclass(each.route.query, LENIENT)]
OURS = [each for each in EXAMPLES if each.path.startswith((KEEPER, LINK))]


def test_unknown_query_parameter_is_named_by_our_own_operations(shared_world: World, subtests: pytest.Subtests) -> None:
    before = everything(shared_world)
    assert len(OURS) >= 17
    for each in OURS:
        with subtests.test(each.name):
            answer = shared_world.call(each.route.method, f"{each.path}?zzz=1", body=each.body)
            refused(answer, 400, "unknown_parameter", "'zzz'")
    assert everything(shared_world) == before


@pytest.mark.parametrize(
    ("method", "path", "hint"),
    [
        ("GET", f"{KEEPER}/changes?playr=x", "Unknown query parameter 'playr'. Did you mean 'player'?"),
        ("GET", f"{KEEPER}/changes?Fron=2026-01-01", "Did you mean 'from'?"),
        ("GET", f"{LINK}/catalogue/items?page_size=9", "Did you mean 'pageSize'?"),
        ("GET", f"{LINK}/changes?zzz=9", "Accepted: after, wait, limit, own, epoch, server."),
        ("POST", f"{KEEPER}/changes/1/undo?dryRunn=true", "Did you mean 'dryRun'?"),
        ("PUT", f"{LINK}/players/{'0' * 32}?dryrnu=true", "Did you mean 'dryRun'?"),
    ],
)
def test_unknown_query_parameter_suggests_the_nearest(shared_world: World, method: str, path: str, hint: str) -> None:
    refused(shared_world.call(method, path, body={} if method == "PUT" else None), 400, "unknown_parameter", hint)


@pytest.mark.parametrize("path", ["/api/v1/players?playr=x", "/api/v1/info?zzz=1", "/api/v1/gameobjects/item?x=1"])
def test_unknown_query_parameter_is_ignored_by_spec_operations(shared_world: World, path: str) -> None:
    assert shared_world.get(path).status == 200


# --- limits declared by the query shapes ---------------------------------------------------------------------------


def bad_values(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return values of a query parameter that the schema does not allow, each with a part of its refusal's message."""
    # where the schema is a choice (anyOf), such as a number or a word, use the limits of its first alternative
    kinds = {**schema, **schema.get("anyOf", [{}])[0]}
    if "maximum" in kinds:
        least, most = kinds["minimum"], kinds["maximum"]
        return dict.fromkeys(("zzz", "%09", str(most + 1), str(least - 1)), f"whole number from {least} to {most}.")
    if kinds.get("type") == "boolean":
        return {"zzz": "must be true or false."}
    if "maxLength" in kinds:
        return {"x" * (kinds["maxLength"] + 1): f"must be at most {kinds['maxLength']} printable characters."}
    if kinds.get("pattern") == PRINTABLE["pattern"]:
        return {"a%09b": "control characters."}
    return {"a%09b" if "pattern" in kinds and re.match(kinds["pattern"], "zzz") else "zzz": ""}


def test_documented_limit_equals_that_of_the_refusal(shared_world: World) -> None:
    paths = shared_world.get(DOCUMENT, by=None).json["paths"]
    for example in ASKED:
        described = paths[example.route.path.replace("[", "{").replace("]", "}")][example.route.method.lower()]
        asked = [each for each in described["parameters"] if each["in"] == "query" and each["name"] != "dryRun"]
        shape = example.route.query
        assert shape is not None
        assert [each["name"] for each in asked] == list(shape.__struct_encode_fields__), example.name
        for each in asked:
            for value, problem in bad_values(each["schema"]).items():
                answer = shared_world.call(example.route.method, f"{example.path}?{each['name']}={value}")
                refused(answer, 400, "bad_field", f"The field '{each['name']}' ")
                assert answer.message.endswith(problem), example.name


def test_limit_of_a_shape_is_the_limit_of_its_operation(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changing the limit in the query shape alone changes the refusal, the OpenAPI document and the answer."""

    class Narrow(PlayersQuery, frozen=True):
        page: Annotated[int, Meta(ge=2, le=3, description="Few pages.", extra={"cut": 2})] = 2

    changed = [replace(each, query=Narrow) if each.name == "list_players" else each for each in ROUTES]
    monkeypatch.setattr(app, "ROUTES", tuple(changed))
    world = make_world()
    refused(world.get("/api/v1/players?page=4"), 400, "bad_field", "'page' must be a whole number from 2 to 3")
    assert [world.get(f"/api/v1/players{query}").json["Page"] for query in ("", "?page=2", "?page=3")] == [2, 2, 2]
    parameters = world.get(DOCUMENT, by=None).json["paths"]["/api/v1/players"]["get"]["parameters"]
    assert {"minimum": 2, "maximum": 3}.items() <= parameters[0]["schema"].items()


def test_shape_without_limits_or_with_a_type_that_cannot_be_read_is_refused() -> None:
    for kind in (bytes, list[int], float):
        shape = msgspec.defstruct("Odd", [("odd", kind, UNSET)], frozen=True)
        with pytest.raises(TypeError, match="cannot be"):
            queries.decode(shape, {"odd": "1"})


@pytest.mark.parametrize(
    ("method", "path", "named"),
    [
        ("PUT", f"{LINK}/servers/a%20b?zzz=1&dryRun=x", "zzz"),
        ("PUT", f"{LINK}/servers/a%20b?dryRun=x", "dryRun"),
        ("PUT", f"{LINK}/servers/a%20b", "server"),
        ("PUT", f"{LINK}/servers/a", "Lease"),
        ("GET", f"{KEEPER}/changes?format=x&to=x&player=x", "player"),
        ("POST", f"{KEEPER}/changes/x/undo?force=x", "seq"),
    ],
)
def test_first_of_several_wrong_values_is_named(shared_world: World, method: str, path: str, named: str) -> None:
    answer = shared_world.call(method, path, body={"Lease": 0} if method == "PUT" else None)
    assert (answer.status, f"'{named}'" in answer.message) == (400, True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, PlayersQuery()),
        ({"zzz": "1"}, PlayersQuery()),
        ({"page": "007", "pagesize": "2147483647", "limit": "1"}, PlayersQuery(7, 2**31 - 1, 1)),
        ({"sortby": "LEVEL", "sortdirection": "dESCENDING"}, PlayersQuery(sortBy="level", sortDirection="Descending")),
        ({"sortby": "", "search": ""}, PlayersQuery()),
        ({"search": " Ann "}, PlayersQuery(search=" Ann ")),
        ({"kind": " items_given ", "reason": " x ", "request": "  "}, HistoryQuery(kind="items_given", reason="x")),
        ({"player": ANN.id.upper(), "user": "", "item": ""}, HistoryQuery(player=ANN.id)),
        ({"from": "1970-01-01 00:00:01 UTC", "to": "1970-01-01T00:00:01Z"}, HistoryQuery(since=1000, to=1999)),
        ({"from": "", "to": "", "before": "5"}, HistoryQuery(since=0, to=NEVER, before=5)),
        ({"at": "12"}, ThenQuery(PointInTime(seq=12))),
        ({"at": "1970-01-01T00:00:01.5"}, ThenQuery(PointInTime(at=1500))),
        ({"at": ""}, ThenQuery()),
        ({"before": f"5-{ANN.id}", "limit": "1001"}, MailsQuery(before=mail_cursor.MailCursor(5, ANN.id), limit=1000)),
        ({"before": ""}, MailsQuery(before=mail_cursor.START)),
    ],
)
def test_query_is_decoded(query: Mapping[str, str], found: Struct) -> None:
    assert queries.decode(type(found), query) == found


@pytest.mark.parametrize(
    ("shape", "query", "problem"),
    [
        (PlayersQuery, {"sortdirection": ""}, "'sortDirection' must be Ascending or Descending."),
        (PlayersQuery, {"pagesize": ""}, "'pageSize' must be a whole number from 1 to 2147483647."),
        (HistoryQuery, {"format": ""}, "'format' must be json or csv."),
        (HistoryQuery, {"from": "\t"}, "'from' must be a time such as 2026-11-15T12:00:00Z."),
        (HistoryQuery, {"player": " "}, "'player' must be an id."),
        (HistoryQuery, {"kind": "a\tb"}, "'kind' must have no control characters."),
        (MailsQuery, {"before": "5"}, "'before' must be the Next of the previous page."),
        (ThenQuery, {"at": "9" * 19}, "'at' must be the number of a change."),
    ],
)
def test_refusal_names_the_parameter_as_documented(shape: type[Struct], query: dict[str, str], problem: str) -> None:
    with pytest.raises(BadField) as refusal:
        queries.decode(shape, query)
    assert refusal.value.message == f"The field {problem}"
