"""The search box in a browser: its keys, actions that lead to the preview, and secrets that are in no address."""

from collections.abc import Callable

import pytest
from demo_server import KEEPER, DemoServer
from playwright.sync_api import Request, expect
from visitor import Visitor

from demo_pages import player_page
from gamekeeper.demo.world import KEY

Visit = Callable[..., Visitor]
PASTED = "gka_not-a-token-but-it-looks-like-one"


@pytest.mark.smoke
def test_typed_action_leads_to_its_preview(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go("/console")
    me.page.keyboard.press("/")
    me.page.keyboard.type(f"give 2 {KEY.name} to wynstan")
    me.page.get_by_role("option", name=f"Give 2 \u00d7 {KEY.name} to Wynstan").wait_for()
    me.page.keyboard.press("ArrowDown")
    me.page.keyboard.press("Enter")
    me.confirm_button.wait_for()
    expect(me.dialog).to_contain_text("Wynstan")
    me.dialog.get_by_label("Reason").first.fill("Lost both keys")
    me.confirm_button.click()
    me.sees_done()
    assert me.page.url.partition("?")[0].endswith(player_page("Wynstan"))


def test_pasted_secret_is_in_no_address(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    me.page.on("request", note)
    me.go("/console")
    me.page.locator("#find").fill(PASTED)
    me.page.get_by_role("option", name="A token").wait_for()
    me.page.locator("#find").press("Enter")
    me.sees("Unknown to this server.")
    assert PASTED not in me.page.url + me.page.content()
    for path, field in (("/console/tokens", "account"), ("/console/changes", "reason"), ("/console/security", "user")):
        me.go(path)
        box = me.page.locator(f"main form input[name={field}]").first
        box.fill(PASTED)
        box.press("Enter")
        me.sees("Unknown to this server.")
    assert [each for each in asked if PASTED in each] == []
