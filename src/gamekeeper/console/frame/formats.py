"""Numbers, times and durations as the language of the page writes them: 1,234.5 in English, 1.234,5 in German.

The durations are those of bans and mutes: choices of the forms, and texts of buttons and dialogs.
"""

from collections.abc import Callable, Mapping

from gamekeeper.console.frame.texts import GERMAN, LANGUAGE, PerLanguage, gettext, ngettext
from gamekeeper.ground.instants import format_instant, parse_instant

# filters of templates: name → function. A module of a room adds its own; those of all pages are in `templates.py`
FILTERS: dict[str, Callable[..., object]] = {}
TO_GERMAN = str.maketrans(",.", ".,")
DATE_LENGTH = len("2026-01-31")


def capitalize(text: str) -> str:
    """Begin a text with a capital letter. `str.capitalize` would also make the other letters small."""
    return text[:1].upper() + text[1:]


def lower_noun(text: str) -> str:
    """Write a noun as within a sentence. In German it keeps its capital letter."""
    return text if LANGUAGE.get() == GERMAN else text.lower()


def format_number(number: float) -> str:
    """Format a number with separators of thousands."""
    return _localize(f"{number:,}")


def format_signed(number: int) -> str:
    """Format a number with its sign, also a plus."""
    return _localize(f"{number:+,}")


def format_decimal(number: float) -> str:
    """Format a number with one digit after the point."""
    return _localize(f"{number:,.1f}")


def format_rounded(number: float) -> str:
    """Format a number with one digit after the point, unless that is a zero."""
    return _localize(f"{number:,.1f}".removesuffix(".0"))


def _localize(text: str) -> str:
    return text.translate(TO_GERMAN) if LANGUAGE.get() == GERMAN else text


def format_date(text: str) -> str:
    """Format the day of a text such as 2026-01-31T12:00:00Z, or of the day alone."""
    day = text[:DATE_LENGTH]
    return f"{day[8:]}.{day[5:7]}.{day[:4]}" if LANGUAGE.get() == GERMAN and len(day) == DATE_LENGTH else day


def format_time(text: str) -> str:
    """Format a text of `format_instant`, which is in UTC, for display. A script adds the viewer's local time."""
    if not text:
        return ""
    if LANGUAGE.get() == GERMAN:
        return f"{format_date(text)}, {text[11:19]} UTC"
    return f"{text[:10]} {text[11:19]} UTC"


HOUR_MINUTES, DAY_MINUTES = 60, 24 * 60  # in minutes
YEAR_MINUTES = 365 * DAY_MINUTES

# minutes → text, for the forms of bans and mutes; 0: permanent
DURATIONS = PerLanguage(
    lambda: {
        **{hours * HOUR_MINUTES: ngettext("%(num)d hour", "%(num)d hours", hours) for hours in (1, 3, 12)},
        **{days * DAY_MINUTES: ngettext("%(num)d day", "%(num)d days", days) for days in (1, 3, 7, 14, 30, 90)},
        YEAR_MINUTES: gettext("1 year"),
        0: gettext("permanent"),
    }
)


def describe_duration(body: Mapping[str, object]) -> str:
    """Describe the duration or the end in the body of a ban or mute, such as "for 2 hours"."""
    if until := body.get("until"):
        # a caller may send any offset
        return gettext("until %(time)s", time=format_time(format_instant(parse_instant(str(until)))))
    if "minutes" in body:
        return describe_minutes(int(str(body["minutes"])))
    return describe_minutes(int(str(body.get("duration") or 0)) * DAY_MINUTES)


def describe_minutes(minutes: int) -> str:
    """Describe a duration in its largest unit that fits; 0: permanent."""
    if minutes == 0:
        return gettext("permanently")
    if minutes == YEAR_MINUTES:
        return gettext("for 1 year")
    if minutes % DAY_MINUTES == 0:
        return ngettext("for %(num)s day", "for %(num)s days", minutes // DAY_MINUTES)
    if minutes % HOUR_MINUTES == 0:
        return ngettext("for %(num)s hour", "for %(num)s hours", minutes // HOUR_MINUTES)
    return ngettext("for %(num)s minute", "for %(num)s minutes", minutes)
