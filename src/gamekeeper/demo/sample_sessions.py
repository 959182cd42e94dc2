"""Play sessions of the demo's last 60 days: more in the evening and at weekends, with new players over time.

The new players of that time have left the game and are erased: only their sessions are there, under ids of their own.
"""

import random
from collections.abc import Iterable

from gamekeeper.demo import world
from gamekeeper.demo.names import make_stable_id
from gamekeeper.game.calendar_steps import DAY_MS, HOUR_MS, MINUTE_MS, WEEK_DAYS, read_weekday
from gamekeeper.store.play_sessions import SessionOfPlayer

DAYS = 60
NEW_PLAYERS = 45
SATURDAY = 5
# how likely a session begins in each hour of the day (UTC): few at night, most in the evening
HOURS = (3, 2, 1, 1, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 11, 13, 15, 15, 13, 9, 6)
MINUTES = (15, 25, 40, 55, 75, 100, 150)  # lengths of sessions
# probability that a new player is online on its first days, and later
EARLY = (1.0, 0.55, 0.45, 0.4, 0.35, 0.3, 0.3, 0.3)
LATE = 0.12
SERVERS = tuple(world.GAME_SERVERS)
# players who play on one game server only; others play on any
HOMES = {make_stable_id("player", name): server for server, held in world.GAME_SERVERS.items() for name in held}


def find_start(now_ms: int) -> int:
    """Return the first midnight of the demo's past."""
    return (now_ms // DAY_MS - DAYS) * DAY_MS


def build_sessions(now_ms: int) -> list[SessionOfPlayer]:
    """Build the sessions up to the last full hour. Within an hour the result is the same each time."""
    end = now_ms // HOUR_MS * HOUR_MS
    start = find_start(now_ms)
    players = [make_stable_id("player", name) for held in world.ACCOUNTS.values() for name in held]
    regulars = [
        session for number, player_id in enumerate(players) for session in _build_regular(player_id, number, start, end)
    ]
    newcomers = [session for number in range(NEW_PLAYERS) for session in _build_newcomer(number, start, end)]
    return sorted([*regulars, *newcomers], key=lambda each: (each.started_at, each.player_id))


def find_newcomers(sessions: Iterable[SessionOfPlayer]) -> dict[str, int]:
    """Return the first day of each new player."""
    newcomers = {make_stable_id("former player", str(number)) for number in range(NEW_PLAYERS)}
    days: dict[str, int] = {}
    for each in sessions:
        if each.player_id in newcomers:
            days.setdefault(each.player_id, each.started_at // DAY_MS)
    return days


def _build_regular(player_id: str, number: int, start: int, end: int) -> list[SessionOfPlayer]:
    """Build the sessions of a player who has been there before; some take long breaks."""
    dice = random.Random(f"regular {player_id}")  # noqa: S311 - invented data
    zeal = 0.25 + 0.6 * dice.random()
    pause = dice.randrange(DAYS) if number % 4 == 0 else DAYS  # day on which a break of two weeks begins
    sessions: list[SessionOfPlayer] = []
    for day in range(DAYS + 1):
        keen = zeal * (1.3 if read_weekday(start + day * DAY_MS) >= SATURDAY else 0.9)
        away = pause <= day < pause + 2 * WEEK_DAYS
        if dice.random() < keen and not away:
            sessions += _build_day(player_id, start + day * DAY_MS, end, dice)
    return sessions


def _build_newcomer(number: int, start: int, end: int) -> list[SessionOfPlayer]:
    """Build the sessions of a player who was new in this time, and came less and less often."""
    player_id = make_stable_id("former player", str(number))
    dice = random.Random(f"newcomer {number}")  # noqa: S311 - invented data
    first = dice.randrange(DAYS)
    sessions: list[SessionOfPlayer] = []
    for day in range(first, DAYS + 1):
        age = day - first
        if dice.random() < (EARLY[age] if age < len(EARLY) else LATE):
            sessions += _build_day(player_id, start + day * DAY_MS, end, dice)
    return sessions


def _build_day(player_id: str, midnight: int, end: int, dice: random.Random) -> list[SessionOfPlayer]:
    """Build one or two sessions of a day; none begins in the last hours, so that they do not overlap the next day."""
    starts = sorted({dice.choices(range(24), HOURS)[0] for _ in range(dice.choice((1, 1, 2)))})
    sessions: list[SessionOfPlayer] = []
    free = midnight
    for hour in starts:
        started = max(free, midnight + hour * HOUR_MS + dice.randrange(50) * MINUTE_MS + dice.randrange(MINUTE_MS))
        ended = min(started + dice.choice(MINUTES) * MINUTE_MS + dice.randrange(MINUTE_MS), midnight + DAY_MS - 1, end)
        if started < ended:
            sessions.append(SessionOfPlayer(player_id, started, HOMES.get(player_id) or dice.choice(SERVERS), ended))
            free = ended + MINUTE_MS
    return sessions
