"""Play sessions in the past, and the rollups over them."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

from gamekeeper.game.insight import activity
from gamekeeper.game.insight.activity import run_rollups
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import DAY_MS, HOUR_MS, MINUTE_MS
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import presence
from gamekeeper.store.players.presence import SessionOfPlayer
from world import World

SERVER = "one"
# tables of the rollups
NUMBERS = ("player_activity", "activity_minutes", "activity_hours", "activity_periods", "activity_cohorts", "rollups")


def play(world: World, sessions: Iterable[tuple[str, int, int]], days: int = 40) -> None:
    """Store ended sessions, given as player, start and end; sessions are recorded since `days` days ago."""
    rows = [SessionOfPlayer(player_id, start, SERVER, end) for player_id, start, end in sessions]
    world.run(play_rows(world.keeper, rows, days))


async def play_rows(keeper: Keeper, rows: Sequence[SessionOfPlayer], days: int) -> None:
    async def load(tx: Writing) -> None:
        await activity.backdate(tx, (await clock.now(tx) // DAY_MS - days) * DAY_MS)
        presence.load_sessions(tx, rows)

    await keeper.store.write(load)


def roll_up(world: World) -> None:
    """Run the rollups like a process that trusts its clock."""
    now = world.now()
    world.run(run_rollups(world.keeper.store, activity.ROLLUPS, now, rest_factor=0))


def find_midnight(world: World, days_ago: int = 0) -> int:
    return (world.now() // DAY_MS - days_ago) * DAY_MS


def invent_sessions(players: Sequence[str], midnight: int, days: int, seed: int) -> list[SessionOfPlayer]:
    """Invent sessions of players over the days before a midnight; some last over a midnight, some no time at all."""
    dice = random.Random(seed)
    rows: list[SessionOfPlayer] = []
    for player_id in players:
        at = midnight - days * DAY_MS + dice.randrange(DAY_MS)
        while at < midnight:
            length = dice.choice(
                [0, dice.randrange(MINUTE_MS), dice.randrange(6 * HOUR_MS), dice.randrange(3 * DAY_MS)]
            )
            end = min(at + length, midnight)
            rows.append(SessionOfPlayer(player_id, at, SERVER, end))
            at = end + 1 + dice.choice([0, dice.randrange(DAY_MS), dice.randrange(12 * DAY_MS)])
    return rows


def read_sessions(world: World) -> list[Any]:
    return world.sql("SELECT player_id, server, started_at, ended_at FROM play_sessions ORDER BY started_at, player_id")
