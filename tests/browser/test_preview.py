"""Previews and results of actions are visible without scrolling, however long they are.

The engine makes no difference; SQLite is enough.
"""

from collections.abc import Callable

import pytest
from demo_server import KEEPER, DemoServer, account_page, player_page
from playwright.sync_api import expect
from tour import confirm, offer
from visitor import Visitor

Visit = Callable[..., Visitor]
SMALL = 320  # page width in pixels, like a 1280 pixel page at 400 % zoom
LONG = """() => {
  const [was, now] = document.querySelectorAll('.change > .difference td');
  was.textContent = 'Moderator';
  now.textContent = 'Moderator, somebody who sells lanterns, '.repeat(9) + 'x'.repeat(60);
}"""
BROKEN = """() => [...document.querySelectorAll('.difference :is(th, td)')].flatMap(each => {
  const text = each.firstChild, found = [];
  for (const word of (text?.data ?? '').matchAll(/(?<!\\S)[A-Za-z]{2,10}(?![^\\s,])/g)) {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    if (range.getClientRects().length > 1) found.push(word[0]);
  }
  return found;
})"""


def test_long_preview_opens_at_its_top(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, width=390)
    me.go(player_page("Pascoe"))
    me.page.locator("summary", has_text="More").click()
    me.page.get_by_role("button", name="Delete the player").click()
    heading, button = me.dialog.locator("h1"), me.confirm_button
    expect(me.dialog.get_by_label("Reason")).to_be_focused()
    assert me.dialog.evaluate("each => [each.scrollTop, each.scrollHeight > 2 * each.clientHeight]") == [0, True]
    for to in ("0", "each.scrollHeight / 2", "each.scrollHeight"):
        me.dialog.evaluate(f"each => {{ each.scrollTop = {to}; }}")
        for each in (heading, button):
            expect(each).to_be_in_viewport(ratio=1)


def test_typing_replaces_the_suggested_reason(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(account_page("Quillon"))
    ban = me.page.locator("form[data-action]", has=me.page.get_by_role("button", name="Ban", exact=True))
    ban.get_by_label("Reason").fill("sells lanterns")
    ban.get_by_role("button", name="Ban", exact=True).click()
    reason = me.dialog.get_by_label("Reason")
    expect(reason).to_have_value("sells lanterns")
    expect(reason).to_be_focused()
    me.page.keyboard.type("ticket 12")
    expect(reason).to_have_value("ticket 12")


def test_result_of_an_action_has_the_focus(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page("Ondine"))
    offer(me, "Moonfern", 1)
    confirm(me, "a gift")
    notice = me.page.locator("#done .notice")
    expect(notice).to_be_focused()
    expect(notice.get_by_role("table")).to_be_visible()


@pytest.mark.parametrize("path", [player_page("Aldwyn"), "/console/mail"])
def test_page_does_not_scroll_sideways_at_400_percent_zoom(visit: Visit, sqlite_demo: DemoServer, path: str) -> None:
    me = visit(sqlite_demo, KEEPER, width=SMALL)
    me.go(path)
    assert me.page.evaluate("document.documentElement.scrollWidth") == SMALL


def test_dialog_names_the_action_and_its_object(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go(player_page("Ondine"))
    offer(me, "Moonfern", 3)
    expect(me.dialog.locator("h1")).to_have_text("Give Moonfern to Ondine")
    expect(me.confirm_button).to_have_text("Give 3 \u00d7 Moonfern to Ondine")
    expect(me.page.get_by_role("dialog", name="Give Moonfern to Ondine")).to_be_visible()
    confirm(me, "a gift")
    me.page.locator("#done").get_by_role("button", name="Undo").click()
    expect(me.confirm_button).to_have_text("Undo: take back 3 \u00d7 Moonfern from Ondine")


def test_erasure_dialog_names_the_account_and_requires_its_name(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, width=390)
    me.expected = {400}
    me.go(account_page("Quillon"))
    me.page.get_by_role("button", name="Erase the account").click()
    expect(me.dialog.locator("h1")).to_have_text("Erase Quillon")
    typed = me.dialog.get_by_label("Type the account's name")
    expect(typed).to_be_focused()
    assert me.dialog.evaluate("each => each.scrollWidth <= each.clientWidth")
    typed.fill("Pascoe")
    me.dialog.get_by_label("Reason").fill("by request")
    me.dialog.get_by_role("button", name="Erase Quillon").click()
    expect(me.dialog.get_by_role("alert")).to_have_text(
        "Type the account's name, Quillon, to erase it. Nothing was changed."
    )
    me.go(account_page("Quillon"))
    expect(me.page.locator("h1")).to_have_text("Quillon")
