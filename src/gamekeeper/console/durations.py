"""How long a ban or mute lasts, in words: choices of the forms, and texts of buttons and dialogs."""

from collections.abc import Mapping

from gamekeeper.console.formats import format_time
from gamekeeper.console.texts import PerLanguage, gettext, ngettext
from gamekeeper.http.instants import format_instant, parse_instant

HOUR, DAY = 60, 24 * 60  # in minutes
YEAR = 365 * DAY

# minutes → text, for the forms of bans and mutes; 0: permanent
CHOICES = PerLanguage(
    lambda: {
        **{hours * HOUR: ngettext("%(num)d hour", "%(num)d hours", hours) for hours in (1, 3, 12)},
        **{days * DAY: ngettext("%(num)d day", "%(num)d days", days) for days in (1, 3, 7, 14, 30, 90)},
        YEAR: gettext("1 year"),
        0: gettext("permanent"),
    }
)


def describe(body: Mapping[str, object]) -> str:
    """Describe the duration or the end in the body of a ban or mute, such as "for 2 hours"."""
    if until := body.get("until"):
        # a caller may send any offset
        return gettext("until %(time)s", time=format_time(format_instant(parse_instant(str(until)))))
    if "minutes" in body:
        return describe_minutes(int(str(body["minutes"])))
    return describe_minutes(int(str(body.get("duration") or 0)) * DAY)


def describe_minutes(minutes: int) -> str:
    """Describe a duration in its largest unit that fits; 0: permanent."""
    if minutes == 0:
        return gettext("permanently")
    if minutes == YEAR:
        return gettext("for 1 year")
    if minutes % DAY == 0:
        return ngettext("for %(num)s day", "for %(num)s days", minutes // DAY)
    if minutes % HOUR == 0:
        return ngettext("for %(num)s hour", "for %(num)s hours", minutes // HOUR)
    return ngettext("for %(num)s minute", "for %(num)s minutes", minutes)
