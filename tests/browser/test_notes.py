"""Notes, warnings and tags in a browser: written, shown, found and removed, with and without scripts."""

from collections.abc import Callable

import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer, account_page, player_page
from playwright.sync_api import Locator, expect
from tour import confirm
from visitor import Visitor

Visit = Callable[..., Visitor]
WHO, OWNER = "Kerensa", "Isolde"


def find_form(visitor: Visitor, button: str) -> Locator:
    return visitor.page.locator("form[data-action]", has=visitor.page.get_by_role("button", name=button, exact=True))


def write_note(visitor: Visitor, text: str, *, warning: bool = False) -> None:
    form = find_form(visitor, "Add the note")
    form.get_by_label("Note", exact=True).fill(text)
    if warning:
        form.get_by_label("Warning: show it at the top of the page").check()
    form.get_by_role("button", name="Add the note").click()
    expect(visitor.confirm_button).to_be_visible()


def test_warning_is_written_shown_everywhere_and_deleted(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER, width=390)
    me.go(f"{player_page(WHO)}?tab=notes")
    write_note(me, "Buys gold, see ticket 12.", warning=True)
    expect(me.confirm_button).to_have_text(f"Add a note about {WHO}")
    confirm(me, "ticket 12")
    for path in (player_page(WHO), account_page(OWNER)):
        me.go(path)
        expect(me.page.get_by_role("region", name="Warning")).to_contain_text("Buys gold, see ticket 12.")
    me.go(f"{player_page(WHO)}?tab=history&kind=notes")
    expect(me.page.locator(".timeline .warning")).to_contain_text("Buys gold, see ticket 12.")
    check_page(me)
    me.go("/console/notes?text=TICKET+12")
    expect(me.page.locator("main")).to_contain_text("Buys gold, see ticket 12.")
    me.go(f"{player_page(WHO)}?tab=notes")
    me.page.locator("article.note", has_text="ticket 12").get_by_role("button", name="Delete the note").click()
    confirm(me, "settled")
    expect(me.page.get_by_role("region", name="Warning")).to_have_count(0)


def test_tags_are_set_followed_and_removed(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go(f"{player_page(WHO)}?tab=notes")
    form = find_form(me, "Set the tags")
    form.get_by_label("New tag").fill("Streamer")
    form.get_by_role("button", name="Set the tags").click()
    confirm(me, "asked for it")
    me.page.locator(".person").get_by_role("link", name="streamer").click()
    expect(me.page.locator("main").get_by_role("link", name=WHO)).to_be_visible()
    me.page.go_back()
    form = find_form(me, "Set the tags")
    form.get_by_label("streamer").uncheck()
    form.get_by_role("button", name="Set the tags").click()
    confirm(me, "stopped streaming")
    expect(me.page.locator(".person").get_by_role("link", name="streamer")).to_have_count(0)


@pytest.mark.parametrize("path", [f"{player_page(WHO)}?tab=notes", account_page(OWNER)])
def test_note_is_written_without_scripts(visit: Visit, demo: DemoServer, path: str) -> None:
    me = visit(demo, KEEPER, java_script_enabled=False)
    me.go(path)
    write_note(me, f"Written on {path.split('/')[2]}.")
    me.page.get_by_label("Reason").fill("a test")
    me.confirm_button.click()
    expect(me.page.locator("article.note").first).to_contain_text(f"Written on {path.split('/')[2]}.")
