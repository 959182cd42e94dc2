"""Bans, mutes and kicks that are typed in the search box, and the times of bans and mutes.

The command line reads typed durations and ends here, too, such as "3h", "2 weeks", "forever" and "until friday".
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from gamekeeper.console.frame import command_palette, formats
from gamekeeper.console.frame.command_palette import FoundOffers, NameSearch, PaletteCommand, make_pattern
from gamekeeper.console.frame.differences import UndoTitle
from gamekeeper.console.frame.formats import DAY_MINUTES, HOUR_MINUTES, YEAR_MINUTES
from gamekeeper.console.frame.routes import Dialog
from gamekeeper.console.frame.texts import PerLanguage, gettext, pgettext
from gamekeeper.game.accounts.changes import UserBanned, UserMuted, UserUnbanned, UserUnmuted
from gamekeeper.game.lists.search import EXACT, ID
from gamekeeper.ground.instants import format_instant, parse_instant

WORDS = command_palette.collect_words(
    lambda: {
        "ban": pgettext("typed", "ban"),
        "unban": pgettext("typed", "unban"),
        "mute": pgettext("typed", "mute"),
        "unmute": pgettext("typed", "unmute"),
        "kick": pgettext("typed", "kick"),
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
)


def _find_meaning(word: str, *meanings: str) -> str | None:
    """Find which of these meanings a word has."""
    words, sought = WORDS(), word.casefold()
    return next((each for each in meanings if sought in words[each]), None)


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
DEFAULT_DAYS = 7
AMOUNT = re.compile(r"(\d{1,8})\s*([^\W\d_]+)")
ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[t ](\d\d):(\d\d)(?: ?(?:z|utc))?)?", re.ASCII)
GERMAN_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})(?:,? (\d\d):(\d\d)(?: ?utc)?)?", re.ASCII)
TypedTime = Mapping[str, str | int]  # a typed duration or end, as fields of a ban or mute


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
        return {"duration": 0}
    if (begun := re.fullmatch(rf"(?:{make_pattern(WORDS()['for'])}) (.+)", said)) and said not in WORDS()["forever"]:
        said = begun[1]
    elif ends := re.fullmatch(rf"(?:{make_pattern(WORDS()['until'])}) (.+)", said):
        return _parse_end(ends[1], now)
    return _parse_duration(said)


def _parse_duration(said: str) -> TypedTime | None:
    amount = AMOUNT.fullmatch(said)
    unit = _find_meaning(amount[2], *UNITS) if amount else None
    if not amount or not unit:
        return None
    minutes = int(amount[1]) * UNITS[unit]
    if not 1 <= minutes <= MOST_MINUTES:
        return None
    return {"minutes": minutes} if minutes % DAY_MINUTES else {"duration": minutes // DAY_MINUTES}


def _parse_end(said: str, now: datetime) -> TypedTime | None:
    end = _parse_date(said, now)
    if end is None or not now < end <= now + timedelta(minutes=MOST_MINUTES):
        return None
    return {"until": format_instant(parse_instant(end.isoformat()))}


def _parse_date(said: str, now: datetime) -> datetime | None:
    """Parse a day, which means its first moment (UTC), or a day with a time."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in WORDS()["tomorrow"]:
        return today + timedelta(days=1)
    if day := _find_meaning(said, *WEEKDAYS):
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


async def _find_sanctions(search: NameSearch, act: PaletteCommand, rest: str) -> FoundOffers:
    is_timed = act.explain is WITH_TIME
    whole = await search.find(rest, "player", "user")
    exact = any(each.match in {ID, EXACT} for each in whole)
    name, typed = _split_time(rest) if is_timed and not exact else (rest, None)
    found = whole if typed is None else await search.find(name, "player", "user")
    body: TypedTime = typed or ({"duration": DEFAULT_DAYS} if is_timed else {})
    duration = formats.describe_duration(body)
    actions = [
        act.offer(each, body, "danger", duration=duration) for each in found if search.may(act, each.kind, each.id)
    ]
    if actions:
        return actions, None
    unknown = name if typed else await search.find_unknown(rest, "player", "user")
    if unknown in {rest, name}:
        return act.refuse(gettext("No player or account is called “%(name)s”.", name=unknown))
    return act.refuse(gettext("“%(words)s” is not understood.", words=unknown))


def _split_time(text: str) -> tuple[str, TypedTime | None]:
    """Split a text into a name and the longest time at its end."""
    words, now = text.split(), datetime.now(UTC)
    for size in range(min(len(words) - 1, TIME_WORDS), 0, -1):
        if typed := parse_time(" ".join(words[-size:]), now):
            return " ".join(words[:-size]), typed
    return text, None


ONLY_NAME = PerLanguage(lambda: gettext("Write only a name after it, such as: kick Yorick."))
WITH_TIME = PerLanguage(
    lambda: " ".join((gettext("Write a name and a time, such as: mute Yorick 30m."), list_understood()))
)
ADMIN = "/api/v1/{kind}s/{id}/admin/{verb}"
PALETTE_COMMANDS = (
    PaletteCommand("ban", "Ban %(name)s %(duration)s", ADMIN, WORDS, WITH_TIME, _find_sanctions),
    PaletteCommand("mute", "Mute %(name)s %(duration)s", ADMIN, WORDS, WITH_TIME, _find_sanctions),
    PaletteCommand("unban", "End the ban of %(name)s", ADMIN, WORDS, ONLY_NAME, _find_sanctions),
    PaletteCommand("unmute", "End the mute of %(name)s", ADMIN, WORDS, ONLY_NAME, _find_sanctions),
    PaletteCommand("kick", "Kick %(name)s from the game", ADMIN, WORDS, ONLY_NAME, _find_sanctions),
)
DIALOGS = (
    Dialog("ban_player", "Ban the account of %(name)s", "Ban the account of %(name)s %(duration)s", told=True),
    Dialog("unban_player", "End the ban of the account of %(name)s"),
    Dialog("mute_player", "Mute the account of %(name)s", "Mute the account of %(name)s %(duration)s", told=True),
    Dialog("unmute_player", "End the mute of the account of %(name)s"),
    Dialog("kick_player", "Kick the account of %(name)s out of the game", told=True),
    Dialog("ban_user", "Ban %(name)s", "Ban %(name)s %(duration)s", told=True),
    Dialog("unban_user", "End the ban of %(name)s"),
    Dialog("mute_user", "Mute %(name)s", "Mute %(name)s %(duration)s", told=True),
    Dialog("unmute_user", "End the mute of %(name)s"),
    Dialog("kick_user", "Kick %(name)s out of the game", told=True),
)
UNDO_TITLES = (
    UndoTitle(UserBanned.kind, "Undo: ban %(name)s again"),
    UndoTitle(UserUnbanned.kind, "Undo: end the ban of %(name)s"),
    UndoTitle(UserMuted.kind, "Undo: mute %(name)s again"),
    UndoTitle(UserUnmuted.kind, "Undo: end the mute of %(name)s"),
)
