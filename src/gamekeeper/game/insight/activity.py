"""Activity over time: rollups of play sessions and sign-ins, and the series that are read from them.

A rollup is numbers over time that a background job counts from rows, in steps. Each step is one transaction of bounded
size. It locks the rollup's checkpoint, adds to the numbers, and marks what it has counted. So a step that is killed has
counted nothing, a repeated one counts nothing twice, and only one instance at a time runs the steps of a rollup.

Minutes have the numbers of sessions that started and ended; the number of players online follows from them. After two
days minutes are added to hours, days, weeks and months, and deleted.
"""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field

from gamekeeper.game.audit.retention import AuditKeeper
from gamekeeper.game.core.background_jobs import Job, repeat
from gamekeeper.game.core.change import unlogged
from gamekeeper.game.insight.standings import BOARDS, PlayedTime, add_play_time
from gamekeeper.ground.instants import (
    DAY_MINUTES,
    DAY_MS,
    HOUR_MINUTES,
    HOUR_MS,
    MINUTE_MS,
    PERIODS,
    find_first_day,
    format_day,
)
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.engine.statements import as_table
from gamekeeper.store.insight import activity, boards
from gamekeeper.store.insight.activity import Checkpoint, Cohort, Hour, Minute, Period, PlayerActivity
from gamekeeper.store.players import presence
from gamekeeper.store.players.presence import SessionOfPlayer

# a player returns on a day if it was not online in the 7 days before; in a week or month: not in the one before
ABSENCE_DAYS = 7
NO_DAY = -1  # last day of a player all of whose earlier sessions are in the future
RETENTION_DAYS = {1: "day1", 7: "day7", 30: "day30"}


class SessionCounts(Struct):
    """What a batch of sessions adds to the rollups.

    The sessions of a player are counted in order, so a day is new for the player if it is after its last counted day.
    One row per player is therefore enough to count each player once per day, week and month.
    """

    since: int  # sessions are recorded since this time: players who were created earlier are not new
    first_minute: int  # first minute that is not in the hours yet
    players: dict[str, PlayerActivity]  # players of the batch that are known already; then all players of the batch
    started: Counter[int] = field(default_factory=Counter[int])  # minute → sessions
    ended: Counter[int] = field(default_factory=Counter[int])
    # (step, first day) → field of Period → number
    periods: dict[tuple[str, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    cohorts: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sessions: list[activity.CountedSession] = field(default_factory=list[activity.CountedSession])

    def count(self, session: activity.WaitingSession, boundary: int) -> None:
        """Count what is new of a session. An open one that was counted before is counted up to the boundary."""
        is_first = session.counted_to is None
        start = session.started_at if session.counted_to is None else session.counted_to
        if is_first:
            self.started[max(session.started_at // MINUTE_MS, self.first_minute)] += 1
        if session.ended_at is not None:
            end = max(start, session.ended_at)
            self.ended[max(end // MINUTE_MS, self.first_minute)] += 1
            last_day = max(start, end - 1) // DAY_MS
        else:
            end = start if is_first else max(start, boundary)
            last_day = end // DAY_MS
        for day in range(start // DAY_MS, last_day + 1):
            self._count_day(session, day)
            played = min(end, (day + 1) * DAY_MS) - max(start, day * DAY_MS)
            for step in PERIODS:
                self._add(step, day, "play_ms", played)
        known = self.players[session.player_id]
        self.players[session.player_id] = known._replace(play_ms=known.play_ms + end - start)
        self.sessions.append(
            activity.CountedSession(session.player_id, session.started_at, end, is_counted=session.ended_at is not None)
        )

    def count_newcomer(self, day: int) -> None:
        """Count a new player on its first day."""
        self.cohorts[day]["players"] += 1
        for step in PERIODS:
            self._add(step, day, "new_players")

    def list_minutes(self) -> list[Minute]:
        return [Minute(each, self.started[each], self.ended[each]) for each in sorted({*self.started, *self.ended})]

    def list_periods(self, step: str) -> list[Period]:
        return [Period(day, **counts) for (its, day), counts in sorted(self.periods.items()) if its == step]

    def list_cohorts(self) -> list[Cohort]:
        return [Cohort(day, **counts) for day, counts in sorted(self.cohorts.items())]

    def _count_day(self, session: activity.WaitingSession, day: int) -> None:
        """Count a day on which a player was online, if it is the player's first session on it."""
        known = self.players.get(session.player_id)
        if known is None:
            # an unknown age: the player was deleted or erased before its first session was counted
            is_new = session.created_at is not None and session.created_at >= self.since
            self.players[session.player_id] = PlayerActivity(session.player_id, day, day, is_new, 0)
            for step in PERIODS:
                self._add(step, day, "active")
            if is_new:
                self.count_newcomer(day)
            return
        if day <= known.last_day:
            return
        for step in PERIODS:
            if find_first_day(step, day) > find_first_day(step, known.last_day):
                self._add(step, day, "active")
                self._add(step, day, "returned", int(_has_returned(step, known.last_day, day)))
        if known.is_new and day - known.first_day in RETENTION_DAYS:
            self.cohorts[known.first_day][RETENTION_DAYS[day - known.first_day]] += 1
        self.players[session.player_id] = known._replace(last_day=day)

    def _add(self, step: str, day: int, name: str, number: int = 1) -> None:
        self.periods[step, find_first_day(step, day)][name] += number


def _has_returned(step: str, last_day: int, day: int) -> bool:
    if last_day == NO_DAY:
        return False
    if step == "day":
        return day - last_day > ABSENCE_DAYS
    return last_day < find_first_day(step, find_first_day(step, day) - 1)


ROLLUP_SECONDS = 10.0
# pause after a step, as a multiple of its duration: the rollups use at most a quarter of the time
ROLLUP_REST_FACTOR = 3


class Rollup(NamedTuple):
    name: str  # of its checkpoint
    # whether there is something to count; a cheap read. The number is the proven time, or None
    is_due: Callable[[Reading, int | None], Awaitable[bool]]
    # counts a batch, and returns whether it was full: then there may be more
    step: Callable[[Writing, Checkpoint, int | None], Awaitable[bool]]


async def run_rollups(
    store: Store, every: Sequence[Rollup], proven: int | None, *, rest_factor: float = ROLLUP_REST_FACTOR
) -> None:
    """Run the steps of all rollups until a batch is not full, or another instance is at work.

    `proven` is the time of the process's `ProvenClock`: a rollup that closes hours for good counts only up to it.
    """

    async def step(rollup: Rollup) -> bool:
        async def work(tx: Writing) -> bool:
            checkpoint = await activity.lock_checkpoint(tx, rollup.name)
            return checkpoint is not None and await rollup.step(tx, checkpoint, proven)

        return await rollup.is_due(store, proven) and await store.write(work)

    for each in every:
        await repeat(partial(step, each), rest_factor)


BATCH_SESSIONS = 200  # sessions counted per transaction: some milliseconds, so that requests do not wait long
BATCH_HOURS = 48  # hours made from minutes per transaction
BATCH_SIGN_IN_HOURS = 24  # hours whose sign-ins are counted per transaction
MINUTES_KEPT = 2 * DAY_MINUTES
HOURS_KEPT = 90 * 24
SAVE_REQUESTS_SECONDS = 10.0  # a crash loses the numbers of requests since the last save
# time in ms that a transaction may take from its start to its commit: rows of the last minutes may still come
SETTLE_MS = 10 * MINUTE_MS


async def _has_sessions(tx: Reading, _: int | None) -> bool:
    if await activity.has_waiting(tx):
        return True
    return await tx.one(activity.SQL.has_continuing, await _find_boundary(tx)) is not None


async def _count_sessions(tx: Writing, checkpoint: Checkpoint, _: int | None) -> bool:
    boundary = await _find_boundary(tx)
    # Each session has a mark of what is counted: a position in the table would miss sessions that are committed late.
    found = [*await tx.returning(activity.SQL.waiting, BATCH_SESSIONS)]
    if len(found) < BATCH_SESSIONS:  # open sessions whose time is counted up to a moment before the boundary
        found += await tx.returning(activity.SQL.continuing, boundary, BATCH_SESSIONS - len(found))
    waiting = [activity.WaitingSession(*row) for row in found]
    players = await _read_players(tx, {each.player_id for each in waiting})
    first_minute = (await activity.find_checkpoint(tx, activity.ONLINE)).position
    counts = SessionCounts(checkpoint.position, first_minute, players)
    for each in waiting:  # those of one player are in the order of their starts
        counts.count(each, boundary)
    await _add_to_boards(tx, waiting, counts.sessions)
    tx.defer(activity.SQL.save_sessions, as_table(counts.sessions))
    tx.defer(activity.SQL.save_players, as_table(counts.players.values()))
    tx.defer(activity.SQL.add_minutes, as_table(counts.list_minutes()))
    tx.defer(activity.SQL.add_cohorts, as_table(counts.list_cohorts()))
    _add_periods(tx, {step: counts.list_periods(step) for step in PERIODS})
    return len(waiting) >= BATCH_SESSIONS


async def _add_to_boards(
    tx: Writing, sessions: Sequence[activity.WaitingSession], counted: Sequence[activity.CountedSession]
) -> None:
    """Add what is new of these sessions to the seasons of boards that rank by play time."""
    if not any(each.ranks == boards.PLAY_TIME for each in await boards.read_open(tx)):
        return
    await tx.returning(activity.SQL.begin, BOARDS)
    await activity.wait_for_checkpoint(tx, BOARDS)  # then the seasons are read again: the sweep of one may have moved
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
        last = await tx.value(activity.SQL.last_counted, each.player_id)  # of sessions that did not start in the future
        players[each.player_id] = each._replace(last_day=NO_DAY if last is None else min(last, now) // DAY_MS)
    return players


async def _find_boundary(tx: Reading) -> int:
    """Return the time up to which open sessions are counted: the last midnight, or end of a season of play time.

    It is long enough ago that all sessions that ended before it are stored.
    """
    settled = await clock.now(tx) - SETTLE_MS
    return max(settled // DAY_MS * DAY_MS, await tx.value(boards.SQL.last_end, settled) or 0)


async def _has_old_minutes(tx: Reading, proven: int | None) -> bool:
    checkpoint = await activity.find_checkpoint(tx, activity.ONLINE)
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
    # save hours without players too: an hour that has no row counts as unknown
    tx.defer(activity.SQL.save_hours, as_table(hours))
    tx.defer(activity.SQL.delete_minutes, end)
    tx.defer(activity.SQL.delete_hours, now // HOUR_MINUTES - HOURS_KEPT)
    activity.move_checkpoint(tx, activity.ONLINE, Checkpoint(end, online))
    _add_periods(tx, {step: sum_periods(step, hours) for step in PERIODS})
    return end < last * HOUR_MINUTES


async def _has_hours(tx: Reading, proven: int | None) -> bool:
    checkpoint = await activity.find_checkpoint(tx, activity.SIGN_INS)
    return proven is not None and (checkpoint.position + 1) * HOUR_MS + SETTLE_MS <= proven


async def _count_sign_ins(tx: Writing, checkpoint: Checkpoint, proven: int | None) -> bool:
    first = checkpoint.position
    last = ((proven or 0) - SETTLE_MS) // HOUR_MS
    end = min(last, first + BATCH_SIGN_IN_HOURS)
    if end <= first:
        return False
    counts: dict[int, int] = {
        hour: await tx.value(activity.SQL.count_sign_ins, hour * HOUR_MS, (hour + 1) * HOUR_MS) or 0
        for hour in range(first, end)
    }
    hours = [Hour(hour, sign_ins=number) for hour, number in counts.items() if number]
    activity.move_checkpoint(tx, activity.SIGN_INS, Checkpoint(end, 0))
    tx.defer(activity.SQL.save_sign_ins, as_table(hours))
    _add_periods(tx, {step: sum_periods(step, hours) for step in PERIODS})
    return end < last


def _add_periods(tx: Writing, periods: dict[str, list[Period]]) -> None:
    for step, each in periods.items():
        tx.defer(activity.SQL.add_periods, as_table({"step": step} | period._asdict() for period in each))


async def save_requests(store: Store, requests: int, errors: int, refused: int = 0) -> None:
    """Add the requests of one process to those of the present minute: all, with errors, and refused ones."""

    async def add(tx: Writing) -> None:
        tx.defer(activity.SQL.add_requests, requests, errors, refused)

    await store.write(add)


async def backdate(tx: Writing, at: int) -> None:
    """Record sessions since an earlier time, in a database whose sessions are not counted yet."""
    for name, unit in ((activity.SESSIONS, 1), (activity.ONLINE, MINUTE_MS), (activity.SIGN_INS, HOUR_MS)):
        activity.move_checkpoint(tx, name, Checkpoint(at // unit, 0))


def record_newcomers(tx: Writing, first_days: Mapping[str, int]) -> None:
    """Count players as new on their first day, before their sessions are counted: for players who are not stored."""
    players = [PlayerActivity(player_id, day, day, is_new=True, play_ms=0) for player_id, day in first_days.items()]
    tx.defer(activity.SQL.save_players, as_table(players))
    cohorts = [Cohort(day, number) for day, number in Counter(first_days.values()).items()]
    tx.defer(activity.SQL.add_cohorts, as_table(cohorts))
    for step in PERIODS:
        numbers = Counter(find_first_day(step, day) for day in first_days.values())
        _add_periods(tx, {step: [Period(day, number, number) for day, number in numbers.items()]})


ROLLUPS = (
    Rollup(activity.SESSIONS, _has_sessions, _count_sessions),
    Rollup(activity.ONLINE, _has_old_minutes, _make_hours),
    Rollup(activity.SIGN_INS, _has_hours, _count_sign_ins),
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


@unlogged
async def load_sessions(tx: Writing, sessions: Sequence[SessionOfPlayer], since: int) -> None:
    """Store earlier play sessions, recorded since `since`, if none is counted yet."""
    presence.load_sessions(tx, sessions)
    await backdate(tx, since)


async def _roll_up(keeper: AuditKeeper) -> None:
    await run_rollups(keeper.store, ROLLUPS, await keeper.clock.find_time())


JOBS = (Job[AuditKeeper]("rollups", ROLLUP_SECONDS, lambda keeper: partial(_roll_up, keeper)),)


PERSON = (
    PersonRows(
        *(350, "play_time", activity.SQL.of_person),
        of_players=True,
        booleans=("is_new",),
        amend=lambda row: {name: format_day(row[name]) for name in ("first_day", "last_day")},
    ),
)
