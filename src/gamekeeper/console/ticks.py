"""Ticks of a chart's axes: round numbers from zero upwards, and round times in UTC with short labels."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gamekeeper.console.formats import format_rounded
from gamekeeper.console.texts import PerLanguage, gettext

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
MONDAY_MS = 4 * DAY_MS  # the first Monday after 1 January 1970, which was a Thursday
MOST_VALUES = 5  # ticks of the axis of values, with zero
MOST_TIMES = 7  # ticks of the axis of times: their labels fit side by side on a phone
MULTIPLES = (1, 2, 5)  # of a power of ten
CLOCK_STEPS = (
    *(minutes * MINUTE_MS for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * HOUR_MS for hours in (1, 2, 3, 6, 12)),
)
DAY_STEPS = tuple(days * DAY_MS for days in (1, 2, 7, 14))
MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120)  # in months
MONTHS = PerLanguage(
    lambda: (
        *(gettext("Jan"), gettext("Feb"), gettext("Mar"), gettext("Apr"), gettext("May"), gettext("Jun")),
        *(gettext("Jul"), gettext("Aug"), gettext("Sep"), gettext("Oct"), gettext("Nov"), gettext("Dec")),
    )
)
THOUSAND, MILLION, BILLION = 10**3, 10**6, 10**9


class TimeTick(NamedTuple):
    at: int  # milliseconds since 1970
    label: str


def choose_values(maximum: float, most: int = MOST_VALUES) -> list[float]:
    """Choose round values from zero to at least the maximum. Steps are whole numbers, because players are counted."""
    step = _choose_step(max(maximum, 1) / (most - 1))
    return [step * number for number in range(math.ceil(max(maximum, 1) / step) + 1)]


def _choose_step(least: float) -> float:
    power = 10 ** math.floor(math.log10(least))
    step = next((power * each for each in MULTIPLES if power * each >= least * (1 - 1e-9)), power * 10)
    return max(step, 1)


def choose_times(start: int, end: int, most: int = MOST_TIMES) -> list[TimeTick]:
    """Choose round times between start and end, in milliseconds. Labels are times of the day, days or months."""
    for step in CLOCK_STEPS:
        found = range(_round_up(start, step, 0), end + 1, step)
        if len(found) <= most:
            return [TimeTick(each, label_day(each) if each % DAY_MS == 0 else label_clock(each)) for each in found]
    for step in DAY_STEPS:
        found = range(_round_up(start, step, MONDAY_MS if step >= 7 * DAY_MS else 0), end + 1, step)
        if len(found) <= most:
            return [TimeTick(each, label_day(each)) for each in found]
    by_step = (list(_list_months(start, end, months)) for months in MONTH_STEPS)
    months = next((found for found in by_step if len(found) <= most), list[int]())
    return [TimeTick(each, label_month(each)) for each in months]


def _round_up(at: int, step: int, offset: int) -> int:
    return -((offset - at) // step) * step + offset


def _list_months(start: int, end: int, months: int) -> Iterator[int]:
    """List the starts of every `months` months. Counting from year 0 makes them January, April and so on."""
    first = to_datetime(start)
    number = first.year * 12 + first.month - 1
    number = -(-number // months) * months
    while (at := _find_month_start(number)) <= end:
        if at >= start:
            yield at
        number += months


def _find_month_start(number: int) -> int:
    return to_milliseconds(datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC))


def to_datetime(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def to_milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def label_clock(at: int) -> str:
    return f"{to_datetime(at):%H:%M}"


def label_day(at: int) -> str:
    moment = to_datetime(at)
    return gettext("%(day)s %(month)s", day=moment.day, month=MONTHS()[moment.month - 1])


def label_month(at: int) -> str:
    moment = to_datetime(at)
    return f"{MONTHS()[moment.month - 1]} {moment.year}"


def format_short(value: float) -> str:
    """Format a number for an axis: 950, 1.2k, 3M; in German 1,2 Tsd. and 3 Mio."""
    if value >= BILLION:
        return gettext("%(number)sG", number=format_rounded(value / BILLION))
    if value >= MILLION:
        return gettext("%(number)sM", number=format_rounded(value / MILLION))
    if value >= THOUSAND:
        return gettext("%(number)sk", number=format_rounded(value / THOUSAND))
    return format_rounded(value)
