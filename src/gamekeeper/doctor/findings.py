"""Findings of the doctor, with a limit for each check."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

ERROR, NOTE = "error", "note"
PAGE_ROWS = 500  # rows that the doctor reads in one query
MAX_SHOWN = 20  # findings that the doctor shows per check; further ones are only counted
REPAIR_ADVICE = "Another program changed the database: revert its change, or restore a backup."

Progress = Callable[[str, int, int], None]  # the doctor's progress callback: what is checked, rows done, rows in total


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    level: str
    check: str
    message: str


class Findings:
    """Collects the doctor's findings, at most MAX_SHOWN of each check."""

    def __init__(self) -> None:
        self._shown: list[DoctorFinding] = []
        self._count: Counter[tuple[str, str]] = Counter()

    def add(self, level: str, check: str, message: str) -> None:
        self._count[level, check] += 1
        if self._count[level, check] <= MAX_SHOWN:
            self._shown.append(DoctorFinding(level, check, message))

    def all(self) -> list[DoctorFinding]:
        hidden = [(each, count - MAX_SHOWN) for each, count in self._count.items() if count > MAX_SHOWN]
        return self._shown + [DoctorFinding(*each, f"And {count} more like these.") for each, count in hidden]
