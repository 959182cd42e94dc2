"""Activity over time: rollups of play sessions and sign-ins, and the series that are read from them.

Minutes have the numbers of sessions that started and ended; the number of players online follows from them. After two
days minutes are added to hours, days, weeks and months, and deleted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gamekeeper.game.calendar_steps import (
    DAY_MINUTES,
    DAY_MS,
    HOUR_MINUTES,
    HOUR_MS,
    MINUTE_MS,
    PERIODS,
    find_first_day,
)
from gamekeeper.game.rollups import Rollup
from gamekeeper.game.session_counts import NO_DAY, count_batch
from gamekeeper.game.standings import BOARDS, PlayedTime, add_play_time
from gamekeeper.store import activity, boards, clock, presence, rollups
from gamekeeper.store.activity import (
    Cohort,
    CountedSession,
    Hour,
    Minute,
    Period,
    PlayerActivity,
    WaitingSession,
)
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.history import NEVER
from gamekeeper.store.rollups import Checkpoint

SESSIONS, ONLINE, SIGN_INS = "activity", "online", "sign_ins"  # names of the checkpoints
BATCH_SESSIONS = 200  # sessions counted per transaction: some milliseconds, so that requests do not wait long
BATCH_HOURS = 48  # hours made from minutes per transaction
BATCH_SIGN_IN_HOURS = 24  # hours whose sign-ins are counted per transaction
MINUTES_KEPT = 2 * DAY_MINUTES
HOURS_KEPT = 90 * 24
SAVE_REQUESTS_SECONDS = 10.0  # a crash loses the numbers of requests since the last save
# time in ms that a transaction may take from its start to its commit: rows of the last minutes may still come
SETTLE_MS = 10 * MINUTE_MS


async def _has_sessions(tx: Reading, _: int | None) -> bool:
    return await activity.has_waiting(tx) or await activity.has_continuing(tx, await _find_boundary(tx))


async def _count_sessions(tx: Writing, checkpoint: Checkpoint, _: int | None) -> bool:
    boundary = await _find_boundary(tx)
    waiting = await activity.lock_waiting(tx, BATCH_SESSIONS)
    if len(waiting) < BATCH_SESSIONS:
        waiting += await activity.lock_continuing(tx, boundary, BATCH_SESSIONS - len(waiting))
    players = await _read_players(tx, {each.player_id for each in waiting})
    first_minute = (await rollups.find(tx, ONLINE)).position
    counts = count_batch(waiting, players, boundary=boundary, since=checkpoint.position, first_minute=first_minute)
    await _add_to_boards(tx, waiting, counts.sessions)
    activity.save_sessions(tx, counts.sessions)
    activity.save_players(tx, counts.players.values())
    activity.add_minutes(tx, counts.list_minutes())
    activity.add_cohorts(tx, counts.list_cohorts())
    _add_periods(tx, {step: counts.list_periods(step) for step in PERIODS})
    return len(waiting) >= BATCH_SESSIONS


async def _add_to_boards(tx: Writing, sessions: Sequence[WaitingSession], counted: Sequence[CountedSession]) -> None:
    """Add what is new of these sessions to the seasons of boards that rank by play time."""
    if not any(each.ranks == boards.PLAY_TIME for each in await boards.read_open(tx)):
        return
    await rollups.begin(tx, BOARDS)
    await rollups.wait(tx, BOARDS)  # then the seasons are read again: the sweep of one may have moved
    seasons = [each for each in await boards.read_open(tx) if each.ranks == boards.PLAY_TIME]
    played = [
        PlayedTime(each.player_id, each.started_at if each.counted_to is None else each.counted_to, done.counted_to)
        for each, done in zip(sessions, counted, strict=True)
    ]
    await add_play_time(tx, played, seasons)


async def _read_players(tx: Reading, ids: Iterable[str]) -> dict[str, PlayerActivity]:
    """Read the activity of players. A last day in the future is of a clock that was ahead: find the right one."""
    players, now = await activity.read_players(tx, ids), await clock.now(tx)
    for each in [each for each in players.values() if each.last_day > (now + MINUTE_MS) // DAY_MS]:
        last = await activity.find_last_counted(tx, each.player_id)
        players[each.player_id] = each._replace(last_day=NO_DAY if last is None else min(last, now) // DAY_MS)
    return players


async def _find_boundary(tx: Reading) -> int:
    """Return the time up to which open sessions are counted: the last midnight, or end of a season of play time.

    It is long enough ago that all sessions that ended before it are stored.
    """
    settled = await clock.now(tx) - SETTLE_MS
    return max(settled // DAY_MS * DAY_MS, await boards.find_last_end(tx, settled))


async def _has_old_minutes(tx: Reading, proven: int | None) -> bool:
    checkpoint = await rollups.find(tx, ONLINE)
    if proven is None or checkpoint.position + MINUTES_KEPT + HOUR_MINUTES > proven // MINUTE_MS:
        return False
    # a session of an expired lease may have ended days ago: it is counted first
    return not await presence.has_lapsed(tx) and not await activity.has_waiting(tx)


async def _make_hours(tx: Writing, checkpoint: Checkpoint, proven: int | None) -> bool:
    now = (proven or 0) // MINUTE_MS
    last = (now - MINUTES_KEPT) // HOUR_MINUTES
    first = checkpoint.position // HOUR_MINUTES
    end = min(last, first + BATCH_HOURS) * HOUR_MINUTES
    if end <= checkpoint.position or await activity.has_waiting(tx):
        return False
    minutes = await activity.read_minutes(tx, checkpoint.position, end)
    hours, online = sum_hours(minutes, checkpoint, end)
    activity.save_hours(tx, hours)  # those without players too: an hour without a row is not known
    activity.delete_minutes(tx, end)
    activity.delete_hours(tx, now // HOUR_MINUTES - HOURS_KEPT)
    rollups.move(tx, ONLINE, Checkpoint(end, online))
    _add_periods(tx, {step: sum_periods(step, hours) for step in PERIODS})
    return end < last * HOUR_MINUTES


async def _has_hours(tx: Reading, proven: int | None) -> bool:
    checkpoint = await rollups.find(tx, SIGN_INS)
    return proven is not None and (checkpoint.position + 1) * HOUR_MS + SETTLE_MS <= proven


async def _count_sign_ins(tx: Writing, checkpoint: Checkpoint, proven: int | None) -> bool:
    first = checkpoint.position
    last = ((proven or 0) - SETTLE_MS) // HOUR_MS
    end = min(last, first + BATCH_SIGN_IN_HOURS)
    if end <= first:
        return False
    counts = {
        hour: await activity.count_sign_ins(tx, hour * HOUR_MS, (hour + 1) * HOUR_MS) for hour in range(first, end)
    }
    hours = [Hour(hour, sign_ins=number) for hour, number in counts.items() if number]
    rollups.move(tx, SIGN_INS, Checkpoint(end, 0))
    activity.save_sign_ins(tx, {each.hour: each.sign_ins for each in hours})
    _add_periods(tx, {step: sum_periods(step, hours) for step in PERIODS})
    return end < last


def _add_periods(tx: Writing, periods: dict[str, list[Period]]) -> None:
    for step, each in periods.items():
        activity.add_periods(tx, step, each)


async def save_requests(store: Store, requests: int, errors: int, refused: int = 0) -> None:
    """Add the requests of one process to those of the present minute: all, with errors, and refused ones."""

    async def add(tx: Writing) -> None:
        activity.add_requests(tx, requests, errors, refused)

    await store.write(add)


async def backdate(tx: Writing, at: int) -> None:
    """Record sessions since an earlier time, in a database whose sessions are not counted yet."""
    for name, unit in ((SESSIONS, 1), (ONLINE, MINUTE_MS), (SIGN_INS, HOUR_MS)):
        rollups.move(tx, name, Checkpoint(at // unit, 0))


def record_newcomers(tx: Writing, first_days: Mapping[str, int]) -> None:
    """Count players as new on their first day, before their sessions are counted: for players who are not stored."""
    players = [PlayerActivity(player_id, day, day, is_new=True, play_ms=0) for player_id, day in first_days.items()]
    activity.save_players(tx, players)
    activity.add_cohorts(tx, [Cohort(day, number) for day, number in Counter(first_days.values()).items()])
    for step in PERIODS:
        numbers = Counter(find_first_day(step, day) for day in first_days.values())
        activity.add_periods(tx, step, [Period(day, number, number) for day, number in numbers.items()])


ROLLUPS = (
    Rollup(SESSIONS, _has_sessions, _count_sessions),
    Rollup(ONLINE, _has_old_minutes, _make_hours),
    Rollup(SIGN_INS, _has_hours, _count_sign_ins),
)


def sum_hours(minutes: Iterable[Minute], start: Checkpoint, end: int) -> tuple[list[Hour], int]:
    """Sum the minutes from a checkpoint to `end` by hour. Return the hours, and the players online at the end."""
    rows = {each.minute: each for each in minutes}
    online, position, hours = start.value, start.position, list[Hour]()
    while position < end:
        number = position // HOUR_MINUTES
        until = min(end, (number + 1) * HOUR_MINUTES)
        total = requests = errors = most = 0
        least = NEVER
        for minute in range(position, until):
            if row := rows.get(minute):
                online += row.started - row.ended
                requests += row.requests
                errors += row.errors
            total, least, most = total + online, min(least, online), max(most, online)
        hours.append(Hour(number, total, least, most, requests, errors))
        position = until
    return hours, online


def sum_periods(step: str, hours: Iterable[Hour]) -> list[Period]:
    """Sum the online players, requests and sign-ins of hours by day, week or month."""
    sums: dict[int, Counter[str]] = {}
    for hour in hours:
        day = find_first_day(step, hour.hour * HOUR_MS // DAY_MS)
        added = sums.setdefault(day, Counter())
        added.update(online_sum=hour.online_sum, requests=hour.requests, errors=hour.errors, sign_ins=hour.sign_ins)
        added["online_max"] = max(added["online_max"], hour.online_max)
    return [Period(day, **counts) for day, counts in sums.items() if any(counts.values())]
