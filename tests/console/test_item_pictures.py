"""Pictures of items in the console: where they are shown, and who gets them."""

import base64
from collections.abc import Iterable

import pytest
from keepers import Keeper

import staff
from game_server import LINK
from gamekeeper.http import samples
from gamekeeper.store import pictures
from gamekeeper.store.engine import Reading
from people import ARROW, COIN, SWORD
from world import World

ADDRESS = f"/console/pictures/{samples.PICTURE_HASH}.png"
PAGES = {
    "slots": "/console/players/Ann",
    "two moments": "/console/players/Ann?at=16&against=now",
    "catalogue": "/console/catalogue",
    "economy": "/console/economy",
    "item": f"/console/items/{ARROW.id}",
}


@pytest.fixture
def published(world: World) -> World:
    path = f"{LINK}/items/{ARROW.id}/picture"
    assert world.call("PUT", path, body={"Picture": samples.PICTURE}, by="Server").status == 200
    world.run(world.keeper.economy.follow())
    return world


def list_pictures(root: Keeper, path: str) -> list[dict[str, str]]:
    return [each for tag, each in root.page(path).tags if tag == "img" and each.get("class") == "icon"]


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_picture_without_alternative_text(published: World, root: Keeper, name: str) -> None:
    _ = published
    found = list_pictures(root, PAGES[name])
    assert found
    assert {(each["src"], each["alt"]) for each in found} == {(ADDRESS, "")}


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_letters_where_there_is_no_picture(world: World, root: Keeper, name: str) -> None:
    world.run(world.keeper.economy.follow())
    assert list_pictures(root, PAGES[name]) == []
    assert ">Ar</span>" in root.get(PAGES[name]).raw.decode()


def test_search_shows_pictures_of_items_where_there_are_some(published: World, root: Keeper) -> None:
    _ = published
    found = {
        row["name"]: row.get("picture")
        for text in ("arro", "swor", "ann")
        for group in root.post("/console/suggest", {"q": text}).json["groups"]
        for row in group["found"]
    }
    assert (found["Arrow"], found["Sword"], found["Ann"]) == (ADDRESS, None, None)
    staff.add_account(published, "Arrowhead", "moderator")  # a second result, so that the page is no redirect
    assert [each["src"] for each in list_pictures(root, "/console/search?q=arro")] == [ADDRESS]


def test_items_without_picture_keep_letters_beside_others(published: World, root: Keeper) -> None:
    _ = published
    text = root.get(PAGES["slots"]).raw.decode()
    assert ">Sw</span>" in text
    assert ">Ar</span>" not in text


def test_picture_is_served_to_staff_and_kept_forever(published: World, root: Keeper) -> None:
    _ = published
    answer = root.get(ADDRESS)
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    ((stored,),) = published.sql("SELECT content FROM item_pictures")
    assert answer.raw == base64.b64decode(stored)


def test_picture_is_not_served_without_session(published: World) -> None:
    answer = Keeper(published).get(ADDRESS)
    assert answer.status == 303
    assert b"PNG" not in answer.raw


@pytest.mark.parametrize(
    "name",
    ["0" * 64 + ".png", samples.PICTURE_HASH, f"{samples.PICTURE_HASH}.gif", "x.png", ".png", "%2e%2e.png", "é.png"],
)
def test_unknown_picture_is_not_found(published: World, root: Keeper, name: str) -> None:
    _ = published
    answer = root.get(f"/console/pictures/{name}")
    assert (answer.status, answer.headers["cache-control"]) == (404, "no-store")


def test_removed_picture_is_not_served(published: World, root: Keeper) -> None:
    published.call("DELETE", f"{LINK}/items/{ARROW.id}/picture", by="Server")
    assert root.get(ADDRESS).status == 404
    assert list_pictures(root, PAGES["slots"]) == []


def test_hashes_of_a_page_are_one_read(published: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    for item in (COIN, SWORD):
        path = f"{LINK}/items/{item.id}/picture"
        published.call("PUT", path, body={"Picture": samples.PICTURE}, by="Server")
    calls: list[list[str]] = []
    find_hashes = pictures.find_hashes

    async def count(tx: Reading, item_ids: Iterable[str]) -> dict[str, str]:
        calls.append(list(item_ids))
        return await find_hashes(tx, calls[-1])

    monkeypatch.setattr(pictures, "find_hashes", count)
    assert len(list_pictures(root, PAGES["slots"])) > 3
    assert len(calls) == 1
    assert len(calls[0]) == len(set(calls[0]))


def test_change_of_picture_is_readable_in_the_audit_log(published: World, root: Keeper) -> None:
    seq = published.ledger()[-1].seq
    page = root.get(f"/console/changes/{seq}")
    assert page.status == 200
    assert "Item picture published" in page.raw.decode()
