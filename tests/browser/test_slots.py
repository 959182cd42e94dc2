"""The player's page: its tabs, the form of a slot, and the menus of acts, with and without scripts.

The engine makes no difference; SQLite is enough. tests/console and tests/http cover the operations on both.
"""

import re
from collections.abc import Callable

from demo_server import KEEPER, DemoServer
from playwright.sync_api import Locator, expect
from tour import confirm
from visitor import Visitor

from demo_pages import player_page

Visit = Callable[..., Visitor]
WHO = "Aldwyn"


def tile(visitor: Visitor, slot: str) -> Locator:
    return visitor.page.locator(f'[data-slot="{slot}"]')


def form(visitor: Visitor) -> Locator:
    return visitor.page.locator("#slot")


def read_count(visitor: Visitor, slot: str) -> int:
    return int(tile(visitor, slot).locator(".count").inner_text().replace(",", ""))


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
