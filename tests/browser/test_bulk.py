"""An item for many, while things go wrong: nobody is left out of the undo, and nothing stalls unsaid."""

from collections.abc import Callable

from demo_server import KEEPER, DemoServer
from playwright.sync_api import Route
from visitor import Visitor

from gamekeeper.demo.world import KEY

Visit = Callable[..., Visitor]
HURRY = "(wait => { window.setTimeout = (then, ms) => wait(then, Math.min(ms, 20)); })(window.setTimeout)"
FULL = """(set => { Storage.prototype.setItem = function (name, value) {
  if (name === 'gamekeeper-bulk') throw new DOMException('full', 'QuotaExceededError');
  set.call(this, name, value);
}; })(Storage.prototype.setItem)"""
FOCUSED = "window.focused = []; addEventListener('focusin', event => window.focused.push(event.target.outerHTML))"


def plan(visitor: Visitor, names: tuple[str, ...]) -> None:
    """Chooses some on a list, and a key for each of them."""
    for name in names:
        visitor.go(f"/console/characters?search={name}")
        visitor.page.get_by_label(f"Select {name}").check()
    visitor.go(f"/console/bulk?item={KEY.id}")
    visitor.page.get_by_role("button", name="Show what will happen").click()


def carry_out(visitor: Visitor, reason: str, button: str) -> None:
    visitor.page.get_by_label("Reason").fill(reason)
    visitor.page.get_by_role("button", name=button).click()


def results(visitor: Visitor) -> list[str]:
    return visitor.page.locator("#bulk tbody td:nth-child(2)").all_inner_texts()


def test_whose_answer_was_lost_is_taken_back_too(visit: Visit, demo: DemoServer) -> None:
    me = visit(demo, KEEPER)
    me.page.add_init_script(HURRY)
    me.expected = {403, 500}
    failing, lost = {"act", "given"}, "nobody"

    def act(route: Route) -> None:
        """It is done, and its answer is lost."""
        sent, answer = route.request.post_data or "", route.fetch()
        if "act" in failing and f"-give-{lost}" in sent:  # its key
            route.fulfill(status=500, json={"Code": "internal_error", "Message": "It failed."})
        else:
            route.fulfill(response=answer)

    def given(route: Route) -> None:
        if "given" in failing:
            route.fulfill(status=403, json={"Code": "forbidden", "Message": "Not now."})
        else:
            route.continue_()

    me.page.route("**/console/act", act)
    me.page.route("**/console/bulk/given*", given)
    plan(me, ("Nim", "Ondine", "Pascoe"))
    me.sees("Give 1 \u00d7 ")
    lost = str(me.page.locator("#bulk tbody tr").nth(1).get_attribute("data-id"))
    carry_out(me, "a feast", "Give to 3 characters")
    me.page.get_by_role("button", name="Undo all 3").wait_for()
    assert "Not known yet: go on to find out" in results(me)
    assert '"lines"' not in me.page.evaluate("sessionStorage.getItem('gamekeeper-bulk')")
    failing.remove("act")
    me.page.get_by_role("button", name="Undo all 3").click()
    me.sees("Not now. Nothing was taken back.")
    failing.clear()
    me.page.get_by_role("button", name="Undo all 3").click()
    carry_out(me, "the feast is off", "Take back from 3 characters")
    me.sees("Taken back from 3 characters.")
    assert results(me) == ["Taken back"] * 3


def test_a_run_that_cannot_be_kept_goes_on_and_says_so(visit: Visit, sqlite_demo: DemoServer) -> None:
    me = visit(sqlite_demo, KEEPER)
    me.page.add_init_script(FULL)
    plan(me, ("Rosalind", "Tamsin"))
    me.sees("Give 1 \u00d7 ")
    me.page.evaluate(FOCUSED)
    carry_out(me, "a feast", "Give to 2 characters")
    me.sees("given to 2 characters.")
    me.sees("This browser has no room left to remember this run.")
    assert results(me) == ["Given"] * 2
    focused = me.page.evaluate("window.focused")
    assert any("data-undo" in each for each in focused)
    assert not any("data-stop" in each and "<button" in each[:8] for each in focused), "a second Enter would stop it"
