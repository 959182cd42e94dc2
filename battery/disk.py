"""Test h: a full or failing disk causes 503s while it lasts; no acknowledged change is lost and reads go on."""

import contextlib
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import NamedTuple

import asyncpg
import httpx

from battery import frail_disk, realm
from battery.cases import SQLITE, Case, Figure, NotRun, Run, Timed, beside
from battery.frail_disk import FrailDisk
from battery.givers import BROKEN, BUSY, Givers
from battery.realm import Realm
from battery.served import AS_IT_IS, EARLY_ANSWER, Served
from pair import Node, open_node

SMALL, LARGER = "24m", "160m"  # disk sizes for SQLite (24 MiB) and for PostgreSQL (160 MiB)
BLOCK = bytes(64 * 1024)
PERCENT = 30
SPARE_SEGMENTS = 3
CALM_SECONDS, BAD_SECONDS = 0.3, 1.5
FIRST_SECONDS = 30  # seconds: longest time until the first write is refused on a failing disk
BACK_SECONDS = 5
OK = 200


class Trouble(NamedTuple):
    """One kind of disk failure: how to begin it and how to end it."""

    what: str
    database: str
    begin: Callable[[], None]
    end: Callable[[], None]
    reads: frozenset[int] = frozenset({OK})  # statuses of reads during the failure


@dataclass
class Looks:
    """A client that reads a player's items and `/health/live` in a loop, and counts the statuses of the answers."""

    url: str
    realm: Realm
    reads: Counter[int] = field(default_factory=Counter[int])
    lives: Counter[int] = field(default_factory=Counter[int])

    def work(self, over: Event) -> None:
        wanted = ((self.reads, f"/api/v1/players/{self.realm.players[0]}/items"), (self.lives, "/health/live"))
        with httpx.Client(base_url=self.url, headers=self.realm.headers, timeout=30) as client:
            while not over.wait(0.05):
                for counts, path in wanted:
                    try:
                        counts[client.get(path).status_code] += 1
                    except httpx.TransportError:
                        counts[BROKEN] += 1


def survive_disk_failures(run: Run) -> list[Figure]:
    """Run all disk failures, with the seeded fault only the full disk; in the long form until a figure fails."""
    try:
        with _small_disk(run.folder / "tried-small", SMALL):
            pass
    except RuntimeError as error:
        raise NotRun(f"a small disk cannot be mounted, which needs root: {error}") from error
    if run.engine == SQLITE and not run.fault:
        frail_disk.require(run.folder)
    run.folder.chmod(0o711)  # PostgreSQL's user must be able to enter the working folder
    figures: list[Figure] = []
    for number in run.rounds():
        seed, folder = run.seed + number, run.folder / str(number)
        folder.mkdir()
        percent = random.Random(seed).randint(1, PERCENT) if number else PERCENT
        if run.engine == SQLITE:
            troubles = [_full_sqlite(folder), _failing_sqlite(folder, seed, percent)]
        else:
            troubles = [_full_postgres(folder), _dead_postgres(folder)]
        figures = []
        for opened in troubles[:1] if run.fault else troubles:
            with opened as trouble:
                figures += _measure_failure(run, seed, trouble)
        if not all(each.met for each in figures):
            break
    return figures


def _measure_failure(run: Run, seed: int, trouble: Trouble) -> list[Figure]:
    world = realm.prepare(trouble.database)
    with Served(run.fault or AS_IT_IS, trouble.database) as server:
        givers, looks = Givers([server.url], world, seed), Looks(server.url, world)
        with beside(looks.work), givers.at_work():
            time.sleep(CALM_SECONDS)
            began = time.monotonic()
            trouble.begin()
            if not run.fault:  # with the seeded fault answers precede the COMMIT, so no write is ever refused
                _wait(FIRST_SECONDS, lambda: bool(givers.refusals(began)))
            time.sleep(BAD_SECONDS)
            trouble.end()
            ended = time.monotonic()
            _wait(BACK_SECONDS, lambda: givers.back_after(ended) <= BACK_SECONDS)
        said = f"{trouble.what}: "
        figures = [
            _compare_statuses(f"{said}refused writes, by status", givers.refusals(began), frozenset({BUSY})),
            _compare_statuses(f"{said}reads, by status", looks.reads, trouble.reads),
            _compare_statuses(f"{said}/health/live, by status", looks.lives, frozenset({OK})),
            Timed.within(f"{said}first write after the failure", givers.back_after(ended), BACK_SECONDS),
            *givers.figures(said),
        ]
    return [*figures, Figure.none("errors found by the doctor", realm.list_errors(trouble.database))]


def _compare_statuses(what: str, found: Counter[int], wanted: frozenset[int]) -> Figure:
    said = ", ".join(f"{count} times {status}" for status, count in sorted(found.items())) or "none"
    bar = f"only {' or '.join(map(str, sorted(wanted)))}"
    return Figure(what, said, bar, bool(found) and {*found} <= wanted)


def _wait(seconds: float, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        time.sleep(0.02)


# --- disk failures of SQLite ---------------------------------------------------------------------------------------


@contextmanager
def _full_sqlite(folder: Path) -> Generator[Trouble]:
    with _small_disk(folder / "small", SMALL) as disk:
        filler = disk / "filler"
        yield Trouble("full disk", f"sqlite:///{disk / 'world.db'}", lambda: _fill(filler), filler.unlink)


@contextmanager
def _failing_sqlite(folder: Path, seed: int, percent: int) -> Generator[Trouble]:
    mount, kept = folder / "frail", folder / "kept"
    kept.mkdir()
    with FrailDisk(mount, kept, seed) as disk:
        what, database = f"{percent} % of writes and syncs fail", f"sqlite:///{mount / 'world.db'}"
        yield Trouble(what, database, lambda: disk.fail(percent), lambda: disk.fail(0))


# --- disk failures of PostgreSQL -----------------------------------------------------------------------------------


@contextmanager
def _full_postgres(folder: Path) -> Generator[Trouble]:
    """Fill PostgreSQL's data disk; its WAL is on another disk, since PostgreSQL stops when that one is full."""
    with _small_disk(folder / "small", LARGER) as disk, open_node(disk) as node:
        _move_log(node, folder / "log")
        node.start()
        filler = disk / "filler"
        yield Trouble("full disk", node.url, lambda: _fill(filler), filler.unlink)


@contextmanager
def _dead_postgres(folder: Path) -> Generator[Trouble]:
    """Fill the disk of PostgreSQL's WAL: PostgreSQL stops and must be restarted."""
    home = folder / "home"
    home.mkdir()
    with _small_disk(folder / "log-disk", LARGER) as disk, open_node(home) as node:
        _move_log(node, disk / "log")
        node.start()
        filler = disk / "filler"

        def begin() -> None:
            _fill(filler)
            with contextlib.suppress(OSError, asyncpg.PostgresError):  # ignored: a full WAL disk crashes PostgreSQL
                for _ in range(SPARE_SEGMENTS):  # the full disk shows once the spare WAL segments are used up
                    node.fetch("SELECT pg_switch_wal()")

        def end() -> None:
            filler.unlink()
            node.kill()
            node.start()

        yield Trouble("full log disk", node.url, begin, end, frozenset({OK, BUSY}))


def _move_log(node: Node, to: Path) -> None:
    log = node.folder / "pg_wal"
    shutil.copytree(log, to)
    for each in (to, *to.rglob("*")):
        shutil.chown(each, log.owner(), log.group())
    to.chmod(0o700)
    shutil.rmtree(log)
    log.symlink_to(to)


# --- mounting and filling small disks ------------------------------------------------------------------------------


@contextmanager
def _small_disk(at: Path, size: str) -> Generator[Path]:
    at.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "gk-small", str(at)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"a tmpfs was not mounted: {done.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", str(at)], check=False)


def _fill(file: Path) -> None:
    """Fill the disk to the last byte, even while other processes write or free space."""
    with file.open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(BLOCK)


CASES = (Case("h", "disk full, I/O errors", survive_disk_failures, faults=(EARLY_ANSWER,), fault_engines=(SQLITE,)),)
