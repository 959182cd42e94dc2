"""Findings of the doctor, with a limit for each check; and how a module registers checks and repairs."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight.economy import LAST_GUID
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.engine.interface import Reading, Snapshot
from gamekeeper.store.insight import holdings
from gamekeeper.store.insight.boards import BoardChange
from gamekeeper.store.insight.economy import CountedChange

ERROR, NOTE = "error", "note"
PAGE_ROWS = 500  # rows that the doctor reads in one query
MAX_SHOWN = 20  # findings that the doctor shows per check; further ones are only counted
REPAIR_ADVICE = "Another program changed the database: revert its change, or restore a backup."

Progress = Callable[[str, int, int], None]  # the doctor's progress callback: what is checked, rows done, rows in total


K = TypeVar("K", bound=Any)
V = TypeVar("V")


C = TypeVar("C", BoardChange, CountedChange)


def compare(counted: Mapping[K, V], stored: Mapping[K, V], nothing: V) -> list[tuple[K, V, V]]:
    """Return the keys, in order, whose counted and stored values differ, with both; `nothing`: the value of no key."""
    both = ((key, counted.get(key, nothing), stored.get(key, nothing)) for key in sorted({*counted, *stored}))
    return [each for each in both if each[1] != each[2]]


async def read_later(
    read: Callable[[Reading, int, int, int], Awaitable[Sequence[C]]], tx: Reading, seq: int
) -> list[C]:
    """Return all changes after one, which a follower of the audit log has not counted yet."""
    found: list[C] = []
    while page := await read(tx, found[-1].seq if found else seq, NEVER, PAGE_ROWS):
        found += page
    return found


async def list_ranges(tx: Reading) -> AsyncIterator[tuple[str, str]]:
    """Yield the ids of all players in ranges: the first is that of the player before."""
    after = ZERO_GUID
    while after != LAST_GUID:
        players = await holdings.read_players_after(tx, after, PAGE_ROWS)
        last = players[-1] if len(players) == PAGE_ROWS else LAST_GUID
        yield after, last
        after = last


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

    def error(self, check: str, message: str, advice: str = REPAIR_ADVICE) -> None:
        self.add(ERROR, check, f"{message} {advice}")

    def note(self, check: str, message: str, advice: str) -> None:
        self.add(NOTE, check, f"{message} {advice}")

    def all(self) -> list[DoctorFinding]:
        hidden = [(each, count - MAX_SHOWN) for each, count in self._count.items() if count > MAX_SHOWN]
        return self._shown + [DoctorFinding(*each, f"And {count} more like these.") for each, count in hidden]


@dataclass(frozen=True, slots=True)
class Examination:
    """One run of the doctor, as the checks see it."""

    tx: Snapshot
    found: Findings
    keeper: Keeper
    progress: Progress

    @property
    def codec(self) -> Codec:
        return self.keeper.changes.codec


@dataclass(frozen=True, slots=True)
class Check:
    """A check in one snapshot of the database; modules register theirs in the tuple `CHECKS`."""

    place: int  # the checks run in this order, and their findings are shown in it
    words: tuple[str, ...]  # names under which the check reports findings
    run: Callable[[Examination], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class LateCheck:
    """A check on its own connections, after those in the snapshot; in the tuple `LATE_CHECKS`."""

    place: int
    words: tuple[str, ...]
    run: Callable[[Keeper], Awaitable[list[DoctorFinding]]]


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of `--fix`, before the checks; in the tuple `FIXES`."""

    place: int
    run: Callable[[Keeper, Progress], Awaitable[list[DoctorFinding]]]
