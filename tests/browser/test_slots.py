"""The player's page: its tabs, the form of a slot, and the menus of acts, with and without scripts.

The engine makes no difference; SQLite is enough. tests/console and tests/http cover the operations on both.
"""

import re
from collections.abc import Callable

import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer, player_page
from playwright.sync_api import Locator, expect
from tour import confirm, open_menu
from visitor import NARROW, Visitor

Visit = Callable[..., Visitor]
WHO = "Aldwyn"
# where a slot of the inventory, of the bank and of the second bag are; in one step, because a live update replaces them
READ_PLACES = """() => [...document.querySelectorAll(
  '[data-slot="inventory-12"], [data-slot="bank-30"], .places > .card:nth-child(4) .slot:first-child [data-slot]'
)].map(each => { const { x, y } = each.getBoundingClientRect(); return [each.dataset.slot, x, y]; })"""


def tile(visitor: Visitor, slot: str) -> Locator:
    return visitor.page.locator(f'[data-slot="{slot}"]')


def list_first_bag(visitor: Visitor) -> Locator:
    """Return the slots of the first bag, which comes after the inventory and the bank."""
    return visitor.page.locator(".places > .card").nth(2).locator("[data-slot]")


def form(visitor: Visitor) -> Locator:
    return visitor.page.locator("#slot")


def read_count(visitor: Visitor, slot: str) -> int:
    return int(tile(visitor, slot).locator(".count").inner_text().replace(",", ""))


def test_click_on_a_slot_acts_on_that_slot(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page(WHO))
    before = read_count(me, "inventory-12")
    tile(me, "inventory-12").click()
    expect(form(me)).to_contain_text("Inventory, slot 12")
    expect(form(me).locator("h3")).to_be_focused()
    assert "slot=" not in me.page.url
    form(me).get_by_label("Quantity to take from this slot").fill("3")
    form(me).get_by_role("button", name="Take").click()
    expect(me.confirm_button).to_have_text(re.compile(rf"Take 3 × .+ from {WHO}, Inventory, slot 12"))  # noqa: RUF001 - the text of the page
    confirm(me, "counted wrongly")
    assert read_count(me, "inventory-12") == before - 3
    me.page.locator("#done").get_by_role("button", name="Undo").click()
    confirm(me, "counted rightly")
    assert read_count(me, "inventory-12") == before


def test_items_are_moved_by_the_keyboard(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page(WHO))
    before = read_count(me, "inventory-14")
    tile(me, "inventory-13").focus()
    me.page.keyboard.press("ArrowRight")
    expect(tile(me, "inventory-14")).to_be_focused()
    me.page.keyboard.press("Enter")
    expect(form(me)).to_contain_text("Inventory, slot 14")
    me.page.keyboard.press("Escape")
    expect(form(me)).to_be_hidden()
    expect(tile(me, "inventory-14")).to_be_focused()
    me.page.keyboard.press("Enter")
    form(me).get_by_label("Slot", exact=True).fill("30")
    me.page.keyboard.press("Enter")
    confirm(me, "sorted")
    assert read_count(me, "inventory-30") == before
    expect(tile(me, "inventory-14")).to_have_class(re.compile("free"))


def test_item_is_put_into_an_empty_slot_by_name(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page(WHO))
    tile(me, "inventory-28").click()
    form(me).get_by_label("Item for this slot").fill("Moonfern")
    form(me).get_by_role("button", name="Put into this slot").click()
    confirm(me, "a gift")
    expect(tile(me, "inventory-28")).to_contain_text("Moonfern")


def test_slot_works_without_scripts(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, java_script_enabled=False)
    me.go(player_page(WHO))
    before = read_count(me, "bank-3")
    tile(me, "bank-3").click()
    expect(form(me)).to_contain_text("Bank, slot 3")
    expect(form(me)).to_be_in_viewport()
    form(me).get_by_label("New quantity of this slot").fill(str(before - 1))
    form(me).get_by_role("button", name="Set quantity").click()
    me.page.get_by_label("Reason required", exact=True).fill("one too many")
    me.confirm_button.click()
    expect(tile(me, "bank-3")).to_be_attached()
    assert read_count(me, "bank-3") == before - 1
    assert me.page.url.endswith("#grid-bank")
    expect(me.page.locator("#grid-bank")).to_be_in_viewport()


def test_stale_page_is_refused(visit: Visit, sqlite_demo: DemoServer) -> None:
    me, other = visit(sqlite_demo, KEEPER), visit(sqlite_demo, KEEPER)
    for each in (me, other):
        each.go(player_page(WHO))
        tile(each, "bank-5").click()
        form(each).get_by_label("New quantity of this slot").wait_for()
    form(other).get_by_role("button", name="Take").click()
    confirm(other, "one of them")
    me.expected = {409}
    form(me).get_by_label("New quantity of this slot").fill("1")
    form(me).get_by_role("button", name="Set quantity").click()
    me.sees("Bank, slot 5 was changed after you opened the page.")


@pytest.mark.parametrize("scripts", [True, False])
def test_tabs_are_addresses_and_acting_keeps_the_tab(visit: Visit, sqlite_demo: DemoServer, *, scripts: bool) -> None:
    me, level = visit(sqlite_demo, KEEPER, java_script_enabled=scripts), "9" if scripts else "10"
    me.go(player_page("Wynstan"))
    tabs = me.page.get_by_role("navigation", name="Parts of this player")
    for title, part in (
        ("History", "#history"),
        ("Variables and spells", "#spells"),
        ("Details and account", "#facts"),
    ):
        tabs.get_by_role("link", name=title).click()
        expect(me.page.locator(part)).to_be_visible()
        expect(tabs.locator("[aria-current=page]")).to_have_text(title)
    open_menu(me, "More")
    me.page.get_by_role("spinbutton", name="Level").fill(level)
    me.page.get_by_role("button", name="Set level").click()
    me.page.get_by_label("Reason required", exact=True).fill("a test")
    me.confirm_button.click()
    expect(me.page.locator(".known").get_by_text(level, exact=True)).to_be_visible()
    expect(tabs.locator("[aria-current=page]")).to_have_text("Details and account")


def test_form_of_a_slot_is_at_the_lower_edge_of_a_phone(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, width=NARROW[0])
    me.go(player_page(WHO))
    tile(me, "inventory-6").click()
    expect(form(me).get_by_role("button", name="Take")).to_be_in_viewport(ratio=1)
    check_page(me)


def test_slider_shows_earlier_states(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page("Yorick"))  # the demo's past has several changes of this player
    me.page.locator(".travel summary").click()
    slider = me.page.get_by_role("slider")
    newest = int(slider.input_value())
    slider.focus()
    me.page.keyboard.press("ArrowLeft")
    number = int(slider.input_value())
    marks = [int(each.get_attribute("value") or "") for each in me.page.locator("#marks option").all()]
    assert number == marks[-2] < newest == marks[-1]
    expect(me.page.locator("#travel-to")).to_contain_text(f"{number}, 20")
    with me.page.expect_navigation():
        me.page.keyboard.press("Enter")
    expect(me.page.locator(".notice.then")).to_contain_text(f"State after change {number}")
    with me.page.expect_navigation():
        me.page.get_by_role("slider").click(position={"x": 1, "y": 5})
    expect(me.page.locator(".notice.then")).to_contain_text(f"State after change {marks[0]}")


@pytest.mark.parametrize("scripts", [True, False])
def test_two_moments_are_compared(visit: Visit, sqlite_demo: DemoServer, *, scripts: bool) -> None:
    me = visit(sqlite_demo, KEEPER, java_script_enabled=scripts)
    me.go(player_page(WHO))
    me.page.locator(".travel summary").click()
    first = me.page.locator("#marks option").first.get_attribute("value") or ""
    me.page.get_by_label("Compare the state at").fill(first)
    me.page.get_by_role("button", name="Compare", exact=True).click()
    expect(me.page.locator("#came-and-went")).to_be_visible()
    expect(me.page).to_have_url(re.compile(rf"at={first}&against=now"))
    assert me.page.locator(".tile.came, .tile.went").count() > 0
    if scripts:
        check_page(me)


def test_focus_follows_tabs_and_menus_and_escape_closes_the_result(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page(WHO))
    me.page.locator('[data-tab="history"]').focus()
    me.page.keyboard.press("Enter")
    expect(me.page.locator('[data-tab="history"][aria-current]')).to_be_focused()
    open_menu(me, "Give item")
    expect(me.page.locator(".act[open]").get_by_label("Item", exact=True)).to_be_focused()
    me.go(player_page(WHO))
    tile(me, "inventory-0").click()
    form(me).get_by_role("button", name="Unequip").or_(form(me).get_by_role("button", name="Equip")).click()
    confirm(me, "to repair it")
    expect(me.page.locator("#done > .notice")).to_be_focused()
    me.page.keyboard.press("Escape")
    expect(me.page.locator("#done > .notice")).to_have_count(0)
