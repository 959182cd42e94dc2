"""The list of players in the browser: filters, a bulk job for all that match, and pages; also with keys only."""

from collections.abc import Callable

from accessibility import check_page
from demo_server import HELPER, KEEPER, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.demo.world import KEY

Visit = Callable[..., Visitor]
GIVE = f"Give 1 × {KEY.name}"  # noqa: RUF001 - the sign of the page


def test_all_that_match_a_filter_get_an_item(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go("/console/characters")
    me.page.get_by_text("More filters").click()
    me.page.get_by_label("Level from").fill("50")
    me.page.locator("[name=classid]").select_option(label="Outrider")
    me.page.get_by_role("button", name="Search", exact=True).click()
    me.sees("Class: Outrider")
    assert "mapid" not in me.page.url  # empty fields are not sent
    names = me.page.locator("tbody th a").all_inner_texts()
    assert names
    me.page.get_by_role("link", name="Act on all that match").click()
    me.sees("Level 50 or higher")
    me.page.get_by_label("Item", exact=True).fill(KEY.name)
    me.page.get_by_label("Reason").fill("veterans")
    me.page.get_by_role("button", name="Preview the job").click()
    players = "1 player" if len(names) == 1 else f"{len(names)} players"
    me.page.get_by_role("button", name=f"{GIVE}: {players}").click()
    me.sees(f"{len(names)} players: {len(names)} done, 0 refused, 0 left.")
    assert sorted(me.page.locator("table tbody th a").all_inner_texts()) == sorted(names)


def test_filter_is_used_with_keys_only_and_without_javascript(visit: Visit, sqlite_demo: DemoServer) -> None:
    for script in (True, False):
        me = visit(sqlite_demo, KEEPER, java_script_enabled=script)
        me.go("/console/characters?pagesize=25")
        me.page.get_by_text("More filters").focus()
        me.page.keyboard.press("Enter")
        for _ in range(4):
            me.page.keyboard.press("Tab")
        expect(me.page.get_by_label("Level to")).to_be_focused()
        me.page.keyboard.type("20")
        me.page.keyboard.press("Enter")
        me.sees("Level 20 or lower")
        link = me.page.get_by_role("link", name="Level 20 or lower")
        link.focus()
        me.page.keyboard.press("Enter")
        expect(me.page.get_by_text("Level 20 or lower")).to_have_count(0)
        me.page.get_by_label("Page", exact=True).focus()
        me.page.keyboard.press("Control+A")
        me.page.keyboard.type("2")
        me.page.keyboard.press("Enter")
        me.sees("26 to ")


def test_saved_view_is_shared_with_a_colleague(visit: Visit, demo: DemoServer) -> None:
    me, helper = visit(demo, KEEPER), visit(demo, HELPER)
    me.go("/console/characters?levelfrom=50&sortby=level&col_level=1")
    me.page.get_by_text("Save this view").click()
    me.page.get_by_label("Name of the view").fill("Veterans")
    me.page.get_by_label("Show it to all staff").check()
    check_page(me)
    me.page.get_by_role("button", name="Save the view").click()
    expect(me.page.get_by_role("link", name="Veterans")).to_have_attribute("aria-current", "page")
    helper.go("/console/characters")
    helper.page.get_by_role("link", name="Veterans shared").click()
    helper.sees("Level 50 or higher")
    assert helper.page.locator("tbody th a").all_inner_texts() == me.page.locator("tbody th a").all_inner_texts()
    me.page.get_by_text("Change the view Veterans").click()
    check_page(me)
    me.page.get_by_role("button", name="Delete the view Veterans").click()
    expect(me.page.get_by_role("link", name="Veterans")).to_have_count(0)


def test_open_list_follows_changes_without_moving(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go("/console/characters?levelfrom=2&levelto=47&sortby=level&sortdirection=descending")
    first = me.page.locator("tbody tr").first
    names = me.page.locator("tbody th a").all_inner_texts()
    demo.do(f"players/{names[0]}/level", {"level": 2}, "followed")  # moves to the end of the list
    expect(first.locator("td[data-changed]").first).to_have_text("2")
    assert me.page.locator("tbody th a").all_inner_texts() == names
    demo.do(f"players/{names[1]}/level", {"level": 1}, "followed")
    me.sees("1 no longer in this list")
    expect(me.page.locator("tr[data-gone]")).to_have_count(1)
    check_page(me)
    me.page.get_by_role("link", name="Show the list as it is now").click()
    expect(me.page.locator("tbody th a").first).to_have_text(names[2])
    demo.do(f"players/{names[1]}/level", {"level": 40}, "followed")
    me.sees("1 new in this list")
