"""The rules over changes, killed at every step and repeated, raise the same signals once."""

import asyncio

import pytest

from economics import catch_up, give
from gamekeeper import crash
from gamekeeper.game import economy
from listings import MakeWorld
from people import ARROW, BOB, COIN, ZOE
from signalling import report
from world import World

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


def play(world: World) -> None:
    """Let a game report gains of two players, and a shop give large gifts."""
    catch_up(world)
    for step in range(1, 7):
        report(world, 600 * step, BOB.id)
        report(world, 700 * step, ZOE.id)
        give(world, "Ann", 1_000 + step)
        report(world, 15 * step, BOB.id, ARROW.id, slot=21)


def start_over(world: World, seq: int) -> None:
    """Forget all signals, and count again from a change; holdings stay as they are."""
    for table in ("signals", "signal_counts", "item_growth", "player_gains"):
        world.sql(f"DELETE FROM {table}")  # noqa: S608 - ours
    world.sql("DELETE FROM ledger WHERE kind = 'signal_raised'")
    world.sql("UPDATE economy SET seq = $1", seq)


@pytest.mark.parametrize("point", ["rollup_flows", "rollup_holdings", "rollup_signals", "rollup_state"])
def test_killed_follower_raises_the_same_signals_when_repeated(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    class Killed(BaseException):
        pass

    world = make_world(signals="gain=1000,gift=1000")
    play(world)
    passes = {"left": 0}

    def kill(name: str) -> None:
        if name == point:
            passes["left"] -= 1
            if passes["left"] < 0:
                raise Killed

    monkeypatch.setattr(economy, "BATCH_CHANGES", 3)
    monkeypatch.setattr(crash, "crash_at", kill)
    kills = 0
    while kills < 40:
        passes["left"] = 1 if kills else 0
        try:
            catch_up(world)
        except (Killed, asyncio.CancelledError):
            kills += 1
            continue
        break
    assert kills > 3
    killed, _ = read_signals(world)
    rules = sorted(row.split("'")[1] for row in killed)
    assert rules == ["gain", "gain", "gift", "supply"]
    raised = [each.kind for each in world.ledger()].count("signal_raised")
    assert raised == 4
    assert world.sql("SELECT SUM(raised), SUM(opened) FROM signal_counts")[0] == (4, 4)
    assert COIN.id in killed[0]


def test_size_of_the_batches_makes_no_difference(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(signals="gain=1000,gift=1000")
    catch_up(world)
    first = world.ledger()[-1].seq
    quantities = world.sql("SELECT * FROM item_totals ORDER BY item_id")
    assert quantities
    play(world)
    found: list[tuple[list[str], list[str]]] = []
    for batch in (500, 1, 7):
        monkeypatch.setattr(economy, "BATCH_CHANGES", batch)
        start_over(world, first)
        world.sql("UPDATE economy SET swept = NULL")
        world.sql("DELETE FROM item_totals")
        world.sql("DELETE FROM holdings")
        catch_up_without_sweep(world, quantities)
        found.append(read_signals(world))
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) == 4


def catch_up_without_sweep(world: World, quantities: list[tuple[str, int, int]]) -> None:
    """Count from the same totals each time."""
    for item_id, quantity, holders in quantities:
        world.sql(
            "INSERT INTO item_totals (item_id, quantity, holders) VALUES ($1, $2, $3)", item_id, quantity, holders
        )
    catch_up(world)
