"""The timeline on the pages of players and accounts: what it has, its kinds, its pages, and who sees what of it."""

import re

import pytest

import people
from gamekeeper.console.audit import timeline
from keepers import Keeper, open_staff
from markup import Page
from world import World

USER = people.USER_IDS["Ann"]
ANN, ACCOUNT = f"/console/players/{people.ANN.id}?tab=history", f"/console/accounts/{USER}"
NOTES, TAGS, GIVE = "/api/keeper/v1/notes", "/api/keeper/v1/tags", "/api/v1/players/Ann/items/give"
BAN = f"/api/v1/users/{USER}/admin/ban"


def sign_in(world: World, *permissions: str, name: str = "Reader") -> Keeper:
    return open_staff(world, ["players.read", "audit.read", *permissions], name)


def fill(world: World) -> None:
    """Do one of each kind, in this order: gift, ban, note, tags, sign-in, token."""
    assert world.post(GIVE, {"itemid": people.SWORD.id, "quantity": 1}).status == 200
    world.wait_for_next_millisecond()
    assert world.post(BAN, {"duration": 3, "reason": "spam"}).status == 200
    world.wait_for_next_millisecond()
    assert world.post(NOTES, {"Text": "Sells <b>gold</b>.", "Player": "Ann", "Warning": True}).status == 200
    world.wait_for_next_millisecond()
    assert world.post(TAGS, {"Tags": ["streamer"], "User": "Ann"}).status == 200
    add_event(world, "sign_in", 1)
    add_event(world, "token_issued", 2)


def add_event(world: World, kind: str, number: int, at: int | None = None) -> None:
    ident = f"00000000-0000-4000-8000-{number:012d}"
    when = at if at is not None else max(row[0] for row in world.sql("SELECT MAX(at) FROM ledger")) + number
    origin = {"address": "192.0.2.7", "browser": "Firefox", "details": '{"Session":true}'}
    world.insert("security_events", id=ident, at=when, kind=kind, user_id=USER, **origin)


def list_entries(page: Page) -> list[str]:
    """List the entries of a page, each as its bold title."""
    articles = re.findall(r'<article class="change.*?</article>', page.html, re.DOTALL)
    return [re.sub("<[^>]*>", "", re.findall(r"<strong>(.*?)</strong>", each)[0]) for each in articles]


@pytest.mark.parametrize("path", [ANN, ACCOUNT])
def test_timeline_has_all_kinds_newest_first(root: Keeper, world: World, path: str) -> None:
    fill(world)
    page = root.page(path)
    expected = ["Sign-in", "Tags set", "Warning", "Account banned"]
    assert list_entries(page)[:4] == expected
    assert (list_entries(page)[4] == "Items given") == (path == ANN)
    page.assert_shown("from 192.0.2.7", "Firefox", "Sells <b>gold</b>.", "by Root", "streamer")
    assert "In the console" in page.text  # the detail `Session` of a sign-in
    assert "Token issued" not in page.text


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
    pages, rest = list[list[str]](), path
    while rest:
        page = root.page(rest)
        pages.append(list_entries(page))
        rest = page.links.get("Older", "").partition("#")[0]
    shown = [title for each in pages for title in each]
    counted = {title: shown.count(title) for title in ("Note", "Tags set", "Sign-in", "Failed guess", "Items given")}
    gifts = 7 if path == ANN else 0
    assert counted == {"Note": 7, "Tags set": 7, "Sign-in": 3, "Failed guess": 4, "Items given": gifts}
    assert all(len(each) <= 4 for each in pages)
    monkeypatch.setattr(timeline, "PER_PAGE", 200)
    assert list_entries(root.page(path)) == shown


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


def test_readers_see_only_the_kinds_that_they_may(world: World) -> None:
    fill(world)
    viewer, writer = sign_in(world), sign_in(world, "notes.write", name="Writer")
    reader = sign_in(world, "users.query", name="Auditor")
    page = viewer.page(ANN)
    assert list_entries(page)[0] == "Items given"
    page.assert_hidden("Sells", "192.0.2.7", "streamer", "banned")
    for kind in ("notes", "sign-ins", "sanctions"):
        assert list_entries(viewer.page(f"{ANN}&kind={kind}")) == [], kind
    page = writer.page(ANN)
    page.assert_shown("Sells <b>gold</b>.")
    page.assert_hidden("192.0.2.7")
    for path in (ANN, ACCOUNT):
        page = reader.page(path)
        assert list_entries(page)[:2] == ["Sign-in", "Account banned"]
        page.assert_hidden("Sells", "streamer")
