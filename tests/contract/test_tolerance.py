"""Input that real clients send although the spec does not mention it, on every operation that can get it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from good_requests import EXAMPLES, NEW_EACH_TIME, UNKNOWN_KEYS, Example, dry_run_path, handler_of, path_of
from msgspec import Struct

from gamekeeper.http.contract import shapes
from gamekeeper.http.server.bodies import list_optional_names
from world import Answer, World

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
OTHERWISE_EACH_TIME = {
    *("tokens.issue_token", "info.get_server_stats", "info.get_server_metrics", "activity.get_activity"),
    *("person.export_person", "link.send_heartbeat", "link.list_changes", "approvals.deny", *NEW_EACH_TIME),
}
BODIED = [each for each in EXAMPLES if each.route.body not in {None, bytes}]
# operations for game clients, without those that accept JSON only: the link, and bodies with lists
OF_CLIENTS = [each for each in BODIED if each.route.takes_forms]
Varied = Mapping[str, Any]  # arguments of `World.call` that vary a request: path, body, headers or caller


# Answers to the unchanged requests by world and request. No test of this file changes a world.
plain_answers: WeakKeyDictionary[World, dict[str, Answer]] = WeakKeyDictionary()


def faults(world: World, examples: Iterable[Example], vary: Callable[[Example], Varied]) -> dict[str, str]:
    """Return the varied requests whose answers differ from those of the unchanged requests."""
    found: dict[str, str] = {}
    known = plain_answers.setdefault(world, {})
    for each in examples:
        varied = dict(vary(each))
        path = varied.pop("path", dry_run_path(each))
        answer = world.call(each.route.method, path, **({"body": each.body} | varied))
        if each.name not in known or comparable_answer(each, answer) != comparable_answer(each, known[each.name]):
            # not asked yet, or an answer that says how often or when something was asked last
            known[each.name] = world.call(each.route.method, dry_run_path(each), body=each.body)
        plain = known[each.name]
        if comparable_answer(each, answer) != comparable_answer(each, plain):
            found[each.name] = f"{answer.status} {answer.raw[:200]!r}, plainly {plain.status} {plain.raw[:200]!r}"
    return found


def comparable_answer(example: Example, answer: Answer) -> tuple[int, object]:
    if answer.status != 200:
        return answer.status, answer.code
    return 200, None if handler_of(example.route) in OTHERWISE_EACH_TIME else answer.raw


def as_text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | int) else str(value)


def is_hash(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


# --- request bodies ------------------------------------------------------------------------------------------------


def test_every_post_accepts_a_form_with_names_in_any_case(unchanged: World) -> None:
    def form(example: Example) -> Varied:
        fields = {name.title(): as_text(value) for name, value in example.fields.items()}
        return {"body": None, "raw": urlencode(fields).encode(), "headers": {"Content-Type": f"{FORM}; charset=UTF-8"}}

    assert len(OF_CLIENTS) >= 16
    assert faults(unchanged, OF_CLIENTS, form) == {}


def test_password_hashes_are_accepted_in_upper_case(unchanged: World) -> None:
    def hashes(example: Example) -> Varied:
        fields = example.fields.items()
        return {"body": {name: value.upper() if is_hash(value) else value for name, value in fields}}

    hashed = [each for each in OF_CLIENTS if any(map(is_hash, each.fields.values()))]
    assert len(hashed) >= 7
    assert faults(unchanged, hashed, hashes) == {}


def test_empty_array_is_accepted_as_an_empty_body(unchanged: World) -> None:
    unneeded = [each for each in EXAMPLES if each.route.body is None]
    # our own operations refuse unknown fields, and a form would have one
    optional = [each for each in OF_CLIENTS if each.fields == {} and not each.route.is_own_api]
    assert len(optional) >= 4
    for content_type in (JSON, FORM):
        sent = {"body": None, "raw": b"[]", "headers": {"Content-Type": content_type}}
        assert faults(unchanged, unneeded + optional, lambda _, sent=sent: sent) == {}


def optional_fields(example: Example) -> frozenset[str]:
    """Return the optional fields of a request body for which null means missing."""
    shape = example.route.body
    assert shape is not None
    assert issubclass(shape, Struct)
    return list_optional_names(shape) - example.fields.keys()


def test_null_is_accepted_for_optional_fields(unchanged: World) -> None:
    def nulls(example: Example) -> Varied:
        return {"body": {**example.fields, **dict.fromkeys(optional_fields(example))}}

    lacking = [each for each in BODIED if optional_fields(each)]
    assert {"players.list_players_legacy", "roles.change_powers", "tokens.issue_token", "link.put_player"} <= {
        handler_of(each.route) for each in lacking
    }
    assert faults(unchanged, lacking, nulls) == {}


def test_empty_form_field_is_accepted_for_optional_fields(unchanged: World) -> None:
    def blanks(example: Example) -> Varied:
        fields = {name: as_text(value) for name, value in example.fields.items()}
        return {"body": None, "form": fields | dict.fromkeys(optional_fields(example), "")}

    lacking = [each for each in OF_CLIENTS if optional_fields(each)]
    assert {"players.list_players_legacy", "roles.change_powers"} <= {handler_of(each.route) for each in lacking}
    assert faults(unchanged, lacking, blanks) == {}


# --- request paths and headers -------------------------------------------------------------------------------------


def test_paths_are_accepted_in_any_case_and_with_a_slash_at_the_end(unchanged: World) -> None:
    def rewritten(example: Example) -> Varied:
        path, mark, query = dry_run_path(example).partition("?")
        if not path.startswith("/api/"):
            return {"path": f"{path}/{mark}{query}"}
        steps = zip(example.route.path.split("/"), path.split("/"), strict=True)
        other = "/".join(filled if step.startswith("[") else filled.title() for step, filled in steps)
        assert other != path
        return {"path": f"{other}/{mark}{query}"}

    assert faults(unchanged, EXAMPLES, rewritten) == {}


def test_too_large_page_sizes_are_reduced(unchanged: World) -> None:
    size = 101
    paged = [each for each in EXAMPLES if each.route.query and issubclass(each.route.query, shapes.PageQuery)]
    assert len(paged) >= 5
    for each in paged:
        answer = unchanged.get(f"{each.path}?pageSize={size}&limit={size}")
        assert (answer.status, answer.json["PageSize"]) == (200, 100), each.name
        assert answer.json["Count"] == len(answer.json["Values"])
    for each in (each for each in EXAMPLES if each.route.body is shapes.LegacyPage):
        answer = unchanged.post(each.path, {"count": size})
        assert (answer.status, answer.json["count"]) == (200, len(answer.json["entries"])), each.name


# --- shape of answers ----------------------------------------------------------------------------------------------


def is_json(answer: Answer) -> bool:
    """Return whether the answer is a JSON object or array, which clients parse before they check the status."""
    return answer.headers["content-type"] == "application/json; charset=utf-8" and isinstance(answer.json, dict | list)


def test_every_refusal_is_an_object(unchanged: World) -> None:
    """Covers refusals for unknown paths, wrong methods, missing tokens and roles, unknown keys and invalid bodies."""
    seen: set[int] = set()
    for each in EXAMPLES:
        method, path = each.route.method, dry_run_path(each)
        for answer in (
            unchanged.call(method, f"{each.path}/nothing/here"),
            unchanged.call("PATCH", path),
            unchanged.call(method, path, by=None, body=each.body),
            unchanged.call(method, path, by="Shop", body=each.body),
            unchanged.call(method, path_of(each.route, UNKNOWN_KEYS) + "?dryRun=true", body=each.body),
            unchanged.call(method, path, raw=b"\x00", headers={"Content-Type": JSON}),
            unchanged.call(method, path, raw=b"x", headers={"Content-Type": "text/plain"}),
        ):
            if answer.status != 200:
                seen.add(answer.status)
                assert is_json(answer), (each.name, answer.status)
                assert {"Message", "Code", "RequestId"} <= set(answer.json), each.name
    assert {400, 401, 403, 404, 405, 415} <= seen
