"""The comparison of two answers: ids, times and other random values may differ, everything else is a difference."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

MOST_APART_SECONDS = 600  # seconds that a time may differ: the servers start one after the other
FIXED = ("etag:", "content-length:")  # headers that must be equal if the bodies are

# Values that may differ between the versions, with their kind. `id`: random, but the same one wherever it is used.
VOLATILE: Sequence[tuple[str, str]] = (
    # set to null by a background job, some time after the mail's code was replaced or used
    ("number", r'(?<="NextTryAt":)(?:null|"[^"]+")'),
    ("id", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("id", r"(?<!\w)[0-9a-f]{24}(?!\w)"),  # id of a request
    ("id", r'(?<=etag: )"[0-9a-f]{32}"'),
    ("id", r"gk[ak]_[\w-]{43}"),  # a token or an API key
    ("id", r'(?<="PasswordResetCode":")[\w-]+'),
    ("time", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"),
    ("date", r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"),
    ("ms", r"(?<!\d)1[789]\d{11}(?!\d)"),
    ("number", r"(?<=content-length: )\d+|(?<=retry-after: )\d+"),
    *(("number", rf'(?<="{name}":)[\d.]+') for name in ("uptime", "cps", "us", "at", "RetryAfter")),
    ("number", r'(?<="Requests":)\d+'),  # the comparison repeats some requests, and not equally often
    ("number", r'(?<="UpTo":\{"Seq":)\d+'),  # how far a background job has followed
    # sums of the seconds since the start, and bytes of memory
    *(("number", rf'(?<="{name}":)[\d.]+') for name in ("play_ms", "PlaySeconds", "Online", "OnlineMax")),
    ("number", r'(?<="ranks":"play_time","gain":false,"value":)\d+'),
    ("number", r"(?<=; wait )\d+(?= seconds)"),
    ("number", r'(?<="Cps":)\{[^}]*\}'),
    *(("number", rf'(?<="{name}":)\d{{8,}}(?:\.0)?') for name in ("Min", "Max", "Sum", "Mean")),
)
SECONDS: Mapping[str, Callable[[str], float]] = {
    "time": lambda text: datetime.fromisoformat(text).timestamp(),
    "date": lambda text: parsedate_to_datetime(text).timestamp(),
    "ms": lambda text: int(text) / 1000,
}


@dataclass(frozen=True)
class Answer:
    status: int
    head: str  # status line and headers, as they were sent
    body: bytes

    @property
    def text(self) -> str:
        return self.head + self.body.decode(errors="backslashreplace")


class Comparison:
    """Compares answers. An id of the old version must always stand for the same id of the new one, and back."""

    def __init__(self) -> None:
        self._kinds = [kind for kind, _ in VOLATILE]
        self._pieces = re.compile("|".join(f"({pattern})" for _, pattern in VOLATILE))
        self._new_of: dict[str, str] = {}
        self._old_of: dict[str, str] = {}

    def find_difference_of_answers(self, old: Answer, new: Answer) -> str:
        """Return what differs; the tag and the length may only differ if the body does."""
        head = self.find_difference(old.head, new.head)
        if old.body != new.body:
            return head or self.find_difference(old.text, new.text)
        fixed = [[each for each in answer.head.splitlines() if each.startswith(FIXED)] for answer in (old, new)]
        return head or ("" if fixed[0] == fixed[1] or not old.body else f"{fixed[0]}\n    {fixed[1]}")

    def find_difference(self, old: str, new: str) -> str:
        """Return what differs, or an empty text."""
        olds, news, before = list(self._split(old)), list(self._split(new)), ""
        paired = dict[str, str](), dict[str, str]()  # ids that only count if the whole texts are equal
        for (kind, one), (other_kind, other) in zip(olds, news, strict=False):
            if kind != other_kind or not self._is_same(kind, one, other, paired):
                return f"{before[-200:]!r} {_shorten(one, other)}\n    {_shorten(other, one)}"
            before += one
        if len(olds) != len(news):
            return f"{len(old)} characters\n    {len(new)} characters"
        self._new_of |= paired[0]
        self._old_of |= paired[1]
        return ""

    def mask(self, text: str) -> str:
        """Leave out the volatile pieces of a text."""
        return self._pieces.sub("…", text)

    def _split(self, text: str) -> Iterable[tuple[str, str]]:
        """Split a text into fixed and volatile pieces, each with its kind; the kind of a fixed piece is empty."""
        end = 0
        for found in self._pieces.finditer(text):
            yield "", text[end : found.start()]
            yield self._kinds[(found.lastindex or 1) - 1], found[0]
            end = found.end()
        yield "", text[end:]

    def _is_same(self, kind: str, old: str, new: str, paired: tuple[dict[str, str], dict[str, str]]) -> bool:
        if kind == "id":
            of_old, of_new = self._new_of.get(old), self._old_of.get(new)
            known_new, known_old = of_old or paired[0].setdefault(old, new), of_new or paired[1].setdefault(new, old)
            return known_new == new and known_old == old
        if kind in SECONDS:
            return old == new or abs(SECONDS[kind](old) - SECONDS[kind](new)) <= MOST_APART_SECONDS
        return kind == "number" or old == new


def _shorten(text: str, other: str) -> str:
    """Return the part of a text around the first difference to the other one."""
    same = next((at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    return repr(text[max(0, same - 60) : same + 100])
