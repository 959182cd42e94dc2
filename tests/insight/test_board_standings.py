"""Boards: the same standings whenever the follower is killed, and under changes and decisions meanwhile."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

import pytest

from boarding import BOARDS, catch_up, create, standings
from economics import give, give_loaded
from findings import errors
from gamekeeper.game.insight import board_follower
from gamekeeper.game.insight import standings as standing_rules
from gamekeeper.ground import crash
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.insight import standings as rows
from people import COIN
from world import Answer, World

pytestmark = pytest.mark.both_engines


def count_raw(world: World) -> list[tuple[str, int]]:
    statement = (
        "SELECT p.name, SUM(s.quantity), p.id FROM slots s JOIN players p ON p.id = s.player_id "
        "WHERE s.item_id = $1 GROUP BY p.name, p.id ORDER BY 2 DESC, 3 DESC"
    )
    return [(row[0], int(row[1])) for row in world.sql(statement, COIN.id)]


@pytest.mark.usefixtures("small_counts")
@pytest.mark.parametrize("point", crash.BOARD_POINTS)
def test_killed_follower_gives_the_same_standings_when_repeated(
    world: World, repeat_killed: Callable[..., int], point: str
) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    give_loaded(world)
    repeat_killed(point, lambda: catch_up(world))
    catch_up(world)
    assert standings(world, "coins") == count_raw(world)
    assert errors(world) == []
    gains = [(f"Loaded{0x5000 + number}", number) for number in range(1, 12)]
    assert sorted(standings(world, "gains")) == sorted(gains)


def test_sweep_takes_off_changes_that_are_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_follower, "BATCH_PLAYERS", 1)
    create(world, "coins", "item", Thing="Gold Coin")
    create(world)
    upto = world.run(world.keeper.feed.find_watermark())
    world.run(world.keeper.boards.refresh())
    while world.run(world.keeper.boards.step(upto)):
        give(world, "Ann", 3)
        give(world, "Zoe", 1)
        give(world, "Zoe", 1, what="take")
        assert world.post("/api/v1/players/Bob/level", {"level": len(world.ledger()) % 90 + 1}).status == 200
    catch_up(world)
    assert standings(world, "coins") == count_raw(world)
    levels = {row[0]: row[1] for row in world.sql("SELECT name, level FROM players")}
    assert dict(standings(world)) == levels


def test_doctor_finds_wrong_standings(world: World) -> None:
    create(world)
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    create(world, "coins", "item", Thing="Gold Coin")
    give(world, "Bob", 5)
    catch_up(world)
    give(world, "Zoe", 5)  # not counted yet
    assert errors(world) == []
    catch_up(world)
    assert errors(world) == []
    for statement, back, word in (
        ("UPDATE standings SET value = value + 1", "UPDATE standings SET value = value - 1", "the standings of season"),
        ("UPDATE standing_buckets SET entries = entries + 1", "UPDATE standing_buckets SET entries = entries - 1",
         "its buckets count"),
        ("UPDATE standings SET listed = NOT listed", "UPDATE standings SET listed = NOT listed", "wrongly"),
    ):  # fmt: skip
        world.sql(statement)
        assert any(word in each for each in errors(world)), statement
        world.sql(back)
    assert errors(world) == []


pytestmark = pytest.mark.both_engines

WAITS = Statement(
    "waits", {"": "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"}
)
Step = Callable[..., Coroutine[Any, Any, Any]]


def race(world: World, step: Step, method: str, path: str, body: object) -> tuple[Step, list[Future[Answer]]]:
    """Return `step` with a request that is sent when it ends, once, and the list that gets its future.

    The step's transaction goes on when the request waits for it, or has its answer. On SQLite there is one writer at a
    time, so the request cannot have its answer before.
    """
    sent: list[Future[Answer]] = []

    async def raced(*given: Any, **named: Any) -> Any:
        found = await step(*given, **named)
        if not sent:
            # SQLite's transactions run in a thread of their own
            sent.append(asyncio.run_coroutine_threadsafe(world.send(method, path, body=body), world.loop))
            if world.keeper.store.engine == "postgres":
                async with asyncio.timeout(60):
                    while not sent[0].done() and not await world.keeper.store.one(WAITS):  # noqa: ASYNC110 - a session of the server waits
                        await asyncio.sleep(0.01)
        return found

    return raced, sent


async def finish(sent: list[Future[Answer]]) -> int:
    [future] = sent
    return (await asyncio.wrap_future(future)).status


def test_board_edited_during_a_review_of_staff_is_reviewed_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    create(world)
    assert world.post("/api/keeper/v1/users/Bob/roles", {"give": ["moderator"]}).status == 200
    catch_up(world)
    assert world.call("PUT", f"{BOARDS}/levels", body={"HideStaff": False}).status == 200
    raced, sent = race(world, rows.find_staff, "PUT", f"{BOARDS}/levels", {"HideStaff": True})
    monkeypatch.setattr(rows, "find_staff", raced)
    catch_up(world)
    assert world.run(finish(sent)) == 200
    catch_up(world)
    assert standings(world) == [("Zoe", 12), ("Ann", 12)]  # without Bob, who is staff


def test_account_shown_while_its_hiding_is_applied_is_listed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    create(world)
    catch_up(world)
    path = "/api/keeper/v1/users/Bob/boards"
    assert world.post(path, {"Hidden": True}).status == 200
    raced, sent = race(world, standing_rules.review, "POST", path, {"Hidden": False})
    monkeypatch.setattr(standing_rules, "review", raced)
    catch_up(world)
    assert world.run(finish(sent)) == 200
    catch_up(world)
    assert len(standings(world)) == 3
