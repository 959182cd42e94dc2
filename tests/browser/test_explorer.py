"""The API explorer at /api/docs with a token, and in the console with the session."""

from collections.abc import Callable

import pytest
from demo_server import KEEPER, DemoServer
from explorer_page import log_in, open_operation, preview, preview_gift
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.demo.world import HERB

Visit = Callable[..., Visitor]
CONSOLE, DOCS = "/console/explorer", "/api/docs"
APPLY = "Apply changes"


def enter(visit: Visit, server: DemoServer, path: str) -> Visitor:
    """Open the API explorer as an account with all permissions."""
    me = visit(server, KEEPER if path == CONSOLE else "")
    me.go(path)
    me.page.locator(".operation").first.wait_for()
    if path == DOCS:
        log_in(me)
    return me


@pytest.mark.parametrize("path", [CONSOLE, DOCS])
def test_write_is_previewed_and_then_applied(visit: Visit, sqlite_demo: DemoServer, path: str) -> None:
    me = enter(visit, sqlite_demo, path)
    operation = preview_gift(me, "Wulfric", HERB.id)
    expect(operation.locator(".command")).to_contain_text("dryRun=true")
    # the reason contains a dash outside Latin-1, which HTTP headers cannot carry directly
    reason = f"a fern \u2013 from {path}"
    operation.get_by_label("Reason").fill(reason)
    me.page.keyboard.press("Enter")
    expect(operation.locator(".result")).to_contain_text("Done.")
    expect(operation.locator(".result h3")).to_be_focused()
    expect(operation.locator(".command")).not_to_contain_text("dryRun")
    expect(operation.get_by_role("button", name=APPLY)).to_have_count(0)
    me = visit(sqlite_demo, KEEPER)
    me.go("/console/changes?kind=items_given")
    expect(me.page.locator("article.change", has_text=reason)).to_have_count(1)


def test_key_survives_a_lost_answer_and_an_ended_log_in(visit: Visit, sqlite_demo: DemoServer) -> None:
    """A change whose outcome is unknown is sent again with its idempotency key after the next log-in."""
    me = enter(visit, sqlite_demo, DOCS)
    operation = preview_gift(me, "Undrel", HERB.id)
    operation.get_by_label("Reason").fill("one fern")
    apply = operation.get_by_role("button", name=APPLY)
    with me.cut_off("**/items/give", answered=True):
        apply.click()
        expect(operation.get_by_role("alert")).to_contain_text("It is not known whether this was done")
    me.expected = {401}
    denied = {"Message": "Authorization has been denied for this request.", "Code": "denied"}
    me.page.route("**/items/give", lambda route: route.fulfill(status=401, json=denied), times=1)
    apply.click()
    expect(operation.get_by_role("alert")).to_contain_text("Log in, then send it again")
    apply.click()
    expect(operation.locator(".result")).to_contain_text("This was done already, and was not repeated.")


@pytest.mark.parametrize("path", [CONSOLE, DOCS])
def test_new_password_is_typed_twice_and_never_shown(visit: Visit, sqlite_demo: DemoServer, path: str) -> None:
    me = enter(visit, sqlite_demo, path)
    operation = open_operation(me, "manage_password")
    preview(operation, lookupKey="Quillon", new="ferns and opals")
    expect(operation.locator(".command")).to_contain_text("$NEW_SHA256")
    operation.get_by_label("Reason").fill("forgotten")
    operation.get_by_label("new again").fill("ferns and opal")
    operation.get_by_role("button", name=APPLY).click()
    expect(operation.get_by_role("alert")).to_contain_text("The two new passwords are not the same.")
    operation.get_by_label("new again").fill("ferns and opals")
    operation.get_by_role("button", name=APPLY).click()
    expect(operation.locator(".result")).to_contain_text("Done.")
    assert "ferns" not in me.page.content()
