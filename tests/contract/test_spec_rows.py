"""docs/spec.md is the contract: its rows, roles, field names and messages are the table's and the wire's."""

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import good_requests
import msgspec
import pytest

from gamekeeper.http import wire
from gamekeeper.http.caller import POWERS
from gamekeeper.http.routes import MANAGE, ROUTES, Does, Route
from world import World

SPEC = (Path(__file__).parents[2] / "docs" / "spec.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| (GET|POST) `([^`]+)`( \(deprecated\))? \| (.*) \| (.*) \|$", re.MULTILINE)
ROLES = {"users.query", "users.manage", "game.link"}
OURS = ["IsBanned", "RegistrationDate", "PlayTimeSeconds"]  # of an account, after the spec's seven


class Row(NamedTuple):
    number: int
    method: str
    path: str
    deprecated: bool
    request: str
    response: str


ROWS = [Row(int(found[1]), found[2], found[3], bool(found[4]), found[5], found[6]) for found in ROW.finditer(SPEC)]
NUMBERED = [route for route in ROUTES if route.number is not None]


def by_number(number: int) -> Row:
    return next(row for row in ROWS if row.number == number)


def fields_of(title: str) -> list[str]:
    """The first column of the table under a heading of part 2."""
    section = re.split(r"^#", SPEC.partition(f"### {title}")[2], flags=re.MULTILINE)[0]
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")][2:]


def body_fields(row: Row) -> dict[str, bool]:
    """The fields of a request body, and whether each is required."""
    listed = row.request.removeprefix("body: ").partition(";")[0]
    parts = re.split(r", (?![^(]*\))", listed)
    return {part.split()[0]: "optional" not in part for part in parts}


def keys_in(text: str) -> list[str]:
    """The outer field names of `{a: int, b: {…}}` or `{a, b}`."""
    inner = text.partition("{")[2].rpartition("}")[0]
    return [part.strip().partition(":")[0] for part in re.sub(r"\{[^}]*\}", "", inner).split(",")]


def message_in(text: str) -> str:
    return re.findall(r"`([A-Z][^`{}]+)`", text)[0]


def flags_in(text: str) -> list[str]:
    return text.partition("Power flags: ")[2].partition(")")[0].split(", ")


def names(struct: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def test_the_spec_has_its_31_rows() -> None:
    assert [row.number for row in ROWS] == list(range(1, 32))


def test_the_table_has_the_specs_rows_in_its_order_and_then_ours() -> None:
    assert [(route.number, route.method, route.path) for route in ROUTES[:31]] == [row[:3] for row in ROWS]
    assert list(ROUTES[:31]) == NUMBERED


def test_deprecated_rows_name_their_successor() -> None:
    assert {row.number for row in ROWS if row.deprecated} == {19, 31}
    assert {route.number: route.successor for route in ROUTES if route.successor} == {
        row.number: row.path for row in ROWS if row.deprecated
    }


def test_roles_are_those_of_part_5() -> None:
    first, last = re.findall(r"All Users endpoints \((\d+) to (\d+)\) require the API role `users.query`", SPEC)[0]
    managing = re.findall(r"Endpoints (\d+) and (\d+) additionally require the role `Users.Manage`", SPEC)[0]
    for route in NUMBERED:
        wanted = {"users.query"} if int(first) <= (route.number or 0) <= int(last) else set[str]()
        wanted |= {"users.manage"} if str(route.number) in managing else set()
        assert route.needs == wanted, route


def test_reading_posts_and_the_writing_get() -> None:
    assert {route.number for route in NUMBERED if route.method == "POST" and route.does is Does.READ} == {3, 19, 23, 31}
    assert {route.number for route in NUMBERED if route.method == "GET" and route.does is Does.WRITE} == {26}


def test_no_row_can_forget_who_may_and_what_it_does() -> None:
    required = {each.name for each in dataclasses.fields(Route) if each.default is dataclasses.MISSING}
    assert {"needs", "does"} <= required
    for route in ROUTES:
        assert route.needs is None or route.needs <= ROLES | POWERS
        assert isinstance(route.does, Does)
    forgetful: Any = Route
    with pytest.raises(TypeError, match="needs"):
        forgetful(1, "GET", "/", handler=ROUTES[0].handler, does=Does.READ)
    with pytest.raises(TypeError, match="does"):
        forgetful(1, "GET", "/", MANAGE, handler=ROUTES[0].handler)


@pytest.mark.parametrize("route", ROUTES, ids=good_requests.handler_of)
def test_takes_is_what_the_handler_takes(route: Route) -> None:
    arguments = list(inspect.signature(route.handler).parameters)
    assert arguments == (["request"] if route.takes is None else ["request", "body"])
    if route.takes is not None:
        assert get_type_hints(route.handler)["body"] == route.takes


def test_every_row_has_an_example() -> None:
    for example in good_requests.EXAMPLES:
        assert (example.body is not None) == (example.route.takes is not None), example.name


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.request.startswith("body: ")], ids=lambda row: str(row.number)
)
def test_body_fields_are_the_specs(row: Row) -> None:
    takes: Any = ROUTES[row.number - 1].takes
    assert {field.name: field.required for field in msgspec.structs.fields(takes)} == body_fields(row)


def test_only_rows_with_a_body_take_one() -> None:
    assert [row.number for row in ROWS if row.request.startswith("body: ")] == [
        route.number for route in NUMBERED if route.takes is not None
    ]


def test_record_fields_are_the_specs() -> None:
    assert names(wire.PlayerDocument)[:4] == fields_of("Player (character) record")
    assert names(wire.Variable) == fields_of("Player variable")
    assert names(wire.ItemSlot) == fields_of("Item slot record")
    assert names(wire.Bag) == fields_of("Bag")
    assert names(wire.KnownSpell) == fields_of("Known spell")
    assert names(wire.UserRecord) == fields_of("User record") + OURS
    assert names(wire.Items) == re.findall(r"`(\w+)` \(array", SPEC.partition("### Items collection")[2])[:2]


def test_envelope_fields_are_the_specs() -> None:
    assert list(msgspec.json.decode(wire.paged(0, 0, 5, []))) == fields_of("Paged list envelope")
    assert list(msgspec.json.decode(wire.legacy(0, 0, []))) == fields_of("Legacy list envelope")


def test_the_two_power_sets_are_the_specs() -> None:
    assert names(wire.Power) == flags_in(by_number(21).response)
    assert names(wire.ChangedPower) == flags_in(by_number(24).response)


def answer_of(world: World, number: int) -> Any:
    example = good_requests.BY_NUMBER[number]
    answer = world.call(example.route.method, good_requests.tried(example), body=example.body)
    assert answer.status == 200, answer.raw
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    return answer.json


@pytest.mark.parametrize("number", [row.number for row in ROWS if row.response.startswith(("`{", "object `{"))])
def test_answers_have_the_specs_fields(unchanged: World, number: int) -> None:
    answer = answer_of(unchanged, number)
    answer.pop("Warning", None)  # ours, beside Message, where no mail is set up
    assert list(answer) == keys_in(by_number(number).response)


@pytest.mark.parametrize("number", [23, 25, 26, 30])
def test_messages_are_the_specs(unchanged: World, number: int) -> None:
    assert answer_of(unchanged, number)["Message"] == message_in(by_number(number).response)


@pytest.mark.parametrize(
    ("phrase", "fields"),
    [
        ("paged list envelope", fields_of("Paged list envelope")),
        ("legacy list envelope", fields_of("Legacy list envelope")),
        ("items collection", ["inventory", "bank"]),
        ("bag", fields_of("Bag")),
        ("user record (", fields_of("User record") + OURS),
        ("one user record", fields_of("User record") + OURS),
        ("one player variable", fields_of("Player variable")),
        ("the player variable", fields_of("Player variable")),
    ],
)
def test_objects_have_the_specs_fields(unchanged: World, phrase: str, fields: list[str]) -> None:
    described = [row.number for row in ROWS if row.response.startswith(phrase)]
    assert described
    for number in described:
        assert list(answer_of(unchanged, number)) == fields, number


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (6, fields_of("Player variable")),
        (11, fields_of("Item slot record")),
        (12, fields_of("Item slot record")),
        (16, fields_of("Known spell")),
    ],
)
def test_arrays_hold_the_specs_records(unchanged: World, number: int, fields: list[str]) -> None:
    assert by_number(number).response.startswith("array of")
    answer = answer_of(unchanged, number)
    assert answer
    ours = ["ItemName"] if number in {11, 12} else []  # after the spec's fields
    assert all(list(record) == fields + ours for record in answer)


@pytest.mark.parametrize("number", [5, 27, 28])
def test_player_records_start_with_the_specs_four(unchanged: World, number: int) -> None:
    answer = answer_of(unchanged, number)
    record: Any = answer[0] if number == 27 else answer
    assert list(record)[:4] == fields_of("Player (character) record")


@pytest.mark.parametrize("number", [24, 29])
def test_changed_users_have_the_longer_power_set(unchanged: World, number: int) -> None:
    assert list(answer_of(unchanged, number)["Power"]) == flags_in(by_number(24).response)


@pytest.mark.parametrize("number", [20, 21, 31])
def test_users_have_the_shorter_power_set(unchanged: World, number: int) -> None:
    answer = answer_of(unchanged, number)
    record = (answer.get("Values") or answer.get("entries") or [answer])[0]
    assert list(record["Power"]) == flags_in(by_number(21).response)


def test_part_8s_defaults(unchanged: World) -> None:
    for number in (1, 2, 20):
        answer = answer_of(unchanged, number)
        assert (answer["Page"], answer["PageSize"]) == (0, 5)


def test_the_spec_is_read_right() -> None:
    assert body_fields(by_number(14)) == {"itemid": True, "quantity": True, "bankoverflow": False}
    assert keys_in(by_number(14).response) == ["id", "quantity"]
    assert flags_in(by_number(24).response)[-1] == "ApiUserManagement"
    assert message_in(by_number(25).response) == "Password Updated"
