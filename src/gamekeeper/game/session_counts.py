"""Count play sessions: how a batch of them changes the rollups. Without I/O."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gamekeeper.game.calendar_steps import DAY_MS, MINUTE_MS, PERIODS, find_first_day
from gamekeeper.store.activity import Cohort, CountedSession, Minute, Period, PlayerActivity, WaitingSession

# a player returns on a day if it was not online in the 7 days before; in a week or month: not in the one before
ABSENCE_DAYS = 7
NO_DAY = -1  # last day of a player all of whose earlier sessions are in the future
RETENTION_DAYS = {1: "day1", 7: "day7", 30: "day30"}


@dataclass(slots=True)
class SessionCounts:
    """What a batch of sessions adds to the rollups."""

    since: int  # sessions are recorded since this time: players who were created earlier are not new
    first_minute: int  # first minute that is not in the hours yet
    players: dict[str, PlayerActivity]  # players of the batch that are known already; then all players of the batch
    started: Counter[int] = field(default_factory=Counter[int])  # minute → sessions
    ended: Counter[int] = field(default_factory=Counter[int])
    # (step, first day) → field of Period → number
    periods: dict[tuple[str, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    cohorts: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sessions: list[CountedSession] = field(default_factory=list[CountedSession])

    def count(self, session: WaitingSession, boundary: int) -> None:
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
            CountedSession(session.player_id, session.started_at, end, is_counted=session.ended_at is not None)
        )

    def list_minutes(self) -> list[Minute]:
        return [Minute(each, self.started[each], self.ended[each]) for each in sorted({*self.started, *self.ended})]

    def list_periods(self, step: str) -> list[Period]:
        return [Period(day, **counts) for (its, day), counts in sorted(self.periods.items()) if its == step]

    def list_cohorts(self) -> list[Cohort]:
        return [Cohort(day, **counts) for day, counts in sorted(self.cohorts.items())]

    def _count_day(self, session: WaitingSession, day: int) -> None:
        """Count a day on which a player was online, if it is the player's first session on it."""
        known = self.players.get(session.player_id)
        if known is None:
            # an unknown age: the player was deleted or erased before its first session was counted
            is_new = session.created_at is not None and session.created_at >= self.since
            self.players[session.player_id] = PlayerActivity(session.player_id, day, day, is_new, 0)
            for step in PERIODS:
                self._add(step, day, "active")
                self._add(step, day, "new_players", int(is_new))
            if is_new:
                self.cohorts[day]["players"] += 1
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


def count_batch(
    sessions: Iterable[WaitingSession],
    players: Mapping[str, PlayerActivity],
    *,
    boundary: int,
    since: int,
    first_minute: int,
) -> SessionCounts:
    """Count a batch of sessions; those of one player are in the order of their starts."""
    counts = SessionCounts(since, first_minute, dict(players))
    for session in sessions:
        counts.count(session, boundary)
    return counts
