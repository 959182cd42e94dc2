"""The timeline on the pages of players and accounts: what it has, its kinds, its pages, and who sees what of it."""

import re
from itertools import chain

import pytest
from keepers import Keeper, open_session
from markup import Page

import game_server
import people
import staff
from gamekeeper.console import timeline
from gamekeeper.store import users
from world import World

USER = people.USER_IDS["Ann"]
ANN, ACCOUNT = f"/console/players/{people.ANN.id}?tab=history", f"/console/accounts/{USER}"
NOTES, TAGS, GIVE = "/api/keeper/v1/notes", "/api/keeper/v1/tags", "/api/v1/players/Ann/items/give"
BAN, KICK = f"/api/v1/users/{USER}/admin/ban", "/api/v1/players/Ann/admin/kick"


def sign_in(world: World, *permissions: str) -> Keeper:
    staff.save_role(world, "reader", ["players.read", "audit.read", *permissions])
    staff.add_account(world, "Reader", "reader")
    user = world.run(users.find_by_fold(world.keeper.store, "reader"))
    assert user
    return open_session(world, user.name, user.id)


def fill(world: World) -> None:
    """Do one of each kind, in this order: gift, ban, note, tags, sign-in, token."""
    assert world.post(GIVE, {"itemid": people.SWORD.id, "quantity": 1}).status == 200
    assert world.post(BAN, {"duration": 3, "reason": "spam"}).status == 200
    assert world.post(NOTES, {"Text": "Sells <b>gold</b>.", "Player": "Ann", "Warning": True}).status == 200
    assert world.post(TAGS, {"Tags": ["streamer"], "User": "Ann"}).status == 200
    add_event(world, "sign_in", 1)
    add_event(world, "token_issued", 2)


def add_event(world: World, kind: str, number: int, at: int | None = None) -> None:
    ident = f"00000000-0000-4000-8000-{number:012d}"
    when = at if at is not None else max(row[0] for row in world.sql("SELECT MAX(at) FROM ledger")) + number
    world.sql(
        "INSERT INTO security_events (id, at, kind, user_id, address, browser, details) "
        """VALUES (CAST($1 AS {guid}), $2, $3, CAST($4 AS {guid}), '192.0.2.7', 'Firefox', '{"Session":true}')""",
        *(ident, when, kind, USER),
    )


def list_entries(page: Page) -> list[str]:
    """List the entries of a page, each as its bold title."""
    articles = re.findall(r'<article class="change.*?</article>', page.html, re.DOTALL)
    return [re.sub("<[^>]*>", "", re.findall(r"<strong>(.*?)</strong>", each)[0]) for each in articles]


def list_undone(page: Page) -> list[int]:
    """List the numbers of the changes that are struck through."""
    return [int(each) for each in re.findall(r'<article class="change undone" id="change-(\d+)"', page.html)]


def list_all(keeper: Keeper, path: str) -> list[list[str]]:
    found: list[list[str]] = []
    while path:
        page = keeper.page(path)
        found.append(list_entries(page))
        path = page.links.get("Older", "").partition("#")[0]
    return found


@pytest.mark.parametrize("path", [ANN, ACCOUNT])
def test_timeline_has_all_kinds_newest_first(root: Keeper, world: World, path: str) -> None:
    fill(world)
    page = root.page(path)
    expected = ["Sign-in", "Tags set", "Warning", "Account banned"]
    assert list_entries(page)[:4] == expected
    assert (list_entries(page)[4] == "Items given") == (path == ANN)
    for seen in ("from 192.0.2.7", "Firefox", "Sells <b>gold</b>.", "by Root", "streamer"):
        assert seen in page.text, seen
    assert "In the console" in page.text  # the detail `Session` of a sign-in
    assert "Token issued" not in page.text


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Changes", ["Items given"]),
        ("Bans, mutes and kicks", ["Account banned"]),
        ("Notes and tags", ["Tags set", "Warning"]),
        ("Sign-ins", ["Sign-in"]),
    ],
)
def test_kind_is_chosen_by_a_link(root: Keeper, world: World, title: str, expected: list[str]) -> None:
    world.sql("DELETE FROM ledger")
    fill(world)
    page = root.page(root.page(ANN).links[title].partition("#")[0])
    assert list_entries(page) == expected
    current = [each["href"] for tag, each in page.tags if tag == "a" and "aria-current" in each]
    assert current[-1:] == [page.links[title]]
    assert page.links["Everything"] == f"{ANN}#history"


@pytest.mark.parametrize("path", [ANN, ACCOUNT])
def test_pages_of_the_timeline_have_every_entry_once(
    root: Keeper, world: World, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """The lists are mixed, some entries have the same time, and pages end anywhere in them."""
    monkeypatch.setattr(timeline, "PER_PAGE", 4)
    for number in range(7):
        world.post(GIVE, {"itemid": people.SWORD.id, "quantity": 1})
        world.post(NOTES, {"Text": f"Note {number}.", "Player": "Ann"})
        world.post(TAGS, {"Tags": [f"tag {number}"], "Player": "Ann"})
    written = world.sql("SELECT at FROM notes ORDER BY at")
    for number, (at,) in enumerate(written):
        add_event(world, "sign_in" if number % 2 else "guess_failed", number, at)
    pages = list_all(root, path)
    shown = [title for each in pages for title in each]
    counted = {title: shown.count(title) for title in ("Note", "Tags set", "Sign-in", "Failed guess", "Items given")}
    gifts = 7 if path == ANN else 0
    assert counted == {"Note": 7, "Tags set": 7, "Sign-in": 3, "Failed guess": 4, "Items given": gifts}
    assert all(len(each) <= 4 for each in pages)
    whole = root.page(path)
    monkeypatch.setattr(timeline, "PER_PAGE", 200)
    assert list_entries(root.page(path)) == shown
    assert "Newest" in root.page(whole.links["Older"].partition("#")[0]).links


def test_deleted_note_is_shown_once_with_its_deletion(root: Keeper, world: World) -> None:
    note = world.post(NOTES, {"Text": "A mistake.", "Player": "Ann"}).json["Id"]
    world.call("DELETE", f"{NOTES}/{note}")
    assert list_entries(root.page(ANN))[:1] == ["Note deleted"]
    assert root.page(ANN).text.count("A mistake.") == 1


def test_page_ends_early_rather_than_in_the_wrong_order(
    root: Keeper, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The account's changes of the first page are those of deleted notes, of which half are not shown."""
    fill(world)
    for number in range(3):
        note = world.post(NOTES, {"Text": f"Note {number}.", "Player": "Ann"}).json["Id"]
        world.call("DELETE", f"{NOTES}/{note}")
    whole = list_all(root, ANN)
    monkeypatch.setattr(timeline, "PER_PAGE", 4)
    pages = list_all(root, ANN)
    assert pages[0] == ["Note deleted", "Note deleted"]
    assert list(chain(*pages)) == list(chain(*whole))


def test_kick_of_a_player_is_shown_once(root: Keeper, world: World) -> None:
    game_server.heartbeat(world)
    game_server.join(world, people.ANN.id)
    assert world.post(KICK).status == 200
    kinds = list_entries(root.page(f"{ANN}&kind=sanctions"))
    assert kinds.count("Player kicked") == len([each for each in world.ledger() if each.kind == "user_kicked"]) == 1


def test_note_of_a_trimmed_audit_log_is_still_shown(root: Keeper, world: World) -> None:
    fill(world)
    world.sql("DELETE FROM ledger")
    assert list_entries(root.page(ANN)) == ["Sign-in", "Warning"]


def test_viewer_sees_only_permitted_kinds(world: World) -> None:
    fill(world)
    viewer = sign_in(world)
    page = viewer.page(ANN)
    assert list_entries(page)[0] == "Items given"
    for hidden in ("Sells", "192.0.2.7", "streamer", "banned"):
        assert hidden not in page.text, hidden
    for kind in ("notes", "sign-ins", "sanctions"):
        assert list_entries(viewer.page(f"{ANN}&kind={kind}")) == [], kind
    assert not {"Notes and tags", "Sign-ins"} & page.links.keys()


def test_reader_of_notes_sees_them_but_no_sign_ins(world: World) -> None:
    fill(world)
    page = sign_in(world, "notes.write").page(ANN)
    assert "Sells <b>gold</b>." in page.text
    assert "192.0.2.7" not in page.text


def test_reader_of_accounts_without_notes_sees_no_texts(world: World) -> None:
    fill(world)
    reader = sign_in(world, "users.query")
    for path in (ANN, ACCOUNT):
        page = reader.page(path)
        assert list_entries(page)[:2] == ["Sign-in", "Account banned"]
        assert "Sells" not in page.text
        assert "streamer" not in page.text


def test_address_of_an_earlier_version_shows_changes_before_a_number(root: Keeper, world: World) -> None:
    fill(world)
    gift = next(each for each in world.ledger() if each.kind == "items_given")
    page = root.page(f"/console/players/{people.ANN.id}?before={gift.seq + 1}")
    assert list_entries(page)[0] == "Items given"
    assert "Sign-in" not in list_entries(page)
    assert list_entries(root.page(f"{ACCOUNT}?before={gift.seq}"))[:1] != ["Account banned"]


@pytest.mark.parametrize("cursor", ["x", "1.2.3", "1.2.3.4", "x.new.new.new", "new.new.1-x.new", f"{'9' * 40}"])
@pytest.mark.parametrize("path", [ANN, f"{ACCOUNT}?kind="])
def test_malformed_cursor_is_refused(shared_root: Keeper, path: str, cursor: str) -> None:
    assert shared_root.get(f"{path}&before={cursor}").status == 400


def test_change_of_a_note_shows_its_text_only_with_its_permission(root: Keeper, world: World) -> None:
    world.post("/api/keeper/v1/notes", {"Text": "Sells accounts.", "Player": "Ann"})
    world.post("/api/keeper/v1/tags", {"Tags": ["streamer"], "Player": "Ann"})
    tags = world.ledger()[-1].seq
    shown = {tags - 1: "Sells accounts.", tags: "streamer"}
    auditor = sign_in(world, "users.query")
    for seq, text in shown.items():
        for path in (f"/console/changes/{seq}", "/console/changes", "/console/changes/file?format=csv"):
            assert text in root.get(path).raw.decode(), path
            assert text not in auditor.get(path).raw.decode(), path


@pytest.mark.parametrize(
    ("path", "body"),
    [(BAN, {"duration": 3, "reason": "spam"}), (f"/api/v1/users/{USER}/admin/mute", {"duration": 3, "reason": "spam"})],
)
def test_notice_for_the_game_is_struck_through_with_its_sanction(
    root: Keeper, world: World, path: str, body: dict[str, object]
) -> None:
    """A ban of an account with a player online has two changes: of the account, and the notice for the game."""
    game_server.heartbeat(world)
    game_server.join(world, people.ANN.id)
    assert world.post(KICK).status == 200  # a notice without a change of the account
    assert world.post(path, body).status == 200
    sanction, notice = (each.seq for each in world.ledger()[-2:])
    assert list_undone(root.page(ANN)) == []
    assert world.post(f"/api/keeper/v1/changes/{sanction}/undo").status == 200
    [(undo,)] = world.sql("SELECT seq FROM ledger WHERE undoes = $1", sanction)
    for page in (ANN, "/console/changes"):
        assert list_undone(root.page(page)) == [notice, sanction], page
    assert f"Undone by change {undo}" in root.page(f"/console/changes/{notice}").text
    assert world.post(f"/api/keeper/v1/changes/{undo}/undo").status == 200
    shown = list_undone(root.page(ANN))
    assert undo in shown
    assert not {sanction, notice} & {*shown}
