"""The home page: totals, the latest visible changes, live updates and charts; and the page Activity."""

import asyncio
import time
from collections.abc import Callable, Generator

import httpx
import pytest

from audit_log import give
from game_server import heartbeat, join
from gamekeeper.console.frame import sessions
from gamekeeper.console.frame.differences import TIMES_SIGN
from gamekeeper.console.insight import charts, home, monitor
from gamekeeper.console.insight.charts import DAY_MS, HOUR_MS
from keepers import Keeper, get_callers, open_session, open_staff
from people import ANN, BOB
from playing import find_midnight, play, roll_up
from server import Server
from watching import EVENTS, Watch
from world import SENT, MakeWorld, World


@pytest.fixture
def lively(monkeypatch: pytest.MonkeyPatch, make_world: MakeWorld) -> World:
    """A test world whose overview page is refreshed often."""
    monkeypatch.setattr(home, "TICK_SECONDS", 0.03)
    monkeypatch.setattr(monitor, "SNAPSHOT_SECONDS", 0.0)
    return make_world()


@pytest.fixture
def watch(lively: World) -> Generator[Callable[[Keeper], Watch]]:
    made: list[Watch] = []

    def open_(keeper: Keeper) -> Watch:
        made.append(Watch(keeper))
        return made[-1]

    yield open_
    lively.keeper.feed.stop()
    for each in made:
        each.wait(lambda each=each: each.ended)


def test_page_shows_totals_and_links_of_latest_changes(world: World, root: Keeper) -> None:
    heartbeat(world)
    join(world, ANN.id, BOB.id)
    seq = give(world, 5, "Bob")
    page = root.page("/console")
    figures = [part.partition("<")[0] for part in page.html.split('data-text="')[1:]]
    shown = {each.partition('"')[0]: each.partition(">")[2] for each in figures}
    assert [shown[name] for name in ("online", "players", "accounts", "health")] == ["2", "3", "7", "Good"]
    assert f"{seq} Items given Bob Inventory, slot 0: — → 5 {TIMES_SIGN} Gold Coin by Root" in page.text
    assert page.links[str(seq)] == f"/console/changes/{seq}"


def test_stream_sends_new_changes_and_hides_accounts(lively: World, watch: Callable[[Keeper], Watch]) -> None:
    clerk, shop = watch(open_session(lively, "Clerk")), watch(open_session(lively, "Shop"))
    clerk.wait(lambda: bool(clerk.told) and bool(shop.told))
    assert clerk.headers["content-type"] == "text/event-stream"
    assert (clerk.told[0]["texts"]["online"], "accounts" in shop.told[0]["texts"]) == ("0", False)
    newbie = {"username": "Newbie", "password": SENT, "email": "newbie@example.test"}
    assert lively.post("/api/v1/users/register", newbie).status == 200
    seq = give(lively, 5, "Bob")
    for each in (clerk, shop):
        each.wait(lambda each=each: f"/console/changes/{seq}" in each.told[-1]["latest"])
    assert ("Newbie" in clerk.raw, "Newbie" in shop.raw) == (True, False)
    page = open_session(lively, "Shop").page("/console")
    page.assert_hidden("Newbie", "Account registered")
    assert "/console/accounts" not in page.html
    lively.sql("UPDATE users SET users_query = $1 WHERE name = 'Clerk'", False)
    get_callers(lively).clear_cache()  # drop the cached permissions, which would otherwise stay for a few seconds
    clerk.wait(lambda: "accounts" not in clerk.told[-1]["texts"])


def test_stream_ends_with_the_session(lively: World, watch: Callable[[Keeper], Watch]) -> None:
    root, other = open_session(lively, "Root"), open_session(lively, "Root")
    watching, staying = watch(root), watch(other)
    watching.wait(lambda: bool(watching.told) and bool(staying.told))
    assert root.post("/console/sign-out").status == 303
    watching.wait(lambda: watching.ended)
    assert watching.raw.endswith(home.SIGNED_OUT.decode())
    assert not staying.ended


def test_streams_of_an_account_are_limited_over_its_sessions(
    lively: World, watch: Callable[[Keeper], Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "MAX_STREAMS_PER_ACCOUNT", 2)
    mine = [watch(open_session(lively, "Root")) for _ in range(2)]
    mine[1].wait(lambda: all(each.told for each in mine))
    again = open_session(lively, "Root")
    assert watch(again).status == 409
    assert again.get("/console").status == 200
    assert watch(open_session(lively, "Clerk")).status == 200
    mine[0].disconnect()
    assert watch(again).status == 200


def test_stream_does_not_count_as_use_of_a_session(lively: World, watch: Callable[[Keeper], Watch]) -> None:
    root = open_session(lively, "Root")
    callers = get_callers(lively)
    callers.take_uses()
    watching = watch(root)
    watching.wait(lambda: bool(watching.told))
    lively.run(asyncio.sleep(0.1))
    assert callers.take_uses() == []
    root.page("/console")
    assert len(callers.take_uses()) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.long_only
def test_shutdown_ends_streams_at_once(database: str, make_world: MakeWorld) -> None:
    cookie = open_session(make_world(), "Root").cookie
    with Server(database, stop_seconds=120) as server:
        url, cookies = f"{server.url}{EVENTS}", {sessions.PLAIN_COOKIE: cookie}
        with httpx.stream("GET", url, cookies=cookies, timeout=60) as answer:
            told = answer.iter_text()
            first = next(told)
            began = time.monotonic()
            code = server.stop()
            took = time.monotonic() - began
            rest = "".join(told)
    assert (answer.status_code, first[:6], code) == (200, "retry:", 0)
    assert took < 60  # seconds; a stream that ignored the shutdown would end only after stop_seconds (120)
    assert "signed-out" not in rest


def test_past_players_are_shown_with_permission(world: World, root: Keeper) -> None:
    midnight = find_midnight(world, days_ago=1)
    played = [(each.id, midnight + HOUR_MS, midnight + 3 * HOUR_MS) for each in (ANN, BOB)]
    play(world, [(ANN.id, midnight - 20 * DAY_MS, midnight - 20 * DAY_MS + HOUR_MS), *played])
    roll_up(world)
    page = root.page("/console?range=7d")
    page.assert_shown(
        f"{charts.label_step(midnight + HOUR_MS, HOUR_MS)} 2 2", f"{charts.label_step(midnight, DAY_MS)} 4"
    )
    page = open_staff(world, ["audit.read"], "Reader").page("/console")
    page.assert_hidden("Over time", "New players today")
    assert "Latest changes" in page.text


def test_activity_page_has_retention(world: World, root: Keeper) -> None:
    assert "No new players in this time range." in root.page("/console/activity?range=24h").text
    start = find_midnight(world, 10)
    world.sql("UPDATE players SET created_at = $1 WHERE id IN ($2, $3)", start, ANN.id, BOB.id)
    play(world, [(each.id, start + 1_000, start + 61_000) for each in (ANN, BOB)])
    play(world, [(ANN.id, start + DAY_MS, start + DAY_MS + 60_000)])
    roll_up(world)
    (cohort,) = world.get("/api/keeper/v1/activity/retention").json["Cohorts"]
    page = root.page("/console/activity")
    page.assert_shown("Active players by day", "Sign-ins", f"{cohort['Day']} 2 1 (50 %) 0 (0 %) \u2014")
