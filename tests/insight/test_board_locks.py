"""Boards: a decision that is made while an earlier one is being applied is applied after it, and is not lost."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

import pytest

from boarding import BOARDS, catch_up, create, standings
from gamekeeper.game.insight import standings as standing_rules
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.insight import standings as rows
from world import Answer, World

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
