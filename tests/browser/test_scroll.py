"""After an action the page keeps its scroll position, with and without scripts.

The engine makes no difference; SQLite is enough.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from demo_server import KEEPER, DemoServer, player_page
from playwright.sync_api import Locator, expect
from tour import confirm
from visitor import Visitor

Visit = Callable[..., Visitor]
WHO = "Aldwyn"


def variables(visitor: Visitor) -> Locator:
    return visitor.page.locator("section", has=visitor.page.locator("#variables"))


def set_variable(visitor: Visitor) -> None:
    """Set the first numeric variable on the player's page to another value."""
    form = variables(visitor).locator("form", has=visitor.page.locator("input[type=number]")).first
    number = form.locator("input[type=number]")
    number.fill(str(int(number.input_value()) + 1))
    form.get_by_role("button", name="Set").click()


def top_of(place: Locator) -> float:
    box = place.bounding_box()
    assert box
    return box["y"]


def test_page_stays_where_it_was_after_an_action(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(f"{player_page(WHO)}?tab=variables")
    me.page.set_viewport_size({"width": 1440, "height": 400})
    variables(me).scroll_into_view_if_needed()
    heading = me.page.locator("#variables")
    before = top_of(heading)
    assert me.page.evaluate("scrollY") > 0
    set_variable(me)
    confirm(me, "a quest counted once too often")
    notice = me.page.locator("#done .notice")
    expect(notice).to_be_focused()
    expect(notice).to_be_in_viewport()
    assert abs(top_of(heading) - before) <= 1
    notice.get_by_role("button", name="Close").click()
    expect(notice).to_have_count(0)
    # a page that is opened anew starts at its top, not at the scroll position before the action
    me.go(f"{player_page(WHO)}?tab=variables")
    assert me.page.evaluate("scrollY") == 0


def test_page_returns_to_its_part_without_scripts(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, java_script_enabled=False)
    me.page.set_viewport_size({"width": 1440, "height": 400})
    me.go(f"{player_page(WHO)}?tab=variables")
    set_variable(me)
    here = f"{player_page(WHO)}?tab=variables#variables"
    expect(me.page.get_by_role("link", name="Cancel")).to_have_attribute("href", here)
    me.page.get_by_label("Reason").fill("a quest counted once too often")
    me.confirm_button.click()
    expect(me.page.get_by_role("heading", name=WHO, level=1)).to_be_attached()
    assert urlsplit(me.page.url).fragment == "variables"
    expect(me.page.locator("#variables")).to_be_in_viewport()
    expect(me.page.get_by_role("heading", name=WHO, level=1)).not_to_be_in_viewport()


def test_undo_in_a_history_returns_to_its_change_without_scripts(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, java_script_enabled=False)
    sqlite_demo.do(f"players/{WHO}/level", {"level": 30}, "to be undone")
    me.go(f"{player_page(WHO)}?tab=history")
    change = me.page.locator("article.change", has_text="to be undone").first
    number = change.locator(".number").inner_text()
    change.get_by_role("button", name="Undo").click()
    me.page.get_by_label("Reason").fill("by mistake")
    me.confirm_button.click()
    expect(me.page.locator(f"#change-{number}")).to_be_in_viewport()
    assert urlsplit(me.page.url).fragment == f"change-{number}"
