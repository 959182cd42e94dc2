"""Queries: limits, ranges, empty values, how they are split, and unknown parameters, which only our own API rejects."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from good_requests import EXAMPLES

from expectations import refused, unchanged
from gamekeeper.http.contract.shapes import PRINTABLE, EngineQuery, LegacyQuery
from gamekeeper.http.server import queries
from gamekeeper.http.server.request import parse_query
from loops import over
from world import World

KEEPER, LINK = "/api/keeper/v1", "/api/link/v1"
DOCUMENT = "/api/openapi.json?tolerant=true"
# without the lists of the engine that take any text: test_logs.py and test_server_variables.py test these
LENIENT = (EngineQuery, LegacyQuery)
ASKED = [each for each in EXAMPLES if each.route.query and not issubclass(each.route.query, LENIENT)]
OURS = [each for each in EXAMPLES if each.path.startswith((KEEPER, LINK))]


def test_unknown_query_parameter_is_named_by_our_own_operations_only(shared_world: World) -> None:
    with unchanged(shared_world):
        assert len(OURS) >= 17
        for each in OURS:
            answer = shared_world.call(each.route.method, f"{each.path}?zzz=1", body=each.body)
            refused(answer, 400, "unknown_parameter", "'zzz'")
        for path in ("/api/v1/players?playr=x", "/api/v1/info?zzz=1", "/api/v1/gameobjects/item?x=1"):
            assert shared_world.get(path).status == 200


def test_unknown_query_parameter_suggests_the_nearest(shared_world: World) -> None:
    answer = shared_world.get(f"{KEEPER}/changes?playr=x")
    refused(answer, 400, "unknown_parameter", "Unknown query parameter 'playr'. Did you mean 'player'?")


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


def test_empty_value_counts_as_left_out_where_both_documents_say_so(shared_world: World) -> None:
    for document in ("/api/openapi.json", DOCUMENT):
        paths = shared_world.get(document, by=None).json["paths"]
        for example in EXAMPLES:
            route, shape = example.route, example.route.query
            described = paths[route.path.replace("[", "{").replace("]", "}")][route.method.lower()]
            said = {
                each["name"]: each.get("allowEmptyValue") for each in described["parameters"] if each["in"] == "query"
            }
            names = shape.__struct_encode_fields__ if shape else ()
            is_spec = route.path.startswith("/api/v1/")
            for name in names:
                is_refused = is_spec and shared_world.call(route.method, f"{example.path}?{name}=").status == 400
                assert said[name] == (None if is_refused else True), f"{example.name} {name}"
            assert said.get("dryRun") is None, example.name
            if shape and not is_spec:
                nothing = dict.fromkeys((name.lower() for name in names), "")
                assert queries.decode(shape, nothing, keep_empty=route.keeps_empty) == shape(), example.name


def test_empty_value_is_a_400_under_the_specification_and_as_a_dry_run(world: World) -> None:
    for path in (
        f"{LINK}/changes?after=&wait=&limit=&own=&epoch=&server=",
        f"{KEEPER}/economy/staff?item=&giver=&from=&to=&page=",
        f"{KEEPER}/activity?step=day&from=2026-05-01T10:00:00Z&to=",
        "/api/v1/players?search=&sortBy=",
    ):
        assert world.get(path).status == 200, path
    refused(world.get("/api/v1/players?page="), 400, "bad_field", "The field 'page' must be a whole number")
    refused(world.get("/api/v1/players/rank?sortDirection="), 400, "bad_field", "must be Ascending or Descending")
    for path in (f"{KEEPER}/changes/1/undo?dryRun=", f"{LINK}/servers/realm-1?dryRun="):
        answer = world.call("PUT" if "link" in path else "POST", path, body={})
        refused(answer, 400, "bad_field", "The field 'dryRun' must be true or false")


RANGES = [
    (each.path, name, name.replace("from", "to").replace("From", "To"))
    for each in EXAMPLES
    for name in (each.route.query.__struct_encode_fields__ if each.route.query else ())
    if name.lower().endswith("from")
]


def test_range_that_ends_before_it_begins_is_refused_by_every_operation(world: World) -> None:
    assert len(RANGES) == 10
    for path, start, end in RANGES:
        late, early = ("7", "6") if start == "levelFrom" else ("2026-05-01T10:00:01Z", "2026-05-01T10:00:00Z")
        step = "&step=minute" if path.endswith("/activity") else ""
        answer = world.get(f"{path}?{start}={late}&{end}={early}{step}")
        refused(answer, 400, "bad_field", f"The field '{start}' must not be after the end of the range.")
        assert world.get(f"{path}?{start}={early}&{end}={early}{step}").status == 200, path
        if path.startswith((f"{KEEPER}/activity", f"{KEEPER}/economy")):  # these end now if `to` is left out
            future = world.get(f"{path}?{start}=2226-05-01T10:00:00Z")
            refused(future, 400, "bad_field", f"The field '{start}' must not be after the end of the range.")


@over("raw", b"a=1&b=2", b"a", b"a=", b"=1", b"&&a=1&", b"a=b=c", b"a;b=1", b"a=x+y", b"a=%41&b", b"a=%ff", b"a=\xe9")
def test_query_is_split_like_by_the_standard_library(raw: bytes) -> None:
    assert parse_query(raw) == dict(parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="replace"))
