"""The words that actions in the search box consist of: verbs, prepositions, times, and durations of bans and mutes.

English words are understood in every language, and those of the page's language too. The search box and the command
line read typed durations and ends here, such as "3h", "2 weeks", "forever" and "until friday".
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gamekeeper.console.frame.formats import DAY_MINUTES, HOUR_MINUTES, YEAR_MINUTES
from gamekeeper.console.frame.texts import ENGLISH, LANGUAGE, PerLanguage, gettext, pgettext
from gamekeeper.http.server.instants import format_instant, parse_instant


def _list_words() -> dict[str, str]:
    """List the words of the current language by meaning, separated by commas. Translations may have more or fewer."""
    return {
        "ban": pgettext("typed", "ban"),
        "unban": pgettext("typed", "unban"),
        "mute": pgettext("typed", "mute"),
        "unmute": pgettext("typed", "unmute"),
        "kick": pgettext("typed", "kick"),
        "give": pgettext("typed", "give"),
        "take": pgettext("typed", "take"),
        "to": pgettext("typed", "to"),
        "from": pgettext("typed", "from"),
        "for": pgettext("typed", "for"),
        "until": pgettext("typed", "until, till"),
        "forever": pgettext("typed", "forever, permanently, permanent"),
        "tomorrow": pgettext("typed", "tomorrow"),
        "minutes": pgettext("typed", "m, min, mins, minute, minutes"),
        "hours": pgettext("typed", "h, hr, hrs, hour, hours"),
        "days": pgettext("typed", "d, day, days"),
        "weeks": pgettext("typed", "w, wk, wks, week, weeks"),
        "months": pgettext("typed", "mo, mos, month, months"),
        "years": pgettext("typed", "y, yr, yrs, year, years"),
        "monday": pgettext("typed", "monday, mon"),
        "tuesday": pgettext("typed", "tuesday, tue"),
        "wednesday": pgettext("typed", "wednesday, wed"),
        "thursday": pgettext("typed", "thursday, thu"),
        "friday": pgettext("typed", "friday, fri"),
        "saturday": pgettext("typed", "saturday, sat"),
        "sunday": pgettext("typed", "sunday, sun"),
    }


def _collect_words() -> dict[str, frozenset[str]]:
    own, language = _list_words(), LANGUAGE.set(ENGLISH)
    try:
        english = _list_words()
    finally:
        LANGUAGE.reset(language)
    return {meaning: _split(text) | _split(english[meaning]) for meaning, text in own.items()}


def _split(text: str) -> frozenset[str]:
    return frozenset(each.strip().casefold() for each in text.split(","))


WORDS = PerLanguage(_collect_words)  # meaning → words


def find_meaning(word: str, *meanings: str) -> str | None:
    """Find which of these meanings a word has."""
    words, sought = WORDS(), word.casefold()
    return next((each for each in meanings if sought in words[each]), None)


def make_pattern(meaning: str) -> str:
    """Return a regular expression for the words of a meaning."""
    return "|".join(re.escape(each) for each in sorted(WORDS()[meaning], key=len, reverse=True))


MOST_MINUTES = 36_500 * DAY_MINUTES
TIME_WORDS = 5  # most words of a time, such as "until 2026-11-20 18:00"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNITS = {
    "minutes": 1,
    "hours": HOUR_MINUTES,
    "days": DAY_MINUTES,
    "weeks": 7 * DAY_MINUTES,
    "months": 30 * DAY_MINUTES,
    "years": YEAR_MINUTES,
}
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
    return TypedTime({"minutes": minutes} if minutes % DAY_MINUTES else {"duration": minutes // DAY_MINUTES})


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
