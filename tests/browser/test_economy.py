"""Who has the most: the ranked variables of the page Economy, and an item's holders, in a browser."""

import time
from collections.abc import Callable

import pytest
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.demo.world import DRAGONS

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
