"""docs/spec.md is the contract: our operations have its rows, roles, field names and messages."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import good_requests
import msgspec
import pytest

from gamekeeper.game.permissions import ALL, API, BUILTIN_ROLES
from gamekeeper.http import wire
from gamekeeper.http.caller import POWERS
from gamekeeper.http.operation import Access, Cache, DeclarationError, Group, Operation
from gamekeeper.http.request import Request
from gamekeeper.http.routes import ROUTES
from loops import over
from world import World

SPEC = (Path(__file__).parents[2] / "docs" / "spec.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| (GET|POST) `([^`]+)`( \(deprecated\))? \| (.*) \| (.*) \|$", re.MULTILINE)
ROLES = {"users.query", "users.manage", "game.link"}
# fields of an account that are not in the spec, and come after the spec's seven
OURS = ["IsBanned", "RegistrationDate", "PlayTimeSeconds"]


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
    """Return the first column of the table under a heading of part 2 of the spec."""
    section = re.split(r"^#", SPEC.partition(f"### {title}")[2], flags=re.MULTILINE)[0]
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")][2:]


def body_fields(row: Row) -> dict[str, bool]:
    """Return the fields of a request body, and whether each is required."""
    listed = row.request.removeprefix("body: ").partition(";")[0]
    parts = re.split(r", (?![^(]*\))", listed)
    return {part.split()[0]: "optional" not in part for part in parts}


def keys_in(text: str) -> list[str]:
    """Return the outer field names of `{a: int, b: {…}}` or `{a, b}`."""
    inner = text.partition("{")[2].rpartition("}")[0]
    return [part.strip().partition(":")[0] for part in re.sub(r"\{[^}]*\}", "", inner).split(",")]


def message_in(text: str) -> str:
    return re.findall(r"`([A-Z][^`{}]+)`", text)[0]


def flags_in(text: str) -> list[str]:
    return text.partition("Power flags: ")[2].partition(")")[0].split(", ")


def names(struct: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def test_spec_has_31_rows() -> None:
    assert [row.number for row in ROWS] == list(range(1, 32))


def test_operations_are_the_specs_in_order_and_then_ours() -> None:
    assert [(route.number, route.method, route.path) for route in ROUTES[:31]] == [row[:3] for row in ROWS]
    assert list(ROUTES[:31]) == NUMBERED


def test_deprecated_rows_name_their_successor() -> None:
    assert {row.number for row in ROWS if row.deprecated} == {19, 31}
    assert {route.number: route.successor for route in ROUTES if route.successor} == {
        row.number: row.path for row in ROWS if row.deprecated
    }


def test_roles_are_those_of_the_specs_part_5() -> None:
    first, last = re.findall(r"All Users endpoints \((\d+) to (\d+)\) require the API role `users.query`", SPEC)[0]
    managing = re.findall(r"Endpoints (\d+) and (\d+) additionally require the role `Users.Manage`", SPEC)[0]
    for route in NUMBERED:
        wanted = {"users.query"} if int(first) <= (route.number or 0) <= int(last) else set[str]()
        wanted |= {"users.manage"} if str(route.number) in managing else set()
        assert (route.permissions or frozenset()) & (ROLES | POWERS) == wanted, route
        # the spec lets every token do the rest: so the role of accounts with API access has it
        assert (route.permissions or frozenset()) - wanted <= BUILTIN_ROLES[API].permissions, route


def test_posts_that_read_and_the_get_that_writes_are_declared() -> None:
    assert {route.number for route in NUMBERED if route.method == "POST" and route.access is Access.READ} == {
        3,
        19,
        23,
        31,
    }
    assert {route.number for route in NUMBERED if route.method == "GET" and route.access is Access.WRITE} == {26}


def test_permissions_are_known_roles_and_powers() -> None:
    for route in ROUTES:
        assert route.permissions is None or route.permissions <= ALL


def declare(parts: Mapping[str, Any], summary: str | None = "Show the quests of a player.") -> Operation:
    async def quests(_: Request, body: wire.lists.LegacyPage) -> bytes:
        return wire.encode(body)

    quests.__doc__ = summary
    group, given = Group("Quests", "What players have to do."), dict(parts)
    address = given.pop("address")
    group.operation(address, **given)(quests)
    return group.operations[0]


DECLARED = {
    "address": "GET /api/v1/players/[lookupKey]/quests",
    "name": "quests",
    "permissions": frozenset[str](),
    "access": Access.READ,
    "cache": Cache.NO_STORE,
    "body": wire.lists.LegacyPage,
    "example_body": wire.lists.LegacyPage(),
    "answer": wire.users.Message,
    "example_answer": wire.users.Message("Done."),
    "refusals": (),
}


def test_whole_declaration_is_accepted() -> None:
    assert declare(DECLARED).path == "/api/v1/players/[lookupKey]/quests"


@over("part", sorted(DECLARED.keys() - {"address", "body"}))
def test_declaration_without_a_part_names_the_operation_and_the_part(part: str) -> None:
    sentence = re.escape(f"The operation {DECLARED['address']} does not declare {part}.")
    with pytest.raises(DeclarationError, match=sentence):
        declare({name: value for name, value in DECLARED.items() if name != part})


def test_declaration_without_a_summary_or_with_an_unknown_part_is_refused() -> None:
    with pytest.raises(DeclarationError, match="does not declare a docstring"):
        declare(DECLARED, summary=None)
    with pytest.raises(DeclarationError, match="declares permision, which no operation has"):
        declare({**DECLARED, "permision": frozenset[str]()})


@over(
    "changed, declared",
    [
        ({"query": wire.lists.PageQuery}, "(request, body: LegacyPage, query: PageQuery)"),
        ({"body": wire.items.GiveItem}, "(request, body: GiveItem)"),
    ],
)
def test_declaration_whose_handler_takes_something_else_is_refused(changed: dict[str, Any], declared: str) -> None:
    sentence = "takes (request, body: LegacyPage). The operation declares "
    with pytest.raises(DeclarationError, match=re.escape(f"{sentence}{declared}.")):
        declare({**DECLARED, **changed})


def test_every_operation_has_an_example() -> None:
    for example in good_requests.EXAMPLES:
        assert (example.body is not None) == (example.route.body is not None), example.name


@over("row", [row for row in ROWS if row.request.startswith("body: ")])
def test_body_fields_are_the_specs(row: Row) -> None:
    takes: Any = ROUTES[row.number - 1].body
    assert {field.name: field.required for field in msgspec.structs.fields(takes)} == body_fields(row)


def test_only_operations_with_a_body_in_the_spec_accept_one() -> None:
    assert [row.number for row in ROWS if row.request.startswith("body: ")] == [
        route.number for route in NUMBERED if route.body is not None
    ]


def test_record_fields_are_the_specs() -> None:
    assert names(wire.players.PlayerDocument)[:4] == fields_of("Player (character) record")
    assert names(wire.variables.Variable) == fields_of("Player variable")
    assert names(wire.items.ItemSlot) == fields_of("Item slot record")
    assert names(wire.items.Bag) == fields_of("Bag")
    assert names(wire.spells.KnownSpell) == fields_of("Known spell")
    assert names(wire.users.UserRecord) == fields_of("User record") + OURS
    assert names(wire.items.Items) == re.findall(r"`(\w+)` \(array", SPEC.partition("### Items collection")[2])[:2]


def test_envelope_fields_are_the_specs() -> None:
    assert list(msgspec.json.decode(wire.lists.encode_paged(0, 0, 5, []))) == fields_of("Paged list envelope")
    assert list(msgspec.json.decode(wire.lists.encode_legacy(0, 0, []))) == fields_of("Legacy list envelope")


def test_both_power_sets_are_the_specs() -> None:
    assert names(wire.users.Power) == flags_in(by_number(21).response)
    assert names(wire.users.ChangedPower) == flags_in(by_number(24).response)


def answer_of(world: World, number: int) -> Any:
    example = good_requests.BY_NUMBER[number]
    answer = world.call(example.route.method, good_requests.dry_run_path(example), body=example.body)
    assert answer.status == 200, answer.raw
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    return answer.json


@over("number", [row.number for row in ROWS if row.response.startswith(("`{", "object `{"))])
def test_answers_have_the_specs_fields(unchanged: World, number: int) -> None:
    answer = answer_of(unchanged, number)
    answer.pop("Warning", None)  # Warning is not in the spec; it says that mail is not configured
    assert list(answer) == keys_in(by_number(number).response)


@over("number", [23, 25, 26, 30])
def test_messages_are_the_specs(unchanged: World, number: int) -> None:
    assert answer_of(unchanged, number)["Message"] == message_in(by_number(number).response)


@over(
    "phrase, fields",
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


@over(
    "number, fields",
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
    # ItemName is not in the spec, and comes after the spec's fields
    ours = ["ItemName"] if number in {11, 12} else []
    assert all(list(record) == fields + ours for record in answer)


@over("number", [5, 27, 28])
def test_player_records_start_with_the_specs_four(unchanged: World, number: int) -> None:
    answer = answer_of(unchanged, number)
    record: Any = answer[0] if number == 27 else answer
    assert list(record)[:4] == fields_of("Player (character) record")


@over("number", [24, 29])
def test_changed_users_have_the_longer_power_set(unchanged: World, number: int) -> None:
    assert list(answer_of(unchanged, number)["Power"]) == flags_in(by_number(24).response)


@over("number", [20, 21, 31])
def test_users_have_the_shorter_power_set(unchanged: World, number: int) -> None:
    answer = answer_of(unchanged, number)
    record = (answer.get("Values") or answer.get("entries") or [answer])[0]
    assert list(record["Power"]) == flags_in(by_number(21).response)


def test_defaults_are_those_of_the_specs_part_8(unchanged: World) -> None:
    for number in (1, 2, 20):
        answer = answer_of(unchanged, number)
        assert (answer["Page"], answer["PageSize"]) == (0, 5)


def test_spec_parser_reads_every_table() -> None:
    assert body_fields(by_number(14)) == {"itemid": True, "quantity": True, "bankoverflow": False}
    assert keys_in(by_number(14).response) == ["id", "quantity"]
    assert flags_in(by_number(24).response)[-1] == "ApiUserManagement"
    assert message_in(by_number(25).response) == "Password Updated"
