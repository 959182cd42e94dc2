"""Convert times between milliseconds since 1970 and text."""

import functools
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

_EPOCH = datetime.fromtimestamp(0, UTC).date()
DAY_MS = 86_400_000
# the parts of a time in UTF-8, made once for speed: each minute of a day, each second and each millisecond
MINUTES = [b"T%02d:%02d:" % (hour, minute) for hour in range(24) for minute in range(60)]
SECONDS = [b"%02d." % second for second in range(60)]
MILLISECONDS = [b"%03dZ" % number for number in range(1000)]


def format_instant(milliseconds: int) -> str:
    rest = milliseconds % DAY_MS
    clock = MINUTES[rest // 60_000], SECONDS[rest // 1000 % 60], MILLISECONDS[rest % 1000]
    return b"".join((encode_date(milliseconds // DAY_MS), *clock)).decode()


def format_engine_time(milliseconds: int) -> str:
    """Format a time as the engine's logs have it: without an offset, and without zeros at the end of its fraction."""
    return format_instant(milliseconds)[:-1].rstrip("0").removesuffix(".")


@functools.lru_cache(maxsize=4096)
def encode_date(days: int) -> bytes:
    """Encode a date, given in days since 1970. Cached, because there are few different days."""
    return (_EPOCH + timedelta(days=days)).isoformat().encode()


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
