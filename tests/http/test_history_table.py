"""The audit log as CSV: the same changes, and no cell that a spreadsheet would run as a formula."""

import csv
import io
import json

import pytest

from people import COIN
from undos import CHANGES, items
from world import World


def table(world: World, query: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(world.get(f"{CHANGES}?format=csv&{query}").raw.decode())))


def test_csv_has_the_changes_of_the_json_page(world: World) -> None:
    items(world, "give", COIN.id)
    listed = world.get(f"{CHANGES}?limit=1000").json["Changes"]
    assert [int(row["Seq"]) for row in table(world, "limit=1000")] == [each["Seq"] for each in listed]


@pytest.mark.parametrize(
    ("reason", "cell"),
    [
        *((f"{sign}1", f"'{sign}1") for sign in "=+-@\uff1d\uff0b\uff0d\uff20"),
        ("a;=1+1;-2", "a;'=1+1;'-2"),
        ('x"\uff20y', "x\"'\uff20y"),
        ("it's; a-b = c,=d", "it's; a-b = c,=d"),
    ],
)
def test_csv_cell_is_never_a_formula(world: World, reason: str, cell: str) -> None:
    items(world, "give", COIN.id, headers={"X-Reason": reason})
    assert table(world, "limit=1")[0]["Reason"] == cell


def test_json_keeps_text_that_csv_must_escape(world: World) -> None:
    said = 'a;=1+1; "-2" \'\uff20'
    assert world.post("/api/v1/users/Bob/admin/mute", {"reason": said}).status == 200
    cell = table(world, "limit=1")[0]["After"]
    assert json.loads(cell)["MuteReason"] == said
    assert not [each for each in (";=", '"-', "'\uff20") if each in cell]
