"""Lost connections: the page reports it, continues later, and every request is applied once."""

from collections.abc import Callable

from demo_server import KEEPER, DemoServer
from playwright.sync_api import Locator, expect
from visitor import Visitor

from gamekeeper.demo.world import GEM, HERB

Visit = Callable[..., Visitor]
ACT, EVENTS = "**/console/act", "**/console/events"
NOT_DONE = "The server cannot be reached. Nothing was changed. Try again."
UNKNOWN = "It is not known whether this was done. Send it again: it takes effect only once."
ALREADY = "This was done already"


def in_ledger(visitor: Visitor, reason: str) -> int:
    """Return the number of changes in the audit log with this reason."""
    visitor.go(f"/console/changes?reason={reason.replace(' ', '+')}")
    return visitor.page.locator("article.change").count()


def notice_in(place: Locator, text: str) -> None:
    """Require the connection error notice in this part of the page and nowhere else."""
    expect(place.locator("[data-said]")).to_have_text(text)
    expect(place.page.locator("[data-said]")).to_have_count(1)


def test_undo_from_a_list_survives_a_lost_connection(visit: Visit, demo: DemoServer) -> None:
    demo.do("players/Verity/items/give", {"itemid": GEM.id, "quantity": 1}, "the first opal")
    me = visit(demo, KEEPER)
    me.go("/console/changes?player=Verity&kind=items_given")
    one = me.page.locator("article.change", has_text="the first opal")
    with me.cut_off(ACT):
        one.get_by_role("button", name="Undo").click()
        notice_in(one, NOT_DONE)
    expect(one.get_by_role("button", name="Undo")).to_be_focused()
    me.page.keyboard.press("Enter")
    me.dialog.get_by_text("These changes will be made:").wait_for()
    expect(one.locator("[data-said]")).to_have_count(0)
    me.page.keyboard.press("Escape")
    expect(one.get_by_role("button", name="Undo")).to_be_focused()
    me.page.keyboard.press("Space")
    expect(me.dialog).to_be_visible()
    me.dialog.get_by_label("Reason").press_sequentially("not hers")
    with me.cut_off(ACT, answered=True):
        me.page.keyboard.press("Enter")
        notice_in(me.dialog.locator("form"), UNKNOWN)
    me.page.keyboard.press("Enter")
    me.sees(ALREADY)
    one.get_by_text("undone by").wait_for()
    expect(one.get_by_role("button", name="Undo")).to_have_count(0)
    assert in_ledger(me, "not hers") == 1


def test_overview_reconnects_its_event_stream(visit: Visit, sqlite_demo: DemoServer) -> None:
    """The event stream breaks, stays unavailable for a while, and returns with the changes made meanwhile."""
    me = visit(sqlite_demo, KEEPER)
    me.page.route(EVENTS, lambda route: route.fulfill(content_type="text/event-stream", body="retry: 100\n\n"))
    me.go("/console")
    lost = me.page.get_by_text("Connection lost. Reconnecting")
    with me.cut_off(EVENTS):
        lost.wait_for()
        sqlite_demo.do("players/Wulfric/items/give", {"itemid": HERB.id, "quantity": 1}, "while nobody saw")
    me.page.unroute(EVENTS)
    lost.wait_for(state="hidden")
    expect(me.page.locator("#latest li", has_text="Items given").first).to_contain_text("Wulfric")
