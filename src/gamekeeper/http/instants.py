"""Convert times between milliseconds since 1970 and text."""

import functools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

_EPOCH = datetime.fromtimestamp(0, UTC).date()
_TWO, _THREE = (
    [f"{number:02}" for number in range(60)],
    [f"{number:03}" for number in range(1000)],
)  # numbers as text with two and three digits, made once for speed


def format_instant(milliseconds: int) -> str:
    seconds, thousandths = divmod(milliseconds, 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"{_format_date(days)}T{_TWO[hour]}:{_TWO[minute]}:{_TWO[second]}.{_THREE[thousandths]}Z"


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
