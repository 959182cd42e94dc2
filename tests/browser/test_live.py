"""Open pages of players and lists follow changes of others, and leave alone what somebody is filling in."""

import re
from collections.abc import Callable

import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer
from playwright.sync_api import Locator, expect
from visitor import Visitor

from demo_pages import player_page
from gamekeeper.demo.world import KEY

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
