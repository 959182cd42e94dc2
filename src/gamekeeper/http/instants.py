"""Convert times between milliseconds since 1970 and text."""

import functools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

_EPOCH = datetime.fromtimestamp(0, UTC).date()
_DAY_MS = 86_400_000
# the parts of a time as text, made once for speed: each minute of a day, each second and each millisecond
_MINUTES = [f"T{hour:02}:{minute:02}:" for hour in range(24) for minute in range(60)]
_SECONDS = [f"{second:02}." for second in range(60)]
_MILLISECONDS = [f"{number:03}Z" for number in range(1000)]


def format_instant(milliseconds: int) -> str:
    days, rest = divmod(milliseconds, _DAY_MS)
    return f"{_format_date(days)}{_MINUTES[rest // 60_000]}{_SECONDS[rest // 1000 % 60]}{_MILLISECONDS[rest % 1000]}"


@functools.lru_cache(maxsize=4096)
def _format_date(days: int) -> str:
    """Format a date. Results are cached: there are few different days, and every record has two times."""
    return (_EPOCH + timedelta(days=days)).isoformat()


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
