"""An open page of a player follows changes that others make, and leaves alone what somebody is filling in."""

import re
from collections.abc import Callable

import httpx
import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer, player_page
from playwright.sync_api import Locator, expect
from visitor import Visitor

from gamekeeper.demo.names import make_stable_id
from gamekeeper.demo.world import DRAUGHT, KEY

Visit = Callable[..., Visitor]
WHO = "Halvard"
GIFT = f"players/{WHO}/items/give"


def note(visitor: Visitor) -> Locator:
    return visitor.page.locator("[data-followed]")


@pytest.mark.smoke
def test_page_shows_a_change_of_somebody_else_in_place(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER, width=390)
    me.go(player_page(WHO))
    me.page.evaluate("document.querySelector('.person').dataset.same = 'yes'")
    me.page.evaluate("scrollTo(0, 300)")
    demo.do(GIFT, {"itemid": KEY.id, "quantity": 3}, "found again")
    expect(note(me)).to_have_text(f"Changed just now by {KEEPER}: Items given.")
    expect(me.page.locator(".tile", has_text=KEY.name).first).to_be_visible()
    assert me.page.evaluate("scrollY") == 300
    assert me.page.evaluate("document.querySelector('.person').dataset.same") == "yes"  # it was not loaded again
    me.page.evaluate("scrollTo(0, 0)")  # otherwise the sticky menu bar covers part of the page
    check_page(me)


def test_form_that_is_filled_in_is_not_touched(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go(f"{player_page(WHO)}?tab=variables")
    field = me.page.locator("#variables ~ table input[type=number]").first
    before = field.input_value()
    field.fill("4242")
    me.page.get_by_role("link", name="History").focus()
    demo.do(f"players/{WHO}/level", {"level": 33}, "a quest")
    expect(note(me)).to_have_text(re.compile("Player changed"))
    expect(me.page.locator(".known")).to_contain_text(re.compile(r"Level\s*33"))
    assert field.input_value() == "4242"
    field.fill(before)
    demo.do(GIFT, {"itemid": KEY.id, "quantity": 1}, "found again")
    expect(note(me)).to_have_text(re.compile("Items given"))


def test_focus_and_the_form_of_a_slot_stay(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go(player_page(WHO))
    tile = me.page.locator('[data-slot="inventory-2"]')
    tile.click()
    expect(me.page.locator("#slot")).to_contain_text("slot 2")
    me.page.locator('[data-slot="inventory-5"]').focus()
    demo.do(GIFT, {"itemid": DRAUGHT.id, "quantity": 2}, "found again")
    expect(note(me)).to_have_text(re.compile("Items given"))
    expect(me.page.locator("#slot")).to_contain_text("slot 2")
    expect(tile).to_have_attribute("aria-current", "true")
    expect(me.page.locator('[data-slot="inventory-5"]')).to_be_focused()
    me.page.keyboard.press("ArrowRight")
    expect(me.page.locator('[data-slot="inventory-6"]')).to_be_focused()


def test_history_gets_the_new_change(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go(f"{player_page(WHO)}?tab=history")
    count = me.page.locator(".timeline article").count()
    demo.do(GIFT, {"itemid": KEY.id, "quantity": 1}, "seen at once")
    expect(me.page.locator(".timeline article").first).to_contain_text("seen at once")
    assert me.page.locator(".timeline article").count() in {count, count + 1}


def test_lost_connection_is_said_and_ends(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go(player_page(WHO))
    with me.cut_off("**/version"):
        expect(note(me)).to_have_text("The connection is lost. This page does not update itself.")
    expect(note(me)).to_have_text("")


def test_page_works_without_scripts(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER, java_script_enabled=False)
    me.go(player_page(WHO))
    expect(note(me)).to_have_text("")
    assert httpx.get(f"{demo.url}/console/players/{make_stable_id('player', WHO)}/version").is_redirect
