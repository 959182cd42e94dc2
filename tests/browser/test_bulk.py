"""Giving an item to many players when requests fail: the undo covers every player, and problems are shown."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from demo_server import HELPER, KEEPER, DemoServer
from playwright.sync_api import Locator, Route, expect
from visitor import HURRY, Visitor

from gamekeeper.demo.world import DRAUGHT, KEY

Visit = Callable[..., Visitor]
GIVE = f"Give 1 \u00d7 {KEY.name} to {{}} players"
TAKE_BACK = "Undo: take the item back from {}"
FULL = """(set => { Storage.prototype.setItem = function (name, value) {
  if (name === 'gamekeeper-bulk') throw new DOMException('full', 'QuotaExceededError');
  set.call(this, name, value);
}; })(Storage.prototype.setItem)"""
FOCUSED = "window.focused = []; addEventListener('focusin', event => window.focused.push(event.target.outerHTML))"


def plan(visitor: Visitor, names: tuple[str, ...]) -> None:
    """Select players on a list and open the bulk page, which makes an idempotency key for each player."""
    for name in names:
        visitor.go(f"/console/characters?search={name}")
        visitor.page.get_by_label(f"Select {name}").check()
    visitor.go(f"/console/bulk?item={KEY.id}")
    visitor.page.get_by_role("button", name="Preview the changes").click()


def carry_out(visitor: Visitor, reason: str, button: str) -> None:
    visitor.page.get_by_label("Reason").fill(reason)
    visitor.page.get_by_role("button", name=button).click()


def results(visitor: Visitor) -> Locator:
    return visitor.page.locator("#bulk tbody td:nth-child(2)")


def test_undo_covers_players_whose_answer_was_lost(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.page.add_init_script(HURRY)
    me.expected = {403, 500}
    failing, lost = {"act", "given"}, "nobody"

    def act(route: Route) -> None:
        """Let the server apply the change, and drop its answer to the browser."""
        sent, answer = route.request.post_data or "", route.fetch()
        if "act" in failing and f"-give-{lost}" in sent:  # the idempotency key contains the player's id
            route.fulfill(status=500, json={"Code": "internal_error", "Message": "It failed."})
        else:
            route.fulfill(response=answer)

    def answer_route(route: Route) -> None:
        if "given" in failing:
            route.fulfill(status=403, json={"Code": "forbidden", "Message": "Not now."})
        else:
            route.continue_()

    me.page.route("**/console/act", act)
    me.page.route("**/console/bulk/given*", answer_route)
    plan(me, ("Nim", "Ondine", "Pascoe"))
    me.sees("Give 1 \u00d7 ")
    lost = str(me.page.locator("#bulk tbody tr").nth(1).get_attribute("data-id"))
    carry_out(me, "a feast", GIVE.format(3))
    me.page.get_by_role("button", name="Undo for 3 players").wait_for()
    expect(results(me).filter(has_text="Outcome unknown. Continue the bulk run to find out.")).to_have_count(1)
    assert '"lines"' not in me.page.evaluate("sessionStorage.getItem('gamekeeper-bulk')")
    failing.remove("act")
    me.page.get_by_role("button", name="Undo for 3 players").click()
    me.sees("Not now. Nothing was undone.")
    failing.clear()
    me.page.get_by_role("button", name="Undo for 3 players").click()
    carry_out(me, "the feast is off", TAKE_BACK.format("3 players"))
    me.sees("Taken back from 3 players.")
    expect(results(me)).to_have_text(["Taken back"] * 3)


def test_bulk_run_without_storage_continues_with_a_warning(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.page.add_init_script(FULL)
    plan(me, ("Rosalind", "Tamsin"))
    me.sees("Give 1 \u00d7 ")
    me.page.evaluate(FOCUSED)
    carry_out(me, "a feast", GIVE.format(2))
    me.sees("given to 2 players.")
    me.sees("The browser's storage is full, so this run is not saved in this tab.")
    expect(results(me)).to_have_text([f"Given: 1 \u00d7 {KEY.name}"] * 2)
    me.page.wait_for_function("window.focused.some(each => each.includes('data-undo'))")
    focused = me.page.evaluate("window.focused")
    assert not any("data-stop" in each and "<button" in each[:8] for each in focused), "a second Enter would stop it"


def test_too_many_selected_players_are_reported(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.go("/console/characters")
    many = "Array.from({ length: 501 }, (_, number) => [`${number}`, `Somebody ${number}`])"
    me.page.evaluate(f"sessionStorage.setItem('gamekeeper-selected', JSON.stringify({many}))")
    me.go(f"/console/bulk?item={KEY.id}")
    look = me.page.get_by_role("button", name="Preview the changes")
    expect(me.page.get_by_role("alert")).to_contain_text(
        "At most 500 players are possible. Exclude 1 player in the table."
    )
    expect(results(me)).to_have_count(501)
    expect(look).to_be_disabled()
    me.page.get_by_role("button", name="Exclude Somebody 500 from this run").click()
    expect(results(me)).to_have_count(500)
    expect(look).to_be_enabled()
    expect(me.page.get_by_role("alert")).to_have_count(0)


def test_another_person_can_undo_a_bulk_run(visit: Visit, sqlite_demo: DemoServer) -> None:
    me, helper = visit(sqlite_demo, KEEPER), visit(sqlite_demo, HELPER)
    plan(me, ("Jaspar", "Kerensa"))
    carry_out(me, "a wedding", GIVE.format(2))
    me.sees("given to 2 players.")
    address = str(me.page.get_by_role("link", name="Link to this run").get_attribute("href"))
    me.page.close()
    helper.go("/console/changes?reason=a+wedding")
    helper.page.get_by_role("link", name="bulk run").first.click()
    helper.sees("Given to 2 players: a wedding (run ")
    assert helper.page.url.endswith(address)
    helper.page.get_by_role("button", name="Undo for 2 players").click()
    carry_out(helper, "it rained", TAKE_BACK.format("2 players"))
    helper.sees("Taken back from 2 players.")
    helper.go(address)
    helper.sees("Taken back from 2 players.")
    expect(helper.page.get_by_role("button", name="Undo for")).to_have_count(0)
    undo = results(helper).first.inner_text().rpartition(" ")[2]
    redo(helper, undo)
    helper.go(address)
    helper.page.get_by_role("button", name="Undo for 1 player").click()
    carry_out(helper, "it rained again", TAKE_BACK.format("1 player"))
    helper.sees("Taken back from 1 player.")
    helper.go(address)
    helper.sees("Taken back from 2 players.")
    assert undo not in " ".join(results(helper).all_inner_texts())


def redo(visitor: Visitor, number: str) -> None:
    """Press the button that undoes an undo."""
    visitor.go(f"/console/changes/{number}")
    visitor.page.get_by_role("button", name="Undo").click()
    visitor.dialog.get_by_label("Reason").fill("it shone")
    visitor.confirm_button.click()
    visitor.sees_done()


def test_missing_bulk_run_says_how_far_the_search_went(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.page.route("**/console/bulk/done*", far_back)
    me.go("/console/bulk?run=0123456789ab")
    me.sees("The audit log has no changes of this run. Searched back to 2026-01-01 00:00:00 UTC. There may be more.")
    me.page.get_by_role("button", name="Search further back").click()
    me.sees("Given to 1 player: a feast (run 0123456789ab).")
    expect(me.page.get_by_role("button", name="Search further back")).to_have_count(0)
    me.page.get_by_role("button", name="Start over").click()
    me.sees("No players are selected.")


def far_back(route: Route) -> None:
    """Answer the page's request as if the audit log had millions of changes."""
    row: dict[str, Any] = {
        "id": "x",
        "name": "Nim",
        "number": 4,
        "lines": [],
        "undone": None,
        "reason": "a feast (run 0123456789ab)",
    }
    told: dict[str, Any] = (
        {"rows": [row], "next": None} if "before=77" in route.request.url else {"rows": [], "next": 77}
    )
    route.fulfill(json={**told, "reached": "2026-01-01 00:00:00 UTC"})


def test_either_of_two_items_with_one_name_can_be_chosen(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    names = [f"Key ({KEY.id})", f"key ({DRAUGHT.id})"]

    def suggest(route: Route) -> None:
        """Suggest two items with the same name, which only their ids distinguish."""
        labels: list[str] = [] if "(" in unquote(route.request.url) else names
        route.fulfill(json={"found": [{"id": each[5:-1], "label": each} for each in labels]})

    me.page.route("**/console/suggest/items*", suggest)
    me.go("/console/characters?search=Nim")
    me.page.get_by_label("Select Nim").check()
    me.go("/console/bulk")
    me.page.get_by_label("Item", exact=True).fill(names[1])
    me.page.get_by_role("button", name="Preview the changes").click()
    me.sees(f"1 \u00d7 {DRAUGHT.name}")  # the preview that the server rendered names the item
