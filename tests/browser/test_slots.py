"""The player's page: the form of a slot, with the keyboard.

The engine makes no difference; SQLite is enough. the tests of the rooms cover the operations on both.
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
