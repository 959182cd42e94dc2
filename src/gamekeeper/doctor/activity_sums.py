"""The doctor's check of hours, days, weeks and months against each other, and of sign-ins against the security log."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from gamekeeper.doctor.findings import ERROR, Findings
from gamekeeper.game.account_effects import UserDeleted
from gamekeeper.game.activity import SESSIONS, SIGN_INS
from gamekeeper.game.calendar_steps import HOUR_MS, PERIODS, find_first_day, format_day
from gamekeeper.store import activity, economy, ledger, rollups
from gamekeeper.store.activity import Hour, Period
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER

DAY_HOURS = 24
ADVICE = "Numbers over time are wrong there; nothing else depends on them, and nothing counts them again."
OF_HOURS = ("online_sum", "requests", "errors", "sign_ins")  # numbers of days that are sums over their hours
OF_DAYS = (*OF_HOURS, "play_ms", "new_players")  # numbers of weeks and months that are sums over their days
Row = TypeVar("Row", Hour, Period)


async def check(tx: Reading, found: Findings) -> None:
    hours = await activity.read_hours(tx, 0, NEVER)
    days = await activity.read_periods(tx, "day", 0, NEVER)
    await _check_sign_ins(tx, found, {each.hour: each.sign_ins for each in hours})
    if hours:
        since = (await rollups.find(tx, SESSIONS)).position // HOUR_MS
        # a day whose first hours are deleted cannot be added up
        first = hours[0].hour // DAY_HOURS if hours[0].hour <= since else -(-hours[0].hour // DAY_HOURS)
        stored = [each for each in days if each.day >= first]
        _compare(found, "day", stored, _sum(hours, OF_HOURS, lambda each: each.hour // DAY_HOURS), OF_HOURS, first)
    for step in PERIODS[1:]:
        sums = _sum(days, OF_DAYS, lambda each, step=step: find_first_day(step, each.day))
        _compare(found, step, await activity.read_periods(tx, step, 0, NEVER), sums, OF_DAYS, 0)


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


def _compare(
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
