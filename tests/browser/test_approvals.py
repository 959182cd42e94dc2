"""Approval by a second person and a reached quota in the browser."""

import subprocess
import sys
from collections.abc import Callable, Generator

import pytest
from accessibility import check_page
from demo_server import HELPER, KEEPER, DemoServer, copy_demo, player_page
from playwright.sync_api import expect
from tour import confirm, offer, read_quantities
from visitor import Visitor

from gamekeeper.demo.world import GEM, ORE

Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def server(engine: str, request: pytest.FixtureRequest) -> Generator[DemoServer]:
    """Run a server for the tests of this file: gifts above 5 are held, and of ore 3 can be given per day."""
    databases = request.getfixturevalue(f"{engine}_databases")
    url = copy_demo(databases)
    limit = ["roles", "save", "api", "--quota", f"{ORE.id}=3", "--database", url]
    subprocess.run([sys.executable, "-m", "gamekeeper", *limit], check=True, capture_output=True)
    with DemoServer(url, approvals="items.give>5") as running:
        yield running
    databases.drop(url)


def test_second_person_sees_the_preview_of_a_held_gift_and_approves(visit: Visit, server: DemoServer) -> None:
    requester = visit(server, HELPER)
    requester.expected = {409}
    requester.go(player_page("Ondine"))
    before = read_quantities(requester, GEM.name)
    offer(requester, GEM.name, 7)
    expect(requester.dialog).to_contain_text("A second person must approve this change.")
    requester.dialog.get_by_label("Reason").fill("won the lottery")
    requester.confirm_button.click()
    expect(requester.dialog.get_by_role("heading", name="Waiting for approval")).to_be_visible()
    expect(requester.dialog).to_contain_text("Nothing was changed yet.")
    approver = visit(server, KEEPER)
    approver.go("/console")
    approver.page.get_by_role("link", name="Waiting for approval").click()
    held = approver.page.locator("article", has_text="won the lottery")
    expect(held).to_contain_text(f"Requested by {HELPER}")
    expect(held).to_contain_text(GEM.name)
    check_page(approver)
    held.get_by_role("button", name="Approve").click()
    expect(approver.dialog).to_contain_text(GEM.name)
    confirm(approver, "seen the ticket")
    expect(held).to_contain_text(f"Decided by {KEEPER}")
    requester.go(player_page("Ondine"))
    assert sum(map(int, read_quantities(requester, GEM.name))) == sum(map(int, before)) + 7


def test_reached_quota_names_the_item_and_the_end_of_the_day(visit: Visit, server: DemoServer) -> None:
    giver = visit(server, HELPER)
    giver.expected = {409}
    giver.go(player_page("Ondine"))
    offer(giver, ORE.name, 2)
    confirm(giver, "a gift")
    offer(giver, ORE.name, 2)
    said = giver.page.get_by_role("alert").filter(has_text="may be given per UTC day")
    expect(said).to_contain_text(f"At most 3 of item '{ORE.name}' may be given per UTC day, and 2 were given today.")
    expect(said).to_contain_text("00:00:00 UTC")
    check_page(giver)
