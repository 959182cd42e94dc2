"""Signals in the browser: found by the background job, looked at, and acknowledged without JavaScript."""

import re
from collections.abc import Callable

from accessibility import check_page
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.demo.world import HERB

Visit = Callable[..., Visitor]


def test_large_gift_is_found_shown_and_acknowledged(visit: Visit, demo: DemoServer) -> None:
    gift = {"itemid": HERB.id, "quantity": 20_000, "bankoverflow": True}
    demo.do("players/Nim/items/give", gift, "a test of signals")
    me = visit(demo, KEEPER, java_script_enabled=False)
    link = me.page.get_by_role("link", name="Large gift").first
    for _ in range(60):  # the background job counts every two seconds
        me.go("/console/signals?rule=gift")
        if link.count():
            break
        me.page.wait_for_timeout(500)
    link.click()
    me.sees(f"20,000 of {HERB.name}")
    expect(me.page.get_by_role("link", name=re.compile(r"^\d+$")).first).to_be_visible()
    me.page.get_by_label("Note").fill("It was a test.")
    me.page.get_by_role("button", name="Acknowledge the signal").click()
    me.page.get_by_label("Reason").fill("looked at it")
    me.page.get_by_role("button", name="Acknowledge the signal").click()
    me.go("/console/signals?state=acknowledged&rule=gift")
    me.page.get_by_role("link", name="Large gift").first.click()
    me.sees("It was a test.")
    seeing = visit(demo, KEEPER)
    seeing.go(me.page.url.partition("/console")[1] + me.page.url.partition("/console")[2])
    check_page(seeing)


def test_signals_name_both_incidents_of_the_demo(visit: Visit, demo: DemoServer) -> None:
    """The demo has two incidents of duplicated shards. Each raises two rules, though the demo also ranks an item."""
    me = visit(demo, KEEPER, java_script_enabled=False)
    for rule, name in (("supply", "Supply of an item has grown fast"), ("gain", "One player got very much")):
        me.go(f"/console/signals?rule={rule}&state=all")
        expect(me.page.get_by_role("link", name=name)).to_have_count(2)
