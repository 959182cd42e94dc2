"""Times in milliseconds since 1970: as text, and in steps of minutes, hours, days, ISO weeks and months in UTC."""

import functools
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
HOUR_MINUTES, DAY_MINUTES, WEEK_DAYS = 60, 24 * 60, 7
PERIODS = ("day", "week", "month")
STEPS = ("minute", "hour", *PERIODS)
_EPOCH = date(1970, 1, 1)
_FIRST_WEEKDAY = 3  # 1970-01-01 was a Thursday: three days after the Monday of its week
# the parts of a time in UTF-8, made once for speed: each minute of a day, each second and each millisecond
MINUTES = [b"T%02d:%02d:" % (hour, minute) for hour in range(24) for minute in range(60)]
SECONDS = [b"%02d." % second for second in range(60)]
MILLISECONDS = [b"%03dZ" % number for number in range(1000)]


def format_instant(milliseconds: int) -> str:
    rest = milliseconds % DAY_MS
    clock = MINUTES[rest // MINUTE_MS], SECONDS[rest // 1000 % 60], MILLISECONDS[rest % 1000]
    return b"".join((encode_date(milliseconds // DAY_MS), *clock)).decode()


def format_engine_time(milliseconds: int) -> str:
    """Format a time as the engine's logs have it: without an offset, and without zeros at the end of its fraction."""
    return format_instant(milliseconds)[:-1].rstrip("0").removesuffix(".")


@functools.lru_cache(maxsize=4096)
def encode_date(days: int) -> bytes:
    """Encode a date, given in days since 1970. Dates are cached, because a server encodes few different ones."""
    return _to_date(days).isoformat().encode()


def parse_instant(text: str) -> int:
    moment = datetime.fromisoformat(text)
    whole = moment.replace(microsecond=0).timestamp()
    return round(whole) * 1000 + moment.microsecond // 1000


def parse_typed_time(text: str) -> int:
    """Parse a time that a person typed; without a time zone it is UTC. Raise for years that cannot be formatted."""
    given = datetime.fromisoformat(text)
    return parse_instant((given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC).isoformat())


def format_http_date(milliseconds: int) -> str:
    """Format a time as an HTTP date (RFC 1123)."""
    return format_datetime(datetime.fromtimestamp(milliseconds // 1000, UTC), usegmt=True)


@functools.lru_cache(maxsize=4096)
def find_first_day(step: str, day: int) -> int:
    """Return the first day of the day, week or month that a day is in. Cached, because there are few different days."""
    if step == "week":
        return day - (day + _FIRST_WEEKDAY) % WEEK_DAYS
    if step == "month":
        return (_to_date(day).replace(day=1) - _EPOCH).days
    return day


def find_next_first_day(step: str, first_day: int) -> int:
    """Return the first day of the next day, week or month."""
    if step == "month":
        return find_first_day(step, first_day + 31)
    return first_day + (WEEK_DAYS if step == "week" else 1)


def find_start(step: str, at: int) -> int:
    """Return the start of the step that a time is in, in milliseconds."""
    if step in PERIODS:
        return find_first_day(step, at // DAY_MS) * DAY_MS
    unit = HOUR_MS if step == "hour" else MINUTE_MS
    return at // unit * unit


def find_next_start(step: str, start: int) -> int:
    if step in PERIODS:
        return find_next_first_day(step, start // DAY_MS) * DAY_MS
    return start + (HOUR_MS if step == "hour" else MINUTE_MS)


def format_day(day: int) -> str:
    return encode_date(day).decode()


def read_weekday(at: int) -> int:
    """Return the day of the week of a time: 0 is Monday."""
    return datetime.fromtimestamp(at / 1000, UTC).weekday()


def _to_date(day: int) -> date:
    return _EPOCH + timedelta(days=day)
