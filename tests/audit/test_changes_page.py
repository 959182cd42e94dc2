"""The console's pages of changes: filter, pages, undo and exports."""

import codecs
import csv
import io
import json

import pytest

import people
from gamekeeper.console.audit import history as console_history
from gamekeeper.console.frame.differences import TIMES_SIGN
from gamekeeper.game.audit import history
from keepers import ACT, Keeper, OpenKeeper
from loops import over
from markup import Page
from world import World

CHANGES = "/console/changes"


def give(world: World, item: str = people.COIN.id, name: str = "Ann", reason: str = "a gift", by: str = "Root") -> int:
    """Give coins to a player; return the number of the change."""
    world.give(name, 5, item, by=by, headers={"X-Reason": reason}).accepted()
    return world.ledger()[-1].seq


def list_numbers(page: Page) -> list[int]:
    return [int(each["id"].removeprefix("change-")) for tag, each in page.tags if tag == "article"]


def test_list_offers_undo_until_it_is_done(world: World, root: Keeper) -> None:
    first, second = give(world), give(world, reason="<b>another</b>")
    page = root.page(CHANGES)
    assert list_numbers(page)[:2] == [second, first]
    page.assert_shown(f"255 {TIMES_SIGN} Gold Coin 260 {TIMES_SIGN} Gold Coin", "<b>another</b>")
    assert page.form(ACT, f"Undo change {second}").fields["path"] == f"/api/keeper/v1/changes/{second}/undo"
    assert root.act("POST", f"/api/keeper/v1/changes/{second}/undo").status == 303
    page = root.page(f"{CHANGES}?player=ann")
    undoing = list_numbers(page)[0]
    page.assert_shown(f"undone by {undoing}", f"undoes {second}")
    paths = [form.fields.get("path") for form in page.forms]
    assert f"/api/keeper/v1/changes/{second}/undo" not in paths
    assert f"/api/keeper/v1/changes/{undoing}/undo" in paths


@over(
    "sought, found",
    ("player=ANN", [0, 1, 3]),
    ("player={ann}&actor=root", [0, 1]),
    ("item=gold+coin", [0, 3]),
    ("kind=items_given&item={arrow}&player=bob", [2]),
    ("reason=SECOND", [1]),
    ("request={request}", [3]),
    ("to=2020-01-01T00:00", []),
)
def test_filter_accepts_names_and_ids(world: World, root: Keeper, sought: str, found: list[int]) -> None:
    made = [give(world), give(world, people.ARROW.id, reason="the second")]
    made += [give(world, people.ARROW.id, "Bob"), give(world, by="Shop")]
    filled = sought.format(ann=people.ANN.id, arrow=people.ARROW.id, request=world.ledger()[-1].request_id)
    page = root.page(f"{CHANGES}?{filled}&from=2020-01-01T00:00")
    assert [each for each in list_numbers(page) if each in made] == [made[place] for place in reversed(found)]
    assert page.form(CHANGES).fields["from"] == "2020-01-01T00:00"


def test_accounts_are_named_with_users_query_only(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    shop, one = keeper("Shop"), f"{CHANGES}/{give(world, by='Clerk')}"
    ann = f"/console/players/{people.ANN.id}?tab=history"
    for page in (CHANGES, ann, one):
        assert "Clerk" in root.page(page).text
        assert "another account" in shop.page(page).text
        assert "Clerk" not in shop.page(page).text
    own = give(world, by="Shop")
    assert "by Shop" in shop.page(CHANGES).text
    assert world.post("/api/v1/users/Bob/name", {"name": "Bobby"}).status == 200
    seq = world.ledger()[-1].seq
    assert (root.get(f"{CHANGES}/{seq}").status, shop.get(f"{CHANGES}/{seq}").status) == (200, 404)
    page = shop.page(CHANGES)
    assert seq not in list_numbers(page)
    assert "user" not in page.form(CHANGES).fields
    assert "user_renamed" not in page.html
    for sought in ("user=Bobby", "actor=Nobody", "actor=Root"):
        assert shop.get(f"{CHANGES}?{sought}").status == 403, sought
    assert list_numbers(shop.page(f"{CHANGES}?actor=SHOP")) == [own]


def test_export_as_csv_has_the_filtered_changes(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [give(world, reason="=1+1") for _ in range(5)]
    monkeypatch.setattr(console_history, "BATCH", 2)
    answer = root.get(root.page(f"{CHANGES}?player=Ann&reason=1").links["CSV"])
    assert answer.headers["content-disposition"] == 'attachment; filename="changes.csv"'
    # the CSV export starts with a byte order mark: without it spreadsheets assume their own code page
    assert answer.raw.count(codecs.BOM_UTF8) == 1
    head, *rows = csv.reader(io.StringIO(answer.raw.decode("utf-8-sig")))
    assert head[0] == "Seq"
    assert [int(row[0]) for row in rows] == made[::-1]
    assert all("'=1+1" in row for row in rows)


def test_empty_batches_do_not_end_an_export(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    sought = [give(world, reason=each) for each in ("sought", "sought", "other", "other", "sought", "other")]
    monkeypatch.setattr(history, "WINDOW_ROWS", 1)
    monkeypatch.setattr(history, "MAX_WINDOWS", 1)
    table, found = (root.get(f"{CHANGES}/file?format={form}&reason=sought").raw.decode() for form in ("csv", "json"))
    assert [int(row[0]) for row in list(csv.reader(io.StringIO(table)))[1:-1]] == [sought[4], sought[1], sought[0]]
    assert [each["Seq"] for each in json.loads(found)["Changes"]] == [sought[4], sought[1], sought[0]]
