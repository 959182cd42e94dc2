"""The search box in a browser: its keys, actions that lead to the preview, and secrets that are in no address."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from demo_server import KEEPER, DemoServer, player_page
from playwright.sync_api import Request, expect
from visitor import NARROW, Visitor

from gamekeeper.demo.world import ACCENTED_NAME, CYRILLIC_NAME, KEY

Visit = Callable[..., Visitor]
PASTED = "gka_not-a-token-but-it-looks-like-one"


def test_slash_and_control_k_open_the_search_box(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go("/console/characters")
    box = me.page.locator("#find")
    for keys in ("/", "Control+k"):
        me.page.locator("main").focus()
        me.page.keyboard.press(keys)
        expect(box).to_be_focused()
        assert box.input_value() == ""
    me.page.get_by_role("searchbox", name="Part of a name").focus()
    me.page.keyboard.press("/")
    expect(me.page.get_by_role("searchbox", name="Part of a name")).to_have_value("/")


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


def test_search_box_finds_other_scripts_and_shows_pictures_of_items(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.go("/console")
    for part, name in (("раф", CYRILLIC_NAME), ("СЕРА", CYRILLIC_NAME), ("éphyr", ACCENTED_NAME)):  # noqa: RUF001 - Cyrillic
        me.page.locator("#find").fill(part)
        expect(me.page.get_by_role("option", name=name)).to_be_visible()
    me.page.locator("#find").fill(KEY.name)
    picture = me.page.get_by_role("option", name=KEY.name).first.locator("img")
    expect(picture).to_have_js_property("naturalWidth", 64)
    me.go(f"/console/characters?search={quote('раф')}")
    expect(me.page.get_by_role("link", name=CYRILLIC_NAME, exact=True)).to_be_visible()


def test_enter_opens_the_preview_of_a_single_suggestion(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go("/console")
    me.page.locator("#find").fill("kick Wynstan")
    me.page.get_by_role("option").wait_for()
    me.page.locator("#find").press("Enter")
    expect(me.dialog.get_by_label("Reason shown to the player")).to_be_visible()
    assert me.page.url.endswith("/console")


@pytest.mark.smoke
def test_action_works_without_scripts(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER, java_script_enabled=False)
    me.go("/console")
    me.page.locator("#find").fill("mute Wynstan 3d")
    me.page.keyboard.press("Enter")
    me.page.get_by_role("button", name="Mute Wynstan for 3 days").click()
    me.sees("Mute")
    expect(me.confirm_button).to_be_visible()


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
    assert [each for each in asked if PASTED in each] == []
    assert PASTED not in me.page.url
    assert PASTED not in me.page.content()


def test_secret_pasted_into_a_filter_is_in_no_address(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    me.page.on("request", note)
    for path, field in (("/console/tokens", "account"), ("/console/changes", "reason"), ("/console/security", "user")):
        me.go(path)
        box = me.page.locator(f"main form input[name={field}]").first
        box.fill(PASTED)
        box.press("Enter")
        me.sees("Unknown to this server.")
    assert [each for each in asked if PASTED in each] == []


def test_menu_of_a_phone_opens_without_scripts(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, width=NARROW[0], java_script_enabled=False)
    me.go("/console")
    entry = me.page.get_by_role("link", name="Security log")
    expect(entry).to_be_hidden()
    me.page.get_by_role("button", name="Menu").click()
    entry.click()
    me.page.wait_for_url("**/console/security")
    expect(me.page.get_by_role("link", name="Security log")).to_be_hidden()
