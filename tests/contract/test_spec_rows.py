"""docs/spec.md is the contract: our operations have its rows, roles, field names and messages."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import good_requests
import msgspec

from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.players import player_shapes
from gamekeeper.http.routes import ROUTES
from loops import over
from world import World

SPEC = (Path(__file__).parents[2] / "docs" / "spec.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| (GET|POST) `([^`]+)`( \(deprecated\))? \| (.*) \| (.*) \|$", re.MULTILINE)


class Row(NamedTuple):
    number: int
    method: str
    path: str
    deprecated: bool
    request: str
    response: str


ROWS = [Row(int(found[1]), found[2], found[3], bool(found[4]), found[5], found[6]) for found in ROW.finditer(SPEC)]
NUMBERED = [route for route in ROUTES if route.number is not None]


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


def names(struct: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(struct)]


PLAYER = fields_of("Player (character) record")
SLOT = fields_of("Item slot record")
# the last three fields of an account are not in the spec
USER = [*fields_of("User record"), "IsBanned", "RegistrationDate", "PlayTimeSeconds"]
# begin of a response in the spec → its fields
OBJECTS = {
    "paged list envelope": fields_of("Paged list envelope"),
    "legacy list envelope": fields_of("Legacy list envelope"),
    "items collection": ["inventory", "bank"],
    "bag": fields_of("Bag"),
    "user record (": USER,
    "one user record": USER,
    "one player variable": fields_of("Player variable"),
    "the player variable": fields_of("Player variable"),
}
# ItemName is not in the spec, and comes after the spec's fields
NAMED_SLOT = [*SLOT, "ItemName"]
ARRAYS = {6: fields_of("Player variable"), 11: NAMED_SLOT, 12: NAMED_SLOT, 16: fields_of("Known spell")}
POWER_SETS = {24: 24, 29: 24, 20: 21, 21: 21, 31: 21}  # number of an operation → that of the row with its power flags


def test_operations_are_the_specs_in_order_and_then_ours() -> None:
    assert [row.number for row in ROWS] == list(range(1, 32))
    assert [(route.number, route.method, route.path) for route in ROUTES[:31]] == [row[:3] for row in ROWS]
    assert list(ROUTES[:31]) == NUMBERED
    successors = {route.number: route.successor for route in ROUTES if route.successor}
    assert successors == {row.number: row.path for row in ROWS if row.deprecated}


@over("row", *ROWS)
def test_body_fields_are_the_specs(row: Row) -> None:
    takes: Any = ROUTES[row.number - 1].body
    assert (takes is not None) == row.request.startswith("body: ")
    if takes is not None:
        assert {field.name: field.required for field in msgspec.structs.fields(takes)} == body_fields(row)


def test_record_fields_are_the_specs() -> None:
    assert names(player_shapes.PlayerDocument)[:4] == PLAYER
    assert names(player_shapes.ItemSlot) == SLOT
    assert names(account_shapes.UserRecord) == USER
    assert names(player_shapes.KnownSpell) == fields_of("Known spell")
    assert names(player_shapes.Items) == re.findall(r"`(\w+)` \(array", SPEC.partition("### Items collection")[2])[:2]


@over("row", *ROWS)
def test_answers_have_the_specs_fields(unchanged: World, row: Row) -> None:
    example = good_requests.BY_NUMBER[row.number]
    sent = unchanged.call(example.route.method, good_requests.dry_run_path(example), body=example.body).accepted()
    assert sent.headers["content-type"] == "application/json; charset=utf-8"
    answer: Any = sent.json
    for fields in (fields for begin, fields in OBJECTS.items() if row.response.startswith(begin)):
        assert list(answer) == fields
    if row.response.startswith(("`{", "object `{")):
        # Warning is not in the spec; it says that mail is not configured
        assert [name for name in answer if name != "Warning"] == keys_in(row.response)
    if message := re.search(r"`([A-Z][^`{}]+)`", row.response.partition("{Message}")[2]):
        assert answer["Message"] == message[1]
    if row.number in ARRAYS:
        assert answer
        assert all(list(record) == ARRAYS[row.number] for record in answer)
    lists = {"array": None, "paged": "Values", "legacy": "entries"}
    kind = row.response.split()[0]
    record = answer if kind not in lists else (answer[lists[kind]] if lists[kind] else answer)[0]
    if "player record" in row.response:
        assert list(record)[:4] == PLAYER
    if row.number in POWER_SETS:
        flags = ROWS[POWER_SETS[row.number] - 1].response.partition("Power flags: ")[2].partition(")")[0]
        assert list(record["Power"]) == flags.split(", ")
