"""Lost connections: the page reports it, continues later, and every request is applied once."""

from collections.abc import Callable

from demo_server import KEEPER, DemoServer
from playwright.sync_api import Locator, expect
from visitor import Visitor

from gamekeeper.demo.world import GEM, HERB

Visit = Callable[..., Visitor]
ACT, RUN, EVENTS = "**/console/act", "**/console/explorer/run", "**/console/events"
NOT_DONE = "The server cannot be reached. Nothing was changed. Try again."
UNKNOWN = "It is not known whether this was done. Send it again: it takes effect only once."
ALREADY = "This was done already"
REFUSED = (
    "document.querySelector('[data-suggest=items]').validationMessage === 'The server cannot be reached. Try again.'"
)


def in_ledger(visitor: Visitor, reason: str) -> int:
    """Return the number of changes in the audit log with this reason."""
    visitor.go(f"/console/changes?reason={reason.replace(' ', '+')}")
    return visitor.page.locator("article.change").count()


def notice_in(place: Locator, text: str) -> None:
    """Require the connection error notice in this part of the page and nowhere else."""
    expect(place.locator("[data-said]")).to_have_text(text)
    expect(place.page.locator("[data-said]")).to_have_count(1)


def test_undo_from_a_list_survives_a_lost_connection(visit: Visit, demo: DemoServer) -> None:
    for reason in ("the first opal", "the second opal"):
        demo.do("players/Verity/items/give", {"itemid": GEM.id, "quantity": 1}, reason)
    me = visit(demo, KEEPER)
    me.go("/console/changes?player=Verity&kind=items_given")
    one = me.page.locator("article.change", has_text="the first opal")
    other = me.page.locator("article.change", has_text="the second opal")
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
    other.get_by_role("button", name="Undo").click()
    expect(me.dialog).to_be_visible()
    me.dialog.get_by_label("Reason").fill("nor this one")
    with me.cut_off(ACT):
        me.confirm_button.click()
        notice_in(me.dialog.locator("form"), UNKNOWN)
    me.confirm_button.click()
    me.sees_done()
    other.get_by_text("undone by").wait_for()
    assert (in_ledger(me, "not hers"), in_ledger(me, "nor this one")) == (1, 1)


def test_explorer_survives_a_lost_connection(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go("/console/explorer")
    operation = me.page.locator("#give_item")
    operation.locator("summary").click()
    for label, text in (("lookupKey", "Wulfric"), ("itemid", HERB.id), ("quantity", "1")):
        operation.get_by_label(label).fill(text)
    with me.cut_off(RUN):
        operation.get_by_role("button", name="Preview changes").click()
        notice_in(operation.locator("form"), NOT_DONE)
    expect(operation.get_by_role("button", name="Preview changes")).to_be_focused()
    me.page.keyboard.press("Enter")
    operation.get_by_text("Nothing has been changed yet.").wait_for()
    expect(operation.locator("[data-said]")).to_have_count(0)
    operation.get_by_label("Reason").fill("a fern by hand")
    with me.cut_off(RUN, answered=True):
        me.page.keyboard.press("Enter")
        notice_in(operation.locator("form.confirm"), UNKNOWN)
    me.page.keyboard.press("Enter")
    operation.get_by_text("This was done already").wait_for()
    assert in_ledger(me, "a fern by hand") == 1


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
