"""Who has the most: the ranked variables of the page Economy, and an item's holders, in a browser."""

import re
import time
from collections.abc import Callable

import pytest
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.demo.world import COIN, DRAGONS

Visit = Callable[..., Visitor]
COUNTED_SECONDS = 30  # in which the background job of the server has counted the ranked lists


def go_when_counted(visitor: Visitor, path: str) -> None:
    until = time.monotonic() + COUNTED_SECONDS
    visitor.go(path)
    while not visitor.page.locator("tbody tr").count():
        assert time.monotonic() < until, "no list"
        visitor.page.wait_for_timeout(200)
        visitor.go(path)


@pytest.mark.parametrize("scripts", [True, False])
def test_highest_values_of_a_variable_are_found_from_economy(visit: Visit, demo: DemoServer, *, scripts: bool) -> None:
    me = visit(demo, KEEPER, java_script_enabled=scripts)
    go_when_counted(me, f"/console/economy/variables/{DRAGONS.id}")
    me.go("/console/economy")
    me.page.get_by_role("link", name=DRAGONS.name).click()
    expect(me.page.get_by_role("heading", level=1)).to_have_text(DRAGONS.name)
    rows = [each.split("\t") for each in me.page.locator("tbody tr").all_inner_texts()]
    values = [int(each[2].replace(",", "")) for each in rows]
    assert [each[0] for each in rows] == [str(number + 1) for number in range(len(rows))]
    assert values == sorted(values, reverse=True)
    me.page.get_by_role("link", name=rows[0][1]).click()
    expect(me.page.get_by_role("heading", level=1)).to_have_text(rows[0][1])


@pytest.mark.parametrize("scripts", [True, False])
def test_page_of_an_items_holders_is_chosen_by_its_number(visit: Visit, demo: DemoServer, *, scripts: bool) -> None:
    me = visit(demo, KEEPER, java_script_enabled=scripts)
    me.go(f"/console/items/{COIN.id}?days=7")
    holders = me.page.get_by_role("region", name="Largest holders")
    holders.get_by_label("Page", exact=True).fill("2")
    holders.get_by_role("button", name="Go to the page").click()
    expect(holders).to_contain_text("21 to")
    expect(me.page).to_have_url(re.compile(r"days=7&page=1#holders-title$"))
    expect(holders.get_by_role("heading")).to_be_in_viewport()
    holders.get_by_label("Rows per page").select_option("50")
    holders.get_by_role("button", name="Show").click()
    expect(me.page).to_have_url(re.compile(r"days=7&pagesize=50#holders-title$"))
    expect(holders).to_contain_text("1 to")
