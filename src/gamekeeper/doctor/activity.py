"""The doctor's check of activity: count play sessions again, and compare the rollups with them and the audit log."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from gamekeeper.doctor.findings import MAX_SHOWN, Check, Examination, Findings
from gamekeeper.game.accounts.changes import UserDeleted
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight.activity import HOURS_KEPT, NO_DAY, RETENTION_DAYS, SessionCounts, sum_hours, sum_periods
from gamekeeper.ground.instants import (
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
from gamekeeper.store.insight import activity, economy
from gamekeeper.store.insight.activity import Checkpoint, Cohort, Period, PlayerActivity
from gamekeeper.store.players import presence
from gamekeeper.store.players.presence import StoredSession

OF_HOURS = ("online_sum", "requests", "errors", "sign_ins")  # numbers of days that are sums over their hours
OF_DAYS = (*OF_HOURS, "play_ms", "new_players")  # numbers of weeks and months that are sums over their days
Dated = TypeVar("Dated", Period, Cohort)


async def check_sums(tx: Reading, found: Findings) -> None:
    hours = await activity.read_hours(tx, 0, NEVER)
    days = await activity.read_periods(tx, "day", 0, NEVER)
    await _check_sign_ins(tx, found, {each.hour: each.sign_ins for each in hours})
    if hours:
        since = (await activity.find_checkpoint(tx, activity.SESSIONS)).position // HOUR_MS
        # a day whose first hours are deleted cannot be added up
        first = hours[0].hour // DAY_HOURS if hours[0].hour <= since else -(-hours[0].hour // DAY_HOURS)
        _compare(
            found, "day", _by_day(days), _by_day(sum_periods("day", hours)), (*OF_HOURS, "online_max"), first, "hours"
        )
    for step in PERIODS[1:]:
        stored = _by_day(await activity.read_periods(tx, step, 0, NEVER))
        _compare(found, step, stored, _sum_days(step, days), (*OF_DAYS, "online_max"), 0, "days")


async def _check_sign_ins(tx: Reading, found: Findings, stored: Mapping[int, int]) -> None:
    """Compare the sign-ins of hours with the events that are kept.

    Events are deleted when they are old, and with an erased account. Before the last erasure an hour may have more
    sign-ins than events, but not less.
    """
    end = (await activity.find_checkpoint(tx, activity.SIGN_INS)).position
    since = (await activity.find_checkpoint(tx, activity.SESSIONS)).position // HOUR_MS
    oldest = await tx.value(activity.SQL.oldest_event)
    if oldest is None:
        return
    trimmed = await ledger.read_trimmed_number(tx)
    kept = await economy.read_changes(tx, trimmed, NEVER, 1) if trimmed else []
    erased = max(await tx.value(ledger.SQL.last_time, UserDeleted.kind) or 0, *(each.at for each in kept), 0)
    first = max(since, oldest // HOUR_MS + 1, min(stored, default=0))
    counted = await tx.pairs(activity.SQL.count_sign_ins_by_hour, first * HOUR_MS, end * HOUR_MS)
    for hour in sorted(each for each in {*stored, *counted} if first <= each < end):
        number, events = stored.get(hour, 0), counted.get(hour, 0)
        if number < events or (number > events and hour > erased // HOUR_MS):
            message = f"The rollup of hour {hour} has {number} sign-ins; the security log has {events}."
            found.error("activity", message, ADVICE)


def _sum_days(step: str, days: Iterable[Period]) -> dict[int, Period]:
    """Add up days by week or month. The most players online are the most of any day, not a sum."""
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    for each in days:
        own = sums[find_first_day(step, each.day)]
        own.update({name: getattr(each, name) for name in OF_DAYS})
        own["online_max"] = max(own["online_max"], each.online_max)
    return {day: Period(day, **own) for day, own in sums.items()}


PAGE = 2_000  # sessions that are in memory at a time
DAY_HOURS = 24
ADVICE = "Numbers over time are wrong there; nothing else depends on them, and nothing counts them again."
PLAYER_ADVICE = "Nothing counts them again; only numbers over time and boards by play time depend on them."
SESSION_ADVICE = "Let the player join the game and leave it."
UNCOUNTED_DAY = 1 << 60  # last day of a player whose row is missing: none of its days is counted as a new one


@dataclass(slots=True)
class Recount:
    """Numbers that are counted again from the sessions, as the rollup counts them."""

    first_day: int  # first day whose sessions are all there
    is_complete: bool  # no session was ever deleted
    today: int
    counts: SessionCounts = field(default_factory=lambda: SessionCounts(0, 0, {}))
    has_future: bool = False  # a clock was ahead: some sessions are in the future
    wrong_players: list[str] = field(default_factory=list[str])

    def count_player(self, sessions: Iterable[StoredSession], known: PlayerActivity | None) -> None:
        counted = [each for each in sessions if each.counted_to is not None]
        if not counted:
            return
        player_id = counted[0].player_id
        if known is None:
            self.counts.players[player_id] = PlayerActivity(player_id, 0, UNCOUNTED_DAY, is_new=False, play_ms=0)
        else:
            self.counts.players[player_id] = known._replace(last_day=NO_DAY, play_ms=0)
        for each in counted:
            # after the end of a session that was cut when it was counted already
            end = each.counted_to or 0
            session = activity.WaitingSession(player_id, each.started_at, end if each.is_counted else None, None, None)
            self.counts.count(session, end)
            if not each.is_counted:
                self.counts.count(session._replace(counted_to=each.started_at), end)
        if known is None:
            self.wrong_players.append(player_id)
            return
        if known.is_new:
            self.counts.count_newcomer(known.first_day)
        self._compare_player(counted[0].started_at // DAY_MS, self.counts.players[player_id], known)

    def _compare_player(self, first_day: int, right: PlayerActivity, known: PlayerActivity) -> None:
        is_right = known.play_ms == right.play_ms if self.is_complete else known.play_ms >= right.play_ms
        if right.last_day > self.today:
            self.has_future = True
        else:
            is_right = is_right and known.last_day == right.last_day
            is_right = is_right and (not self.is_complete or known.first_day == first_day)
        if not is_right:
            self.wrong_players.append(known.player_id)


async def check(it: Examination) -> None:
    tx, found = it.tx, it.found
    for (player_id,) in await tx.all(presence.SQL.disagreeing_sessions, MAX_SHOWN):
        message = f"Player {player_id} is online without an open play session, or the reverse."
        found.error("activity", message, SESSION_ADVICE)
    since, deleted = await activity.find_checkpoint(tx, activity.SESSIONS)
    today = await clock.now(tx) // DAY_MS
    recount = Recount(deleted // DAY_MS + 1 if deleted else since // DAY_MS, is_complete=not deleted, today=today)
    done = 0
    async for sessions in _read_by_player(tx):
        known = await activity.read_players(tx, {each.player_id for each in sessions})
        for player_id, own in groupby(sessions, lambda each: each.player_id):
            recount.count_player(own, known.get(player_id))
        recount.counts.players.clear()
        recount.counts.sessions.clear()
        done += len(sessions)
        it.progress("play sessions", done, done)
    for player_id in recount.wrong_players:
        message = f"Player {player_id}: days or play time differ from its play sessions."
        found.error("activity", message, PLAYER_ADVICE)
    await _compare_periods(tx, found, recount)
    await _compare_online(tx, found, recount, deleted // MINUTE_MS + 1 if deleted else 0)
    await check_sums(tx, found)


async def _read_by_player(tx: Reading) -> AsyncIterator[list[StoredSession]]:
    """Yield the sessions in pages; all sessions of a player are in one page."""
    after, kept = (ZERO_GUID, 0), list[StoredSession]()
    while page := await tx.rows(StoredSession, presence.SQL.sessions_after, *after, PAGE):
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
    absent = ("returned",) if recount.is_complete and not recount.has_future else ()
    names = ("active", "new_players", "play_ms", *absent)
    for step in PERIODS:
        first = find_first_day(step, recount.first_day) if recount.is_complete else recount.first_day
        stored = _by_day(await activity.read_periods(tx, step, 0, NEVER))
        _compare(found, step, stored, _by_day(recount.counts.list_periods(step)), names, first)
    cohorts = _by_day(await tx.rows(Cohort, activity.SQL.cohorts, 0, NEVER))
    counted = _by_day(recount.counts.list_cohorts())
    _compare(found, "new players of", cohorts, counted, ("players", *RETENTION_DAYS.values()), recount.first_day)


async def _compare_online(tx: Reading, found: Findings, recount: Recount, first: int) -> None:
    """Compare minutes and hours. Sessions that ended before the minute `first` may be deleted."""
    position, base = await activity.find_checkpoint(tx, activity.ONLINE)
    counted = recount.counts.list_minutes()
    online = sum(each.started - each.ended for each in counted if each.minute < position)
    if position >= first and base != online:  # else a deleted session may have lasted into the kept minutes
        where = f"players online has {base} for before the kept minutes; its sessions give {online}"
        found.error("activity", f"The rollup of {where}.", ADVICE)
    minutes = {each.minute: each for each in await activity.read_minutes(tx, position, NEVER)}
    right = {each.minute: each for each in counted}
    _compare(found, "minute", minutes, right, ("started", "ended"), max(position, first))
    end = position // HOUR_MINUTES
    start = min(recount.counts.started, default=position)
    hours = {each.hour: each for each in sum_hours(counted, Checkpoint(start, 0), end * HOUR_MINUTES)[0]}
    stored = {each.hour: each for each in await activity.read_hours(tx, 0, NEVER) if each.hour in hours}
    earliest = max(recount.first_day * DAY_HOURS, end - HOURS_KEPT + 1)
    _compare(found, "hour", stored, hours, ("online_sum", "online_max"), earliest)


def _by_day(rows: Iterable[Dated]) -> dict[int, Dated]:
    return {each.day: each for each in rows}


def _compare(
    found: Findings,
    what: str,
    stored: Mapping[int, object],
    counted: Mapping[int, object],
    names: Sequence[str],
    first: int,
    parts: str = "sessions",
) -> None:
    """Compare numbers by minute, hour or day from the first one on. A number without a row is zero."""
    for key in sorted(each for each in {*stored, *counted} if each >= first):
        where = f"{what} {key if what in {'minute', 'hour'} else format_day(key)}"
        for name in names:
            kept, right = (getattr(rows[key], name) if key in rows else 0 for rows in (stored, counted))
            if kept != right:
                message = f"The rollup of {where} has {kept} for {name}; its {parts} give {right}."
                found.error("activity", message, ADVICE)


CHECKS = (Check(90, ("activity",), check),)
