"""Test h: a full or failing disk causes 503s while it lasts; no acknowledged change is lost and reads go on."""

import asyncio
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
from threading import Event, Thread
from typing import NamedTuple

import asyncpg
import httpx

import crash_gives
from battery import conservation, frail_disk
from battery.cases import SQLITE, Case, Figure, NotRun, Run, Timed
from battery.frail_disk import FrailDisk
from battery.givers import BUSY, Givers
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
    reads: bool  # whether reads still succeed during the disk failure


@dataclass
class Looks:
    """A client that only reads and checks the server's liveness."""

    url: str
    token: str
    player: str
    reads: Counter[int] = field(default_factory=Counter[int])
    lives: Counter[int] = field(default_factory=Counter[int])

    @contextmanager
    def at_work(self) -> Generator[None]:
        over = Event()
        thread = Thread(target=self._work, args=(over,))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _work(self, over: Event) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30) as client:
            while not over.wait(0.05):
                self.reads[_status(client, f"/api/v1/players/{self.player}/items")] += 1
                self.lives[_status(client, "/health/live")] += 1


def _status(client: httpx.Client, path: str) -> int:
    try:
        return client.get(path).status_code
    except httpx.TransportError:
        return 0


def survive_disk_failures(run: Run) -> list[Figure]:
    """Run all disk failures; in the long form repeat them until time is up or a figure fails."""
    _require(run)
    until = time.monotonic() + (run.seconds or 0)
    figures, times = _once(run, run.seed), 1
    while time.monotonic() < until and all(figure.met for figure in figures):
        figures = _once(run, run.seed + times)
        times += 1
    return figures if times == 1 else [*figures, Figure("repetitions", str(times), "any", met=True)]


def _require(run: Run) -> None:
    """Check that small disks can be mounted on this machine."""
    try:
        with _small_disk(run.folder / "tried-small", SMALL):
            pass
    except RuntimeError as error:
        raise NotRun(f"a small disk cannot be mounted, which needs root: {error}") from error
    if run.engine == SQLITE and not run.fault:
        frail_disk.require(run.folder)


def _once(run: Run, seed: int) -> list[Figure]:
    """Run all disk failures once; with the seeded fault only the full disk."""
    folder = run.folder / str(seed)
    folder.mkdir()
    run.folder.chmod(0o711)  # PostgreSQL's user must be able to enter the working folder
    with _full_sqlite(folder) if run.engine == SQLITE else _full_postgres(folder) as trouble:
        figures = _measure_failure(run, seed, trouble)
    if run.fault:
        return figures
    percent = PERCENT if seed == run.seed else random.Random(seed).randint(1, PERCENT)
    with _failing_sqlite(folder, seed, percent) if run.engine == SQLITE else _dead_postgres(folder) as trouble:
        return figures + _measure_failure(run, seed, trouble)


def _measure_failure(run: Run, seed: int, trouble: Trouble) -> list[Figure]:
    token, players = asyncio.run(crash_gives.prepare(trouble.database, seed))
    with Served(run.fault or AS_IT_IS, trouble.database) as server:
        givers = Givers(server.url, token, players, seed)
        looks = Looks(server.url, token, players[0])
        with looks.at_work(), givers.at_work():
            time.sleep(CALM_SECONDS)
            began = time.monotonic()
            trouble.begin()
            if not run.fault:  # with the seeded fault answers precede the COMMIT, so no write is ever refused
                _wait(FIRST_SECONDS, lambda: bool(givers.refusals(began)))
            time.sleep(BAD_SECONDS)
            trouble.end()
            ended = time.monotonic()
            _wait(BACK_SECONDS, lambda: givers.back_after(ended) <= BACK_SECONDS)
        figures = _figures(trouble, givers, looks, began, ended)
    return [*figures, *conservation.examine(trouble.database)]


def _wait(seconds: float, until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not until():
        time.sleep(0.02)


def _figures(trouble: Trouble, givers: Givers, looks: Looks, began: float, ended: float) -> list[Figure]:
    refused, back = givers.refusals(began), givers.back_after(ended)
    readable = {OK} if trouble.reads else {OK, BUSY}
    said = f"{trouble.what}: "
    return [
        Figure(f"{said}refused writes, by status", _counts(refused), f"only {BUSY}", {*refused} == {BUSY}),
        Figure(f"{said}reads, by status", _counts(looks.reads), _any(readable), {*looks.reads} <= readable),
        Figure(f"{said}/health/live, by status", _counts(looks.lives), f"only {OK}", {*looks.lives} == {OK}),
        Timed(f"{said}first write after the failure", f"{back:.1f} s", f"<= {BACK_SECONDS} s", back <= BACK_SECONDS),
        *givers.figures(said),
    ]


def _counts(statuses: Counter[int]) -> str:
    return ", ".join(f"{count} times {status}" for status, count in sorted(statuses.items())) or "none"


def _any(statuses: set[int]) -> str:
    return "only " + " or ".join(str(each) for each in sorted(statuses))


# --- disk failures of SQLite ---------------------------------------------------------------------------------------


@contextmanager
def _full_sqlite(folder: Path) -> Generator[Trouble]:
    with _small_disk(folder / "small", SMALL) as disk:
        filler = disk / "filler"
        yield Trouble("full disk", f"sqlite:///{disk / 'world.db'}", lambda: _fill(filler), filler.unlink, reads=True)


@contextmanager
def _failing_sqlite(folder: Path, seed: int, percent: int) -> Generator[Trouble]:
    mount, kept = folder / "frail", folder / "kept"
    kept.mkdir()
    with FrailDisk(mount, kept, seed) as disk:
        what = f"{percent} % of writes and syncs fail"
        begin, end = (lambda: disk.fail(percent)), (lambda: disk.fail(0))
        yield Trouble(what, f"sqlite:///{mount / 'world.db'}", begin, end, reads=True)


# --- disk failures of PostgreSQL -----------------------------------------------------------------------------------


@contextmanager
def _full_postgres(folder: Path) -> Generator[Trouble]:
    """Fill PostgreSQL's data disk; its WAL is on another disk, since PostgreSQL stops when that one is full."""
    with _small_disk(folder / "small", LARGER) as disk, open_node(disk) as node:
        _move_log(node, folder / "log")
        node.start()
        filler = disk / "filler"
        yield Trouble("full disk", node.url, lambda: _fill(filler), filler.unlink, reads=True)


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

        yield Trouble("full log disk", node.url, begin, end, reads=False)


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
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "gk-small", str(at)],
        check=False,
        capture_output=True,
        text=True,
    )
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
