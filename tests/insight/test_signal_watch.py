"""The rules over changes, killed at every step and repeated, raise the same signals once, one for each incident."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from economics import catch_up, give
from gamekeeper.game.insight import economy, signals
from gamekeeper.game.insight.signals import Evidence, Finding, ListedChange, raise_findings
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.insight import signals as rows
from gamekeeper.store.insight.signals import BEYOND, SUPPLY
from people import ARROW, BOB, COIN, ZOE
from signalling import TABLES, report
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

COLUMNS = "rule, subject, item_id, player_id, giver_id, first_at, last_at, times, evidence"


def read_signals(world: World) -> tuple[list[str], list[str]]:
    """Return the signals without their ids, and the sums of the last hour."""
    found = sorted(map(repr, world.sql(f"SELECT {COLUMNS} FROM signals")))  # noqa: S608 - ours
    sums = [
        repr(row)
        for table in ("signal_counts", "item_growth", "player_gains")
        for row in world.sql(f"SELECT * FROM {table} ORDER BY 1, 2")  # noqa: S608 - ours
    ]
    return found, sorted(sums)


def play(world: World, more: int = 0) -> None:
    """Let a game report gains of two players, and a shop give large gifts. `more`: what the players get at once."""
    for step in range(1, 7):
        sudden = more if step > 2 else 0
        report(world, sudden + 600 * step, BOB.id)
        report(world, sudden + 700 * step, ZOE.id)
        give(world, "Ann", 1_000 + step)
        give(world, "Ann", 1, by="Root")  # too little to be kept as evidence
        report(world, 15 * step, BOB.id, ARROW.id, slot=21)


@pytest.mark.parametrize("point", ["rollup_flows", "rollup_holdings", "rollup_signals", "rollup_state"])
def test_killed_follower_raises_the_same_signals_when_repeated(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, repeat_killed: Callable[..., int], point: str
) -> None:
    world = make_world(signals="gain=1000,gift=1000")
    catch_up(world)
    play(world)
    monkeypatch.setattr(economy, "BATCH_CHANGES", 3)
    kills = repeat_killed(point, lambda: catch_up(world), most_passes=1)
    assert kills > 3
    killed, _ = read_signals(world)
    rules = sorted(row.split("'")[1] for row in killed)
    assert rules == ["gain", "gain", "gift", "supply"]
    raised = [each.kind for each in world.ledger()].count("signal_raised")
    assert raised == 4
    assert world.sql("SELECT SUM(raised), SUM(opened) FROM signal_counts")[0] == (4, 4)
    assert COIN.id in killed[0]


def store_findings(world: World, *batches: Sequence[Finding]) -> None:
    """Store batches of findings, each in a transaction of its own, one after another."""
    codec = world.keeper.changes.codec

    async def store() -> None:
        for batch in batches:
            await world.keeper.store.write(lambda tx, some=batch: raise_findings(tx, codec, some))

    world.run(store())


def make_findings(world: World, *minutes: int, subject: str = COIN.id) -> list[Finding]:
    """Make findings at times after one of yesterday, each with a change of its own."""
    start = world.now() // 3_600_000 * 3_600_000 - 24 * 3_600_000
    return [
        Finding(
            SUPPLY,
            subject,
            start + 60_000 * minute,
            Evidence(limit=3, quantity=100 + minute, changes=(ListedChange(number + 1, minute),)),
            item_id=COIN.id,
        )
        for number, minute in enumerate(minutes)
    ]


def read_incidents(world: World, start: int) -> list[tuple[int, int, int]]:
    """Return first and last minute of each signal, and how often it was found."""
    found = world.sql("SELECT first_at, last_at, times FROM signals ORDER BY first_at")
    return [((first - start) // 60_000, (last - start) // 60_000, times) for first, last, times in found]


def test_findings_an_hour_apart_are_signals_of_their_own_however_they_are_stored(world: World) -> None:
    """Findings of 95 and 20 are counted late: they belong to the newest signal, and do not raise one."""
    minutes = (0, 59, 118, 178, 95, 180, 20, 240, 300, 301)
    findings = make_findings(world, *minutes)
    stored: list[Any] = []
    for size in (1, 3, 4, len(minutes)):
        for table in TABLES:
            world.sql(f"DELETE FROM {table}")  # noqa: S608 - ours
        store_findings(world, *(findings[place : place + size] for place in range(0, len(minutes), size)))
        assert read_incidents(world, findings[0].at) == [(0, 118, 3), (178, 180, 4), (240, 240, 1), (300, 301, 2)]
        stored.append(read_signals(world))
    assert all(each == stored[0] for each in stored)


@pytest.mark.parametrize(("subject", "counts"), [(COIN.id, 1), (COIN.id, 0), (BEYOND, 1)])
def test_instances_that_find_the_same_at_once_raise_one_signal(
    world: World, monkeypatch: pytest.MonkeyPatch, subject: str, counts: int
) -> None:
    """What one rule finds beyond the most open signals has no lock but that of the rule.

    `counts`: number of rows in the table of counts, which has none before the first signal of a rule.
    """
    if counts:
        world.sql("INSERT INTO signal_counts (rule, raised, opened) VALUES ($1, 0, 0)", SUPPLY)
    monkeypatch.setattr(signals, "MOST_OPEN", 0 if subject == BEYOND else 100)
    find = rows.find_newest

    async def find_slowly(tx: Writing, rule: str, subject: str) -> rows.Signal | None:
        found = await find(tx, rule, subject)
        if world.keeper.store.engine == "postgres":  # SQLite runs one transaction at a time, and it cannot pause
            await asyncio.sleep(0.2)
        return found

    monkeypatch.setattr(rows, "find_newest", find_slowly)
    codec, parts = world.keeper.changes.codec, [[each] for each in make_findings(world, 0, 5, 10)]
    world.at_once(world.keeper.store.write(lambda tx, part=each: raise_findings(tx, codec, part)) for each in parts)
    assert world.sql("SELECT subject, times FROM signals") == [(subject, 3)]
    assert world.sql("SELECT raised, opened FROM signal_counts") == [(1, 1)]
