"""Steps of the console tour, in a world of any size, with the time of each page."""

import re
from collections.abc import Callable
from typing import NamedTuple

from demo_server import KEEPER, PASSWORD, DemoServer
from playwright.sync_api import Locator, expect
from visitor import Visitor

from gamekeeper.console.frame.menu import MENU
from gamekeeper.demo import players as demo_players
from gamekeeper.demo.world import GEM, HERB, make_stable_id

ANSWERED = """() => {
  const { requestStart, responseEnd } = performance.getEntriesByType('navigation')[0];
  return responseEnd - requestStart;
}"""
# milliseconds that the tour waits for the doctor, besides one millisecond per player
DOCTOR_MS = 60_000


class Somebody(NamedTuple):
    name: str
    id: str
    owner: str
    owner_id: str

    @property
    def email(self) -> str:
        return f"{self.owner.lower()}@example.test"


def somebody(players: int) -> Somebody:
    """Return a player from the middle of the list, or a named one in a small world."""
    if not players:
        return Somebody("Kerensa", make_stable_id("player", "Kerensa"), "Isolde", make_stable_id("user", "Isolde"))
    player, _ = demo_players.build_numbered_players([players // 2])[0]
    return Somebody(player.name, player.id, player.name, player.user_id)


class Tour:
    def __init__(self, visitor: Visitor, server: DemoServer) -> None:
        self.visitor, self.page, self.server = visitor, visitor.page, server
        self.who = somebody(server.players)
        self.times: list[tuple[str, float]] = []

    def go(self, path: str, what: str) -> None:
        assert self.visitor.go(path).status == 200, path
        self.note_arrival(what)

    def note_arrival(self, what: str) -> None:
        """Require a heading on the current page, and record how long the page took."""
        self.page.wait_for_load_state()
        expect(self.page.locator("h1")).to_have_count(1)
        self.times.append((what, self.page.evaluate(ANSWERED)))

    def press(self, button: str, what: str, within: Locator | None = None) -> None:
        """Press a button that leads to another page, and record how long that page took."""
        with self.page.expect_navigation():
            (within or self.page.locator("main")).get_by_role("button", name=button, exact=True).click()
        self.note_arrival(what)

    def table(self) -> str:
        width = max(len(what) for what, _ in self.times)
        return "\n".join(f"{what:<{width}} {milliseconds:8.1f} ms" for what, milliseconds in self.times)


def sign_in(visitor: Visitor, name: str) -> None:
    page = visitor.page
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    arrive(visitor)


def arrive(visitor: Visitor) -> None:
    """Wait until the console is shown and its scripts have started."""
    visitor.page.get_by_role("navigation", name="Pages", exact=True).wait_for()
    visitor.page.wait_for_load_state()


def open_menu(visitor: Visitor, name: str) -> None:
    """Open a menu of acts in the header of a player's page."""
    menu = visitor.page.locator("details.act", has=visitor.page.locator("summary", has_text=name)).first
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()


def offer(visitor: Visitor, item: str, quantity: int) -> None:
    """Fill in the form for giving an item to the player whose page is open, and open the preview."""
    open_menu(visitor, "Give item")
    give = visitor.page.locator(
        "form[data-action]", has=visitor.page.get_by_role("button", name="Give item", exact=True)
    )
    give.get_by_label("Item").fill(item)
    give.get_by_label("Quantity").fill(str(quantity))
    give.get_by_role("button", name="Give item", exact=True).click()


def confirm(visitor: Visitor, reason: str) -> None:
    expect(visitor.dialog).to_be_visible()
    visitor.dialog.get_by_label("Reason").fill(reason)
    with visitor.page.expect_navigation():
        visitor.confirm_button.click()
    visitor.sees_done()


def read_quantities(visitor: Visitor, item: str) -> list[str]:
    """Return the item's quantity in each inventory slot that the player's page shows."""
    slots = visitor.page.locator("section", has=visitor.page.locator("#grid-inventory")).locator(".tile")
    return slots.filter(has_text=item).locator(".count").all_inner_texts()


def overview(tour: Tour) -> None:
    """Check that changes made elsewhere appear on the overview without a reload."""
    tour.visitor.go("/console")
    sign_in(tour.visitor, KEEPER)
    tour.note_arrival("Home")
    tour.server.do(f"players/{tour.who.id}/items/give", {"itemid": HERB.id, "quantity": 1}, "grown elsewhere")
    # the demo's signals may come in between
    given = tour.page.locator("#latest li", has_text="Items given")
    expect(given.first).to_contain_text(tour.who.name)


def search(tour: Tour) -> None:
    """Use the search box, with the Enter key and with a suggestion."""
    who, page = tour.who, tour.page
    page.keyboard.press("Control+k")
    page.keyboard.type(who.email)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    tour.note_arrival("Search by email, and there")
    page.keyboard.press("Control+k")
    page.keyboard.type(who.name.lower())
    with page.expect_navigation():
        page.get_by_role("option", name=who.name).first.click()
    page.get_by_role("heading", name=who.name, level=1).wait_for()
    tour.note_arrival("A player")


def gift(tour: Tour) -> None:
    """Give an item, undo it, and look at the inventory as it was before the undo."""
    me, page = tour.visitor, tour.page
    before = read_quantities(me, GEM.name)
    offer(me, GEM.name, 7)
    me.dialog.get_by_text("These changes will be made:").wait_for()
    expect(me.dialog).to_contain_text(GEM.name)
    confirm(me, "found in the well")
    tour.note_arrival("A player, after a gift")
    given = read_quantities(me, GEM.name)
    assert given != before
    number = page.locator("#done summary a").first.inner_text().removeprefix("Change ")
    page.locator("#done").get_by_role("button", name="Undo").click()
    confirm(me, "it was somebody else's")
    assert read_quantities(me, GEM.name) == before
    page.locator(".travel summary").click()
    page.get_by_label("State after a change number").fill(number)
    tour.press("Show that state", "A player, in an earlier state")
    expect(page.locator(".notice.then")).to_contain_text(f"State after change {number}")
    assert read_quantities(me, GEM.name) == given


def menu(tour: Tour) -> None:
    """Open every page of the menu, and the last page of a list."""
    for entry in MENU():
        tour.go(entry.path, entry.title)
    tour.go("/console/characters", "Players")
    with tour.page.expect_navigation():
        tour.page.get_by_role("link", name="Name").click()
    tour.note_arrival("Players, from the end")


def health(tour: Tour) -> None:
    tour.go("/console/health", "Health")
    with tour.page.expect_navigation():
        tour.page.get_by_role("button", name=re.compile("Run the doctor")).click()
    tour.note_arrival("Health, while the doctor runs")
    outcome = tour.page.locator("#checkup:not([data-running]) .outcome")
    outcome.wait_for(timeout=DOCTOR_MS + tour.server.players)
    expect(outcome).not_to_contain_text("The doctor failed")
    expect(outcome.locator("[data-level=error]")).to_have_count(0)


STEPS: tuple[Callable[[Tour], None], ...] = (overview, search, gift, menu, health)
