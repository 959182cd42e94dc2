"""The console's pages of changes: filter, pages, undo and exports."""

import asyncio
import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator

import pytest
from keepers import Keeper
from markup import Page

import api_keys
import people
from game_server import put_player
from gamekeeper.console import changes
from gamekeeper.console.differences import TIMES_SIGN
from gamekeeper.game import account_effects, effects, history, undo
from world import World

CHANGES = "/console/changes"
GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
GIVE_BOB = f"/api/v1/players/{people.BOB.id}/items/give"
UNDO = "/console/act"


def give(world: World, item: str = people.COIN.id, path: str = GIVE, reason: str = "a gift", by: str = "Root") -> int:
    """Give coins to a player; return the number of the change."""
    sent = {"itemid": item, "quantity": 5}
    assert world.post(path, sent, by=by, headers={"X-Reason": reason}).status == 200
    return world.ledger()[-1].seq


def list_numbers(page: Page) -> list[int]:
    return [int(each["id"].removeprefix("change-")) for tag, each in page.tags if tag == "article"]


def test_list_starts_with_the_newest_and_offers_undo(world: World, root: Keeper) -> None:
    first, second = give(world), give(world, reason="<b>another</b>")
    page = root.page(CHANGES)
    assert list_numbers(page)[:2] == [second, first]
    assert f"250 {TIMES_SIGN} Gold Coin 255 {TIMES_SIGN} Gold Coin" in page.text
    assert "<b>another</b>" in page.text
    assert "&lt;b&gt;another" in page.html
    assert page.form(UNDO, f"Undo change {second}").fields["path"] == f"/api/keeper/v1/changes/{second}/undo"


def test_undone_change_is_marked_and_has_no_undo(world: World, root: Keeper) -> None:
    seq = give(world)
    assert root.act("POST", f"/api/keeper/v1/changes/{seq}/undo").status == 303
    page = root.page(f"{CHANGES}?player=ann")
    undoing = list_numbers(page)[0]
    assert f"undone by {undoing}" in page.text
    assert f"undoes {seq}" in page.text
    paths = [form.fields.get("path") for form in page.forms]
    assert f"/api/keeper/v1/changes/{seq}/undo" not in paths
    assert f"/api/keeper/v1/changes/{undoing}/undo" in paths


@pytest.mark.parametrize(
    ("sought", "found"),
    [
        ("player=ANN", [0, 1, 3]),
        ("player={ann}", [0, 1, 3]),
        ("player=Bob", [2]),
        ("actor=shop", [3]),
        ("actor=root", [0, 1, 2]),
        ("item=gold+coin", [0, 3]),
        ("item={arrow}", [1, 2]),
        ("kind=items_given&item=arrow&player=bob", [2]),
        ("reason=SECOND", [1]),
        ("kind=user_banned", []),
        ("request={request}", [3]),
        ("to=2020-01-01T00:00", []),
    ],
)
def test_filter_accepts_names_and_ids(world: World, root: Keeper, sought: str, found: list[int]) -> None:
    made = [give(world), give(world, people.ARROW.id, reason="the second")]
    made += [give(world, people.ARROW.id, GIVE_BOB), give(world, by="Shop")]
    filled = sought.format(ann=people.ANN.id, arrow=people.ARROW.id, request=world.ledger()[-1].request_id)
    page = root.page(f"{CHANGES}?{filled}&from=2020-01-01T00:00")
    assert [each for each in list_numbers(page) if each in made] == [made[place] for place in reversed(found)]
    assert page.form(CHANGES).fields["from"] == "2020-01-01T00:00"
    if not found:
        assert "No results." in page.text


@pytest.mark.parametrize(
    ("sought", "status", "said"),
    [
        ("player=Nobody", 404, "No player with name 'Nobody'."),
        ("user=Nobody", 404, "No user with name 'Nobody'."),
        ("item=Nothing", 400, "the name or the id of an item"),
        ("from=yesterday", 400, "must be a time"),
        ("kind=item_given", 400, "did you mean items_given"),
        ("before=x", 400, "before"),
    ],
)
def test_filter_error_is_shown_beside_the_filter(shared_root: Keeper, sought: str, status: int, said: str) -> None:
    answer = shared_root.get(f"{CHANGES}?{sought}")
    page = Page(answer.raw.decode())
    assert (answer.status, said in page.text) == (status, True)
    assert page.form(CHANGES).buttons


def test_older_page_keeps_the_filter(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [give(world) for _ in range(3)]
    monkeypatch.setattr(changes, "PAGE_SIZE", 2)
    page = root.page(f"{CHANGES}?player=Ann&reason=gift")
    assert list_numbers(page) == made[:0:-1]
    page = root.page(page.links["Older"])
    assert list_numbers(page) == made[:1]
    assert page.form(CHANGES).fields["reason"] == "gift"
    assert list_numbers(root.page(page.links["Newest"])) == made[:0:-1]


def test_incomplete_search_says_how_far_it_reached(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    seq = give(world, reason="the one")
    for _ in range(6):
        give(world)
    monkeypatch.setattr(history, "WINDOW_ROWS", 1)
    monkeypatch.setattr(history, "MAX_WINDOWS", 4)
    page = root.page(f"{CHANGES}?reason=the+one")
    assert list_numbers(page) == []
    assert "No results back to" in page.text
    assert "No results." not in page.text
    assert list_numbers(root.page(page.links["Search further back"])) == [seq]


def test_long_change_is_cut_in_the_list_only(world: World, root: Keeper) -> None:
    created = next(each.seq for each in world.ledger() if each.kind == "player_created")
    listed = root.page(f"{CHANGES}?kind=player_created")
    assert "Ann, level 12, class Warrior: 6 item stacks, 1 spell, 2 variables" in listed.text
    assert "ann-face.png" not in listed.text
    shown = root.page(listed.links[f"Show everything in change {created}"]).text
    assert "Show everything" not in shown
    assert "item stacks" not in shown
    assert "ann-face.png" in shown


@pytest.mark.parametrize("count", [changes.MOST_DIFFERENCES, changes.MOST_DIFFERENCES + 1])
def test_change_with_many_differences_is_cut_in_the_list(world: World, root: Keeper, count: int) -> None:
    slots = [{"Slot": number, "ItemId": people.SWORD.id, "Quantity": 1} for number in range(10, 10 + count)]
    assert put_player(world, people.BOB.id, {"Items": slots}).status == 200
    seq, is_cut = world.ledger()[-1].seq, count > changes.MOST_DIFFERENCES
    listed, shown = root.page(CHANGES), root.page(f"{CHANGES}/{seq}")
    assert listed.text.count("Inventory, slot") == changes.MOST_DIFFERENCES
    assert shown.text.count("Inventory, slot") == count
    assert (f"Show everything in change {seq}" in listed.links) == is_cut
    assert "Show everything" not in shown.text


def test_summary_of_an_erased_player_has_no_name(world: World, root: Keeper) -> None:
    assert world.call("DELETE", f"/api/v1/players/{people.ANN.id}").status == 200
    listed = root.page(f"{CHANGES}?kind=player_deleted").text
    assert "Ann, level 12, class Warrior: 6 item stacks, 1 spell, 2 variables" in listed
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    listed = root.page(f"{CHANGES}?kind=player_deleted").text
    assert "\u2014, level 12, class Warrior: 6 item stacks, 1 spell, 2 variables" in listed
    assert "Ann," not in listed


def test_summary_of_a_player_without_a_class_is_shown(world: World, root: Keeper) -> None:
    """Another version may have written a player without fields that this version knows."""
    world.sql("UPDATE ledger SET after = '{}' WHERE kind = 'player_created'")
    listed = root.page(f"{CHANGES}?kind=player_created").text
    assert "\u2014, level 1, class \u2014: 0 item stacks, 0 spells, 0 variables" in listed


def test_account_of_a_deleted_player_is_not_shown_as_the_player(world: World, root: Keeper) -> None:
    assert world.call("DELETE", f"/api/v1/players/{people.ZOE.id}").status == 200
    deletion = world.ledger()[-1]
    for path in (CHANGES, "/console"):
        assert "Player deleted account Ann" in root.page(path).text, path
    for path in (f"{CHANGES}/{deletion.seq}", f"/console/done/{deletion.request_id}"):
        text = root.page(path).text
        assert "Player deleted" in text, path
        assert "Player deleted, Ann" not in text, path


def test_change_page_shows_all_details(world: World, root: Keeper) -> None:
    seq = give(world, by="Shop", reason="<i>why</i>")
    row = world.ledger()[-1]
    page = root.page(f"{CHANGES}/{seq}")
    for said in (f"Change {seq}: Items given", "Ann", "Shop", "<i>why</i>", row.request_id, '"Quantity": 255'):
        assert said in page.text, said
    assert page.form(UNDO, f"Undo change {seq}").fields["back"] == f"{CHANGES}/{seq}"
    root.act("POST", f"/api/keeper/v1/changes/{seq}/undo")
    assert "Undone by change" in root.page(f"{CHANGES}/{seq}").text
    assert page.links["All changes made by this account"] == f"{CHANGES}?actor={people.USER_IDS['Shop']}"


def test_change_page_lists_others_of_its_request(world: World, root: Keeper) -> None:
    """Erasing Ann's account deletes her two players too; the page of this change lists those changes."""
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    rows = world.ledger()
    together = [each.seq for each in rows if each.request_id == rows[-1].request_id]
    assert len(together) > 1
    page = root.page(f"{CHANGES}/{together[0]}")
    assert [f"Change {each}" in page.links for each in together] == [False, *[True] * (len(together) - 1)]


def test_deleted_actor_is_not_shown_as_command_line(world: World, root: Keeper) -> None:
    give(world, by="Clerk")
    assert world.call("DELETE", "/api/v1/users/Clerk").status == 200
    for page in (CHANGES, f"/console/players/{people.ANN.id}?tab=history", "/console"):
        assert "by a deleted account" in root.page(page).text


def test_actor_is_named_with_users_query_only(world: World, root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    shop, one = keeper("Shop"), f"{CHANGES}/{give(world, by='Clerk')}"
    ann = f"/console/players/{people.ANN.id}?tab=history"
    for page, said in ((CHANGES, "by another account"), (ann, "by another account"), (one, "another account")):
        assert "Clerk" in root.page(page).text
        assert said in shop.page(page).text
        assert "Clerk" not in shop.page(page).text
    # callers without users.query see "by an account" instead of names
    assert "by an account" in shop.page("/console").text
    own = give(world, by="Shop")
    for page in (CHANGES, ann, f"{CHANGES}/{own}"):
        assert re.search(r"by\s+Shop", shop.page(page).text)


def test_time_beyond_year_9999_is_rejected(shared_root: Keeper) -> None:
    for path in (f"{CHANGES}?from=", f"/console/players/{people.ANN.id}?at="):
        assert shared_root.get(f"{path}9999-12-31T23:59:59-23:59").status == 400


def test_time_in_the_address_stays_in_the_filter(shared_root: Keeper) -> None:
    fields = shared_root.page(f"{CHANGES}?from=2026-01-31T18:00:00Z&to=2999-01-31T18:00").form(CHANGES).fields
    assert (fields["from"], fields["to"]) == ("2026-01-31T18:00:00", "2999-01-31T18:00")


def test_filter_accepts_times_as_they_are_shown(world: World, root: Keeper) -> None:
    seq = give(world)
    world.sql("UPDATE ledger SET at = 1000000000073 WHERE seq = $1", seq)
    shown = "2001-09-09 01:46:40 UTC"
    assert shown in root.page(f"{CHANGES}/{seq}").text
    page = root.page(f"{CHANGES}?from={shown}&to={shown}".replace(" ", "+"))
    assert list_numbers(page) == [seq]
    fields = page.form(CHANGES).fields
    assert (fields["from"], fields["to"]) == (
        "2001-09-09 01:46:40",
        "2001-09-09 01:46:40",
    )  # the format of an HTML datetime-local field
    world.sql("UPDATE ledger SET at = 999999999999 WHERE seq <> $1", seq)
    then = root.page(f"/console/players/{people.ANN.id}?at={shown}".replace(" ", "+"))
    assert "255 GC Gold Coin" in then.text
    assert f"State at {shown}" in then.text


@pytest.mark.parametrize("number", ["0", "999999", "x", "-1", "9" * 30])
def test_unknown_change_is_rejected(shared_root: Keeper, number: str) -> None:
    assert shared_root.get(f"{CHANGES}/{number}").status == 404


def test_account_changes_are_hidden_without_users_query(
    world: World, root: Keeper, keeper: Callable[[str], Keeper]
) -> None:
    assert world.post("/api/v1/users/Bob/name", {"name": "Bobby"}).status == 200
    seq, shop = world.ledger()[-1].seq, keeper("Shop")
    assert root.get(f"{CHANGES}/{seq}").status == 200
    assert shop.get(f"{CHANGES}/{seq}").status == 404
    page = shop.page(CHANGES)
    assert seq not in list_numbers(page)
    assert "user" not in page.form(CHANGES).fields
    assert "user_renamed" not in page.html
    assert shop.get(f"{CHANGES}?user=Bobby").status == 403
    assert shop.get(f"{CHANGES}?actor=Nobody").status == shop.get(f"{CHANGES}?actor=Root").status == 403
    assert list_numbers(shop.page(f"{CHANGES}?actor=SHOP")) == []


def test_undo_button_needs_permission(world: World, root: Keeper, keeper: Callable[[str], Keeper]) -> None:
    assert world.post("/api/v1/users/Bob/name", {"name": "Bobby"}).status == 200
    seq = world.ledger()[-1].seq
    path, undo = f"{CHANGES}/{seq}", f"Undo change {seq}"
    assert root.page(path).form(UNDO, undo)
    assert undo not in [button for form in keeper("Clerk").page(path).forms for button in form.buttons]


def test_export_as_csv_has_the_filtered_changes(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [give(world, reason="=1+1") for _ in range(5)]
    monkeypatch.setattr(changes, "BATCH", 2)
    answer = root.get(root.page(f"{CHANGES}?player=Ann&reason=1").links["CSV"])
    assert answer.headers["content-disposition"] == 'attachment; filename="changes.csv"'
    assert answer.headers["content-type"].startswith("text/csv")
    # the CSV export starts with a byte order mark: without it spreadsheets assume their own code page
    assert answer.raw.count(codecs.BOM_UTF8) == 1
    head, *rows = csv.reader(io.StringIO(answer.raw.decode("utf-8-sig")))
    assert head[0] == "Seq"
    assert [int(row[0]) for row in rows] == made[::-1]
    assert all("'=1+1" in row for row in rows)


def test_export_as_json_stops_at_the_limit(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [give(world) for _ in range(5)]
    monkeypatch.setattr(changes, "BATCH", 2)
    monkeypatch.setattr(changes, "BATCHES", 2)
    answer = root.get(root.page(f"{CHANGES}?player=Ann&kind=items_given").links["JSON"])
    assert answer.headers["content-disposition"] == 'attachment; filename="changes.json"'
    assert [each["Seq"] for each in answer.json["Changes"]] == made[:0:-1]
    assert answer.json["Next"] == made[1]


@pytest.mark.parametrize(("piece", "pieces", "more"), [(2, 2, "There are more changes."), (2, 3, ""), (1, 10, "")])
def test_cut_csv_export_ends_with_a_note(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch, piece: int, pieces: int, more: str
) -> None:
    made = [give(world, reason="for the file") for _ in range(5)]
    monkeypatch.setattr(changes, "BATCH", piece)
    monkeypatch.setattr(changes, "BATCHES", pieces)
    answer = root.get(root.page(f"{CHANGES}?reason=for+the+file").links["CSV"])
    _, *rows = csv.reader(io.StringIO(answer.raw.decode()))
    assert [row[0] for row in rows[:4]] == [str(each) for each in made[:0:-1]]
    assert rows[4][0] == (f"{more} Export those before change {made[1]} too." if more else str(made[0]))


def test_empty_json_export_is_valid(shared_root: Keeper) -> None:
    assert shared_root.get(f"{CHANGES}/file?format=json&reason=nobody+said+this").json == {"Changes": [], "Next": None}


@pytest.mark.parametrize("form", ["csv", "json"])
def test_empty_batches_do_not_end_an_export(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    sought = [give(world, reason=each) for each in ("sought", "sought", "other", "other", "sought", "other")]
    monkeypatch.setattr(history, "WINDOW_ROWS", 1)
    monkeypatch.setattr(history, "MAX_WINDOWS", 1)
    raw = root.get(f"{CHANGES}/file?format={form}&reason=sought").raw.decode()
    found = (
        [int(row[0]) for row in list(csv.reader(io.StringIO(raw)))[1:-1]]
        if form == "csv"
        else [each["Seq"] for each in json.loads(raw)["Changes"]]
    )
    assert found == [sought[4], sought[1], sought[0]]


def test_export_does_not_block_other_requests(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other requests are answered even while the export searches without finding a change."""
    monkeypatch.setattr(changes, "BATCHES", 20)
    monkeypatch.setattr(history, "WINDOW_ROWS", 1)
    monkeypatch.setattr(history, "MAX_WINDOWS", 1)
    path = f"{CHANGES}/file?format=csv&reason=nobody+said+this"
    cookie = {"cookie": f"gamekeeper={root.cookie}"}

    async def turns() -> int:
        """Count iterations of the event loop until the export is complete."""
        asked, count = asyncio.ensure_future(world.send("GET", path, headers=cookie)), 0
        while not asked.done():
            await asyncio.sleep(0)
            count += 1
        return count

    assert world.run(turns()) >= changes.BATCHES


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("format=xml", 400), ("format=csv&from=yesterday", 400), ("format=json&player=Nobody", 404)],
)
def test_rejected_export_links_back_to_the_list(shared_root: Keeper, query: str, status: int) -> None:
    answer = shared_root.get(f"{CHANGES}/file?{query}")
    assert (answer.status, Page(answer.raw.decode()).links["Back"]) == (status, CHANGES)


def list_kinds() -> Iterator[str]:
    yield from undo.RULES
    yield from undo.WHY_NOT
    for module in (effects, account_effects):
        yield from (each.kind for each in vars(module).values() if isinstance(getattr(each, "kind", None), str))


def test_filter_offers_every_kind_of_change() -> None:
    assert sorted(each for group in changes.KINDS().values() for each in group) == sorted(set(list_kinds()))


def test_change_of_an_api_key_names_the_key(world: World, root: Keeper) -> None:
    key = api_keys.create(world)
    assert world.post(GIVE, {"itemid": people.COIN.id, "quantity": 5}, token=key["Key"]).status == 200
    assert "by Shop (API key web shop)" in root.page(CHANGES).text
    assert f"API key web shop {key['Id']}" in root.page(f"{CHANGES}/{world.ledger()[-1].seq}").text
