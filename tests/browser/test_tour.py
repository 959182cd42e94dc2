"""A tour of all console pages, a gift with the keyboard only, and an action after the session expired."""

from collections.abc import Callable

import pytest
from demo_server import KEEPER, PASSWORD, DemoServer
from playwright.sync_api import expect
from tour import STEPS, Tour, arrive, confirm, offer, open_menu, read_quantities, sign_in
from visitor import Visitor

from demo_pages import player_page

Visit = Callable[..., Visitor]
ITEM = "River Opal"
UNSENT = "Your session has expired, so your last action was not carried out. Sign in and repeat it."


def test_tour_of_all_pages_works(visit: Visit, demo: DemoServer) -> None:
    """`make tour` runs this test with any number of players."""
    tour = Tour(visit(demo), demo)
    for step in STEPS:
        step(tour)
    print(f"\n{tour.table()}")  # noqa: T201 - pytest shows it with -s


@pytest.mark.smoke
def test_item_can_be_given_with_the_keyboard_only(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo)
    keyboard = me.page.keyboard
    me.go("/console")
    # wait: the script sets the focus some time after the page is shown
    expect(me.page.get_by_label("Name")).to_be_focused()
    for key in (KEEPER, "Tab", PASSWORD, "Enter"):
        keyboard.press(key) if key in {"Tab", "Enter"} else keyboard.type(key)
    arrive(me)
    keyboard.press("Control+k")
    keyboard.type("ondine")
    me.page.get_by_role("option", name="Ondine").first.wait_for()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    me.page.get_by_role("heading", name="Ondine", level=1).wait_for()
    me.page.wait_for_load_state()
    before = read_quantities(me, ITEM)
    tab_to(me, "summary.main")
    keyboard.press("Enter")
    tab_to(me, "input[data-suggest=items]")
    keyboard.type(ITEM)
    keyboard.press("Tab")
    keyboard.type("3")
    keyboard.press("Enter")
    expect(me.dialog.get_by_label("Reason")).to_be_focused()
    keyboard.type("by hand")
    keyboard.press("Enter")
    me.sees_done()
    assert read_quantities(me, ITEM) != before


def tab_to(visitor: Visitor, selector: str) -> None:
    """Press Tab until the element has the keyboard focus, which must be visible."""
    for _ in range(150):
        visitor.page.keyboard.press("Tab")
        focused = visitor.page.locator(":focus")
        if focused.count() and focused.evaluate("(each, selector) => each.matches(selector)", selector):
            width = focused.evaluate("each => getComputedStyle(each).outlineStyle + getComputedStyle(each).boxShadow")
            assert width != "nonenone", f"the focus on {selector} is not visible"
            return
    raise AssertionError(f"{selector} cannot be reached with the Tab key")


@pytest.mark.smoke
def test_ban_is_undone_from_the_history(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    banned = me.page.locator("header .tag").get_by_text("account banned", exact=True)
    me.go(player_page("Rosalind"))
    expect(banned).to_have_count(0)
    open_menu(me, "More")
    me.page.get_by_role("button", name="Ban", exact=True).click()
    expect(me.confirm_button).to_have_text("Ban the account of Rosalind for 7 days")
    confirm(me, "sold lanterns")
    expect(banned).to_be_visible()
    me.go(f"{player_page('Rosalind')}?tab=history")
    me.page.locator("article.change", has_text="sold lanterns").get_by_role("button", name="Undo change").click()
    confirm(me, "it was another player")
    expect(me.page.get_by_role("heading", name="Rosalind", level=1)).to_be_visible()
    expect(banned).to_have_count(0)


def test_action_after_the_session_expired_changes_nothing(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go(f"{player_page('Wynstan')}?before=99999")
    open_menu(me, "More")
    level = me.page.get_by_role("spinbutton", name="Level").input_value()
    me.page.get_by_role("spinbutton", name="Level").fill(str(int(level) + 1))
    demo.sign_out(me.cookie)
    me.page.get_by_role("button", name="Set level").click()
    me.sees(UNSENT)
    sign_in(me, KEEPER)
    me.page.get_by_role("heading", name="Wynstan", level=1).wait_for()
    assert me.page.url.endswith(f"{player_page('Wynstan')}?before=99999")
    open_menu(me, "More")
    assert me.page.get_by_role("spinbutton", name="Level").input_value() == level
    demo.sign_out(me.cookie)
    me.expected = {401}
    offer(me, ITEM, 7)  # without a session the item's name cannot be looked up, so the form sends the typed text
    me.sees(UNSENT)
