"""Saved views of the console's lists: who sees them, and how they are renamed, deleted and exported."""

import pytest

import people
from keepers import Keeper, OpenKeeper
from world import World

PAGE, ACCOUNTS, VIEWS = "/console/characters", "/console/accounts", "/console/views"


def save(
    who: Keeper, name: str, query: str = "levelfrom=10&sortby=level", listed: str = "players", **more: str
) -> None:
    answer = who.post(VIEWS, {"name": name, "query": query, "list": listed} | more)
    assert answer.status == 303, answer.raw


def list_views(who: Keeper, page: str = PAGE) -> dict[str, str]:
    links = who.page(page).links
    return {name: url for name, url in links.items() if "sortby=" in url and ("view" in name or "shared" in name)}


def test_view_is_saved_without_position_and_search(root: Keeper) -> None:
    form = root.page(f"{PAGE}?search=ann&levelfrom=10&sortby=level&page=2").form(VIEWS, "Save the view")
    assert form.fields["query"] == "levelfrom=10&sortby=level"
    save(root, "my view", "search=ann&page=3&cursor=x&sortby=level&levelfrom=10&mapid=")
    assert list_views(root) == {"my view": f"{PAGE}?levelfrom=10&sortby=level"}
    assert "Level 10 or higher" in root.page(list_views(root)["my view"]).text
    save(root, "my view", "levelfrom=1&LevelFrom=10&sortby=level")  # a page refuses a repeated parameter
    assert list_views(root) == {"my view": f"{PAGE}?levelfrom=10&sortby=level"}


def test_shared_view_is_seen_by_others_and_changed_by_its_owner_only(
    world: World, root: Keeper, keeper: OpenKeeper
) -> None:
    save(root, "my view")
    save(root, "our view", shared="1")
    clerk = keeper("Clerk")
    assert list_views(clerk) == {"our view shared": f"{PAGE}?levelfrom=10&sortby=level"}
    ids = {row[1]: str(row[0]) for row in world.sql("SELECT id, name FROM saved_views")}
    for act, fields in (("rename", {"name": "stolen"}), ("delete", {})):
        assert clerk.post(f"{VIEWS}/{ids['our view']}/{act}", fields).status == 303
    assert sorted(list_views(root)) == ["my view", "our view"]
    assert root.post(f"{VIEWS}/{ids['my view']}/rename", {"name": "our view"}).status == 400
    assert root.post(f"{VIEWS}/{ids['my view']}/rename", {"name": " old view ", "back": PAGE}).status == 303
    assert sorted(list_views(root)) == ["old view", "our view"]
    deleted = root.post(f"{VIEWS}/{ids['our view']}/delete", {"back": "https://evil.example"})
    assert deleted.headers["location"] == "/console"
    assert list_views(clerk) == {}


@pytest.mark.both_engines
def test_sharing_needs_the_permission_for_notes(world: World, keeper: OpenKeeper) -> None:
    clerk, query = keeper("Clerk"), "sortby=level&levelfrom=10"
    shared = {"name": "a view", "query": query, "list": "players", "shared": "1"}
    assert clerk.post(VIEWS, shared).status == 403
    assert world.sql("SELECT COUNT(*) FROM saved_views")[0][0] == 0
    save(clerk, "a view")
    world.sql("UPDATE saved_views SET shared = $1", True)
    (view,) = (str(row[0]) for row in world.sql("SELECT id FROM saved_views"))
    assert clerk.post(f"{VIEWS}/{view}/rename", {"name": "hello"}).status == 403
    assert clerk.post(f"{VIEWS}/{view}/delete", {}).status == 303
    assert world.sql("SELECT COUNT(*) FROM saved_views")[0][0] == 0


def test_view_needs_the_permission_of_its_list_and_goes_with_its_account(world: World, keeper: OpenKeeper) -> None:
    sent = {"name": "a view", "query": "sortby=name&state=banned", "list": "accounts"}
    assert keeper("Shop").post(VIEWS, sent).status == 403
    assert world.sql("SELECT COUNT(*) FROM saved_views")[0][0] == 0
    save(keeper("Clerk"), "clerk's view")
    person = world.get("/api/keeper/v1/users/Clerk/export").json
    (view,) = person["saved_views"]
    assert (view["list"], view["name"], view["query"]) == ("players", "clerk's view", "levelfrom=10&sortby=level")
    world.sql("DELETE FROM users WHERE id = $1", people.USER_IDS["Clerk"])
    assert world.sql("SELECT COUNT(*) FROM saved_views")[0][0] == 0


@pytest.mark.both_engines
def test_shared_view_is_deleted_by_those_who_manage_staff(world: World, root: Keeper, keeper: OpenKeeper) -> None:
    """Its owner may have left the staff."""
    clerk = keeper("Clerk")
    save(clerk, "own view")
    save(clerk, "shared view", "levelfrom=20&sortby=level")
    world.sql("UPDATE saved_views SET shared = $1 WHERE name = 'shared view'", True)
    ids = [str(row[0]) for row in world.sql("SELECT id FROM saved_views")]
    for each in ids:
        assert root.post(f"{VIEWS}/{each}/rename", {"name": "x"}).status == 303
        assert root.post(f"{VIEWS}/{each}/delete", {}).status == 303
    assert world.sql("SELECT name FROM saved_views") == [("own view",)]
