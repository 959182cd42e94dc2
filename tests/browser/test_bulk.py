"""Bulk jobs in the browser: selection, preview, progress and results."""

from collections.abc import Callable

import pytest
from accessibility import check_page
from demo_server import KEEPER, DemoServer
from playwright.sync_api import expect
from visitor import Visitor

from gamekeeper.demo.world import KEY

Visit = Callable[..., Visitor]
GIVE = f"Give 1 \u00d7 {KEY.name}"


def create(me: Visitor, names: tuple[str, ...], reason: str) -> None:
    """Select players in a list, and send the form of the bulk page."""
    for name in names:
        me.go(f"/console/characters?search={name}")
        me.page.get_by_label(f"Select {name}").check()
    me.go(f"/console/bulk?item={KEY.id}")
    expect(me.page.locator("[data-players]")).to_have_value("\n".join(names))
    me.page.get_by_label("Reason").fill(reason)
    me.page.get_by_role("button", name="Preview the job").click()
    me.sees("Preview of the next players")


@pytest.mark.smoke
def test_selected_players_get_an_item(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    create(me, ("Nim", "Ondine", "Pascoe"), "a feast")
    me.page.get_by_role("button", name=f"{GIVE}: 3 players").click()
    me.sees("3 players: 3 done, 0 refused, 0 left.")  # the page follows the job by itself
    check_page(me)
    me.go("/console/characters")
    assert me.page.evaluate("sessionStorage.getItem('gamekeeper-selected')") == "[]"
