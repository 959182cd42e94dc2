"""Accessibility and layout of the console's pages, checked with axe in light and dark, wide and narrow.

The engine makes no difference; SQLite is enough. In `make long` axe applies every rule to the whole page in
each of the four looks. The module accessibility says what it leaves out otherwise. Only `make screenshots` takes the
pictures.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from tour import open_menu
from visitor import NARROW, WIDE, Visitor

from demo_pages import PAGES, account_page, player_page
from gamekeeper.demo.world import SHARD
from loops import over

Visit = Callable[..., Visitor]
# pictures of the documents: name, address, width, and whether the theme is dark
PICTURES = [
    *((name, path, WIDE[0], dark) for name, path in (
        ("home", "/console?range=30d"),
        ("player", player_page("Aldwyn")),
    ) for dark in (False, True)),
    ("changes", "/console/changes", WIDE[0], True),
    ("account", account_page("Grizelda"), WIDE[0], False),
    ("item", f"/console/items/{SHARD.id}", WIDE[0], False),
    ("signals", "/console/signals", WIDE[0], False),
    ("boards", "/console/boards/most-silver", WIDE[0], True),
    ("players", "/console/characters", WIDE[0], False),
    ("online", "/console/online", WIDE[0], True),
    ("search", "/console/search?q=ban+Yorick+7d", WIDE[0], False),
    ("health", "/console/health", WIDE[0], False),
    ("staff", "/console/staff", WIDE[0], True),
    ("catalogue", "/console/catalogue", WIDE[0], False),
    ("home", "/console?range=30d", NARROW[0], True),
    ("player", player_page("Aldwyn"), NARROW[0], False),
]  # fmt: skip
GERMAN_PICTURES = [("home", "/console?range=30d"), ("player", player_page("Aldwyn")), ("ban", player_page("Aldwyn"))]
FOLDER = os.environ.get("GAMEKEEPER_SCREENSHOTS")  # folder of the pictures; `make screenshots` sets it to docs/images
STILL = (
    """() => document.querySelectorAll('time').forEach(each => { each.textContent = '1 Jan 2026, 12:00:00 UTC'; })"""
)


@pytest.mark.smoke
@pytest.mark.long_form
@over("path", *PAGES)
def test_every_page_is_accessible(window: Visitor, path: str) -> None:
    assert window.go(path).status == 200
    assert window.page.locator("h1").count() == 1
    if path == "/console/explorer":
        window.page.locator(".operation").first.wait_for()  # a script fills this page
    check_page(window)


def test_sign_in_page_and_preview_dialog_are_accessible(visit: Visit, sqlite_demo: DemoServer) -> None:
    stranger, me = visit(sqlite_demo), visit(sqlite_demo, KEEPER)
    for path in ("/console/sign-in?ended=unsent", "/console/invitation?code=none"):
        stranger.expected = {409}
        stranger.go(path)
        check_page(stranger)
    me.go(player_page("Wynstan"))
    open_menu(me, "More")
    me.page.get_by_role("button", name="Set level").click()
    me.confirm_button.wait_for()
    check_page(me)


def name_picture(name: str, width: int, *, dark: bool) -> str:
    return f"console-{name}-{'narrow' if width == NARROW[0] else 'dark' if dark else 'light'}.png"


if FOLDER:

    @pytest.mark.parametrize(("name", "path", "width", "dark"), PICTURES)
    def test_pictures(visit: Visit, sqlite_demo: DemoServer, name: str, path: str, width: int, *, dark: bool) -> None:
        me = visit(sqlite_demo, KEEPER, width=width, dark=dark)
        assert me.go(path).status == 200
        me.page.evaluate(STILL)
        file = Path(FOLDER or "") / name_picture(name, width, dark=dark)
        # The lower part of the search page is empty.
        me.page.screenshot(
            path=file, clip={"x": 0, "y": 0, "width": width, "height": 320} if name == "search" else None
        )


@pytest.mark.smoke
def test_pictures_in_german(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER, locale="de-DE")
    for name, path in GERMAN_PICTURES:
        assert me.go(path).headers["content-language"] == "de"
        me.page.evaluate(STILL.replace("1 Jan 2026, 12:00:00", "01.01.2026, 12:00:00"))
        if name == "ban":
            open_menu(me, "Mehr")
            me.page.get_by_role("button", name="Sperren", exact=True).click()
            expect(me.confirm_button).to_have_text("Konto von Aldwyn für 7 Tage sperren")
            me.dialog.get_by_label("Grund").fill("Beleidigungen im Chat")
        if FOLDER:
            me.page.screenshot(path=Path(FOLDER) / f"console-{name}-german.png")
