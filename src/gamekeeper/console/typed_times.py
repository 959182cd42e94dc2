"""Typed durations and ends of bans and mutes, such as "3h", "2 weeks", "forever" and "until friday".

The search box and the command line read them here, and name here what is understood.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gamekeeper.console.durations import DAY, HOUR, YEAR
from gamekeeper.console.palette_words import WORDS, find_meaning, make_pattern
from gamekeeper.console.texts import gettext
from gamekeeper.http.instants import format_instant, parse_instant

MOST_MINUTES = 36_500 * DAY
TIME_WORDS = 5  # most words of a time, such as "until 2026-11-20 18:00"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNITS = {"minutes": 1, "hours": HOUR, "days": DAY, "weeks": 7 * DAY, "months": 30 * DAY, "years": YEAR}
AMOUNT = re.compile(r"(\d{1,8})\s*([^\W\d_]+)")
ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[t ](\d\d):(\d\d)(?: ?(?:z|utc))?)?", re.ASCII)
GERMAN_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})(?:,? (\d\d):(\d\d)(?: ?utc)?)?", re.ASCII)


class TypedTime(NamedTuple):
    """A typed duration or end, as fields of a ban or mute."""

    body: Mapping[str, str | int]


def list_understood() -> str:
    """Name examples of every kind of time that is understood."""
    return gettext(
        "Times: 30 minutes (30m), 2 hours (2h), 7 days (7d), 2 weeks (2w), 1 month, 1 year, forever, until friday, "
        "until 2030-01-31, until 2030-01-31 18:00 (UTC)."
    )


def parse_time(text: str, now: datetime) -> TypedTime | None:
    """Parse a whole text as a duration or an end. None: it is not understood, or not in the future."""
    said = " ".join(text.casefold().split())
    if said in WORDS()["forever"]:
        return TypedTime({"duration": 0})
    if (begun := re.fullmatch(rf"(?:{make_pattern('for')}) (.+)", said)) and said not in WORDS()["forever"]:
        said = begun[1]
    elif ends := re.fullmatch(rf"(?:{make_pattern('until')}) (.+)", said):
        return _parse_end(ends[1], now)
    return _parse_duration(said)


def _parse_duration(said: str) -> TypedTime | None:
    amount = AMOUNT.fullmatch(said)
    unit = find_meaning(amount[2], *UNITS) if amount else None
    if not amount or not unit:
        return None
    minutes = int(amount[1]) * UNITS[unit]
    if not 1 <= minutes <= MOST_MINUTES:
        return None
    return TypedTime({"minutes": minutes} if minutes % DAY else {"duration": minutes // DAY})


def _parse_end(said: str, now: datetime) -> TypedTime | None:
    end = _parse_date(said, now)
    if end is None or not now < end <= now + timedelta(minutes=MOST_MINUTES):
        return None
    return TypedTime({"until": format_instant(parse_instant(end.isoformat()))})


def _parse_date(said: str, now: datetime) -> datetime | None:
    """Parse a day, which means its first moment (UTC), or a day with a time."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in WORDS()["tomorrow"]:
        return today + timedelta(days=1)
    if day := find_meaning(said, *WEEKDAYS):
        return today + timedelta(days=(WEEKDAYS.index(day) - today.weekday() - 1) % 7 + 1)
    if iso := ISO_DATE.fullmatch(said):
        year, month, day_of_month = iso[1], iso[2], iso[3]
    elif iso := GERMAN_DATE.fullmatch(said):
        year, month, day_of_month = iso[3], iso[2], iso[1]
    else:
        return None
    try:
        return datetime(int(year), int(month), int(day_of_month), int(iso[4] or 0), int(iso[5] or 0), tzinfo=UTC)
    except ValueError:
        return None
