"""The doctor's check of activity: count play sessions again, and compare the rollups with them and the audit log."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from gamekeeper.doctor.findings import ERROR, MAX_SHOWN, Findings, Progress
from gamekeeper.game.accounts.account_changes import UserDeleted
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight.activity import HOURS_KEPT, ONLINE, SESSIONS, SIGN_INS
from gamekeeper.game.insight.calendar import (
    DAY_MS,
    HOUR_MINUTES,
    HOUR_MS,
    MINUTE_MS,
    PERIODS,
    find_first_day,
    format_day,
)
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight import activity, economy, rollups
from gamekeeper.store.insight.activity import Hour, Period, PlayerActivity
from gamekeeper.store.players import presence
from gamekeeper.store.players.presence import StoredSession

OF_HOURS = ("online_sum", "requests", "errors", "sign_ins")  # numbers of days that are sums over their hours
OF_DAYS = (*OF_HOURS, "play_ms", "new_players")  # numbers of weeks and months that are sums over their days
Row = TypeVar("Row", Hour, Period)


async def check_sums(tx: Reading, found: Findings) -> None:
    hours = await activity.read_hours(tx, 0, NEVER)
    days = await activity.read_periods(tx, "day", 0, NEVER)
    await _check_sign_ins(tx, found, {each.hour: each.sign_ins for each in hours})
    if hours:
        since = (await rollups.find(tx, SESSIONS)).position // HOUR_MS
        # a day whose first hours are deleted cannot be added up
        first = hours[0].hour // DAY_HOURS if hours[0].hour <= since else -(-hours[0].hour // DAY_HOURS)
        stored = [each for each in days if each.day >= first]
        _compare_sums(found, "day", stored, _sum(hours, OF_HOURS, lambda each: each.hour // DAY_HOURS), OF_HOURS, first)
    for step in PERIODS[1:]:
        sums = _sum(days, OF_DAYS, lambda each, step=step: find_first_day(step, each.day))
        _compare_sums(found, step, await activity.read_periods(tx, step, 0, NEVER), sums, OF_DAYS, 0)


async def _check_sign_ins(tx: Reading, found: Findings, stored: Mapping[int, int]) -> None:
    """Compare the sign-ins of hours with the events that are kept.

    Events are deleted when they are old, and with an erased account. Before the last erasure an hour may have more
    sign-ins than events, but not less.
    """
    end = (await rollups.find(tx, SIGN_INS)).position
    since = (await rollups.find(tx, SESSIONS)).position // HOUR_MS
    oldest = await activity.find_oldest_event(tx)
    if oldest is None:
        return
    trimmed = await ledger.read_trimmed_number(tx)
    kept = await economy.read_changes(tx, trimmed, NEVER, 1) if trimmed else []
    erased = max(await ledger.find_last_time(tx, UserDeleted.kind), *(each.at for each in kept), 0)
    first = max(since, oldest // HOUR_MS + 1, min(stored, default=0))
    counted = await activity.count_sign_ins_by_hour(tx, first * HOUR_MS, end * HOUR_MS)
    for hour in sorted(each for each in {*stored, *counted} if first <= each < end):
        number, events = stored.get(hour, 0), counted.get(hour, 0)
        if number < events or (number > events and hour > erased // HOUR_MS):
            message = f"The rollup of hour {hour} has {number} sign-ins; the security log has {events}."
            found.add(ERROR, "activity", f"{message} {ADVICE}")


def _sum(rows: Iterable[Row], names: Sequence[str], find_day: Callable[[Row], int]) -> dict[int, Counter[str]]:
    """Add up the numbers of shorter steps by the first day of a longer one.

    The most players online are the most of any shorter step, not a sum.
    """
    sums: dict[int, Counter[str]] = {}
    for row in rows:
        own, numbers = sums.setdefault(find_day(row), Counter()), row._asdict()
        own.update({name: numbers[name] for name in names})
        own["online_max"] = max(own["online_max"], row.online_max)
    return sums


def _compare_sums(
    found: Findings,
    step: str,
    stored: Iterable[Period],
    sums: Mapping[int, Counter[str]],
    names: Sequence[str],
    first: int,
) -> None:
    rows = {each.day: each._asdict() for each in stored}
    for day in sorted(each for each in {*rows, *sums} if each >= first):
        for name in (*names, "online_max"):
            kept, counted = rows.get(day, {}).get(name, 0), sums.get(day, Counter[str]())[name]
            if kept != counted:
                message = f"The rollup of {step} {format_day(day)} has {kept} for {name}"
                parts = "hours" if step == "day" else "days"
                found.add(ERROR, "activity", f"{message}; its {parts} give {counted}. {ADVICE}")


PAGE = 2_000  # sessions that are in memory at a time
DAY_HOURS = 24
ABSENCE_DAYS = 7
ADVICE = "Numbers over time are wrong there; nothing else depends on them, and nothing counts them again."
PLAYER_ADVICE = "Nothing counts them again; only numbers over time and boards by play time depend on them."
SESSION_ADVICE = "Let the player join the game and leave it."


@dataclass(slots=True)
class Recount:
    """Numbers that were counted again from the sessions."""

    first_day: int  # first day whose sessions are all there
    is_complete: bool  # no session was ever deleted
    today: int
    has_future: bool = False  # a clock was ahead: some sessions are in the future
    # (step, first day, name of the number) → number
    periods: Counter[tuple[str, int, str]] = field(default_factory=Counter[tuple[str, int, str]])
    cohorts: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    started: Counter[int] = field(default_factory=Counter[int])  # by minute
    ended: Counter[int] = field(default_factory=Counter[int])
    wrong_players: list[str] = field(default_factory=list[str])

    def count_player(self, sessions: list[StoredSession], known: PlayerActivity | None) -> None:
        days, played = set[int](), 0
        for each in sessions:
            end = each.counted_to  # after the end of a session that was cut when it was counted already
            if end is None:
                continue  # not counted yet
            self.started[each.started_at // MINUTE_MS] += 1
            if each.is_counted:
                self.ended[end // MINUTE_MS] += 1
            last = max(each.started_at, end - 1 if each.is_counted else end)
            days.update(range(each.started_at // DAY_MS, last // DAY_MS + 1))
            played += end - each.started_at
            for day in range(each.started_at // DAY_MS, last // DAY_MS + 1):
                inside = min(end, (day + 1) * DAY_MS) - max(each.started_at, day * DAY_MS)
                for step in PERIODS:
                    self.periods[step, find_first_day(step, day), "play_ms"] += inside
        if days and known is not None:
            self._count_days(sorted(days), known)
            self._compare_player(days, played, known)
        elif days:
            self.wrong_players.append(sessions[0].player_id)

    def _count_days(self, days: list[int], known: PlayerActivity) -> None:
        for step in PERIODS:
            starts = sorted({find_first_day(step, day) for day in days})
            for start in starts:
                self.periods[step, start, "active"] += 1
                earlier = [day for day in days if day < start]
                if earlier and not _is_recent(step, earlier[-1], start):
                    self.periods[step, start, "returned"] += 1
            if known.is_new:
                self.periods[step, find_first_day(step, known.first_day), "new_players"] += 1
        if known.is_new:
            self.cohorts[known.first_day, "players"] += 1
            for gap in (1, 7, 30):
                self.cohorts[known.first_day, f"day{gap}"] += known.first_day + gap in days

    def _compare_player(self, days: Iterable[int], played: int, known: PlayerActivity) -> None:
        right = known.play_ms == played if self.is_complete else known.play_ms >= played
        if max(days) > self.today:
            self.has_future = True
        else:
            right = right and known.last_day == max(days)
            right = right and (not self.is_complete or known.first_day == min(days))
        if not right:
            self.wrong_players.append(known.player_id)


def _is_recent(step: str, last_day: int, start: int) -> bool:
    """Return whether the last day before a period is near enough that the player does not count as returning."""
    if step == "day":
        return start - last_day <= ABSENCE_DAYS
    return last_day >= find_first_day(step, start - 1)


async def check(tx: Reading, found: Findings, progress: Progress) -> None:
    for player_id in await presence.find_disagreeing_sessions(tx, MAX_SHOWN):
        found.add(
            ERROR,
            "activity",
            f"Player {player_id} is online without an open play session, or the reverse. {SESSION_ADVICE}",
        )
    since, deleted = await rollups.find(tx, SESSIONS)
    today = await clock.now(tx) // DAY_MS
    recount = Recount(deleted // DAY_MS + 1 if deleted else since // DAY_MS, is_complete=not deleted, today=today)
    done = 0
    async for sessions in _read_by_player(tx):
        known = await activity.read_players(tx, {each.player_id for each in sessions})
        for player_id, own in groupby(sessions, lambda each: each.player_id):
            recount.count_player(list(own), known.get(player_id))
        done += len(sessions)
        progress("play sessions", done, done)
    for player_id in recount.wrong_players:
        found.add(
            ERROR, "activity", f"Player {player_id}: days or play time differ from its play sessions. {PLAYER_ADVICE}"
        )
    await _compare_periods(tx, found, recount)
    await _compare_online(tx, found, recount, deleted // MINUTE_MS + 1 if deleted else 0)
    await check_sums(tx, found)


async def _read_by_player(tx: Reading) -> AsyncIterator[list[StoredSession]]:
    """Yield the sessions in pages; all sessions of a player are in one page."""
    after, kept = (ZERO_GUID, 0), list[StoredSession]()
    while page := await presence.read_sessions_after(tx, *after, PAGE):
        after = page[-1].player_id, page[-1].started_at
        kept += page
        last = kept[-1].player_id
        if whole := [each for each in kept if each.player_id != last]:
            yield whole
            kept = [each for each in kept if each.player_id == last]
    if kept:
        yield kept


async def _compare_periods(tx: Reading, found: Findings, recount: Recount) -> None:
    # players who were absent are known only while all sessions are there
    names = (
        "active",
        "new_players",
        "play_ms",
        *(("returned",) if recount.is_complete and not recount.has_future else ()),
    )
    for step in PERIODS:
        stored = {each.day: each._asdict() for each in await activity.read_periods(tx, step, 0, NEVER)}
        days = {*stored, *(day for its, day, _ in recount.periods if its == step)}
        first = find_first_day(step, recount.first_day) if recount.is_complete else recount.first_day
        for day in sorted(each for each in days if each >= first):
            for name in names:
                _compare(
                    found, f"{step} {format_day(day)}", name, stored.get(day, {}), recount.periods[step, day, name]
                )
    stored = {each.day: each._asdict() for each in await activity.read_cohorts(tx, 0, NEVER)}
    for day in sorted({*stored, *(day for day, _ in recount.cohorts)}):
        if day >= recount.first_day:
            for name in ("players", "day1", "day7", "day30"):
                _compare(
                    found, f"new players of {format_day(day)}", name, stored.get(day, {}), recount.cohorts[day, name]
                )


async def _compare_online(tx: Reading, found: Findings, recount: Recount, first: int) -> None:
    """Compare minutes and hours. Sessions that ended before the minute `first` may be deleted."""
    position, base = await rollups.find(tx, ONLINE)
    counted = sum(number for minute, number in recount.started.items() if minute < position)
    counted -= sum(number for minute, number in recount.ended.items() if minute < position)
    if position >= first:  # else a deleted session may have lasted into the kept minutes
        _compare(found, "players online", "before the kept minutes", {"before the kept minutes": base}, counted)
    minutes = {each.minute: each for each in await activity.read_minutes(tx, position, NEVER)}
    for minute in sorted({*minutes, *recount.started, *recount.ended}):
        if minute >= max(position, first):
            row = minutes[minute]._asdict() if minute in minutes else {}
            _compare(found, f"minute {minute}", "started", row, recount.started[minute])
            _compare(found, f"minute {minute}", "ended", row, recount.ended[minute])
    stored = {each.hour: each._asdict() for each in await activity.read_hours(tx, 0, NEVER)}
    hours = _count_hours(recount, position // HOUR_MINUTES)
    for hour, numbers in hours.items():
        if hour >= recount.first_day * DAY_HOURS and hour > position // HOUR_MINUTES - HOURS_KEPT:
            for name, number in numbers.items():
                _compare(found, f"hour {hour}", name, stored.get(hour, {}), number)


def _count_hours(recount: Recount, end: int) -> dict[int, dict[str, int]]:
    """Count the players online at the end of each minute, from the first session to the hour `end`."""
    first = min(recount.started, default=end * HOUR_MINUTES)
    online, hours = 0, dict[int, dict[str, int]]()
    for hour in range(first // HOUR_MINUTES, end):
        numbers: list[int] = []
        for minute in range(hour * HOUR_MINUTES, (hour + 1) * HOUR_MINUTES):
            online += recount.started[minute] - recount.ended[minute]
            if minute >= first:
                numbers.append(online)
        hours[hour] = {"online_sum": sum(numbers), "online_max": max(numbers)}
    return hours


def _compare(found: Findings, what: str, name: str, stored: Mapping[str, object], counted: int) -> None:
    kept = stored.get(name, 0)
    if kept != counted:
        found.add(
            ERROR, "activity", f"The rollup of {what} has {kept} for {name}; its sessions give {counted}. {ADVICE}"
        )
