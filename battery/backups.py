"""Test k: a backup taken under load contains every change acknowledged before it, each exactly once."""

import asyncio
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import httpx

from battery import realm, slow_backup
from battery.cases import SQLITE, Case, Figure, Run
from battery.givers import PATIENT, Givers
from battery.realm import COIN
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.engine.statements import Statement
from server import Server

BEFORE = 100  # number of acknowledged gives before a backup begins
OWNER_ONLY = 0o600
TORN = "torn"  # seeded fault; SQLite: copy the file without its WAL; PostgreSQL: read each table in its own snapshot
KEYS = Statement("keys", {"": "SELECT key FROM idempotency_keys"})
HELD = Statement("held", {"": "SELECT player_id, SUM(quantity) FROM slots WHERE item_id = $1 GROUP BY player_id"})


@dataclass
class BackupTally:
    rounds: int = 0
    failed: list[str] = field(default_factory=list[str])  # failed gamekeeper commands with their output
    modes: set[str] = field(default_factory=set[str])
    before: int = 0
    during: int = 0
    missing: int = 0
    uneven: int = 0
    after_retries: int = 0

    def figures(self) -> list[Figure]:
        missing, failed = f"{self.missing} of {self.before}", f"{' / '.join(self.failed) or 0} in {self.rounds}"
        return [
            Figure.none("commands that failed, in as many rounds", self.failed, failed),
            Figure.none("acknowledged before the backup began and not in the copy", self.missing, missing),
            Figure.none(f"items too many or too few in the copy ({self.during} gives meanwhile)", self.uneven),
            Figure.none("the same after every give is sent again to the copy", self.after_retries),
            Figure("gives acknowledged during the backups", f"{self.during}", "> 0", self.during > 0),
            Figure.equal("mode of the backup file", ", ".join(self.modes), f"{OWNER_ONLY:o}"),
        ]


def back_up(run: Run) -> list[Figure]:
    tally = BackupTally()
    world = realm.prepare(run.database)
    with Server(run.database) as server:
        givers = Givers([server.url], world, run.seed)
        for _ in run.rounds():
            tally.rounds += 1
            _compare_copy(run, givers, tally)
    return tally.figures()


def _compare_copy(run: Run, givers: Givers, tally: BackupTally) -> None:
    """Back up under load, restore, and compare the copy with the changes that it has."""
    file, target = run.folder / f"{tally.rounds}.backup", run.another()
    with givers.at_work(), _read_meanwhile(run):
        givers.wait_for_gives(BEFORE, since=time.monotonic())
        before = set(givers.applied)
        _back_up(run, file, tally)
        during = len(givers.applied) - len(before)
    tally.before += len(before)
    tally.during += during
    if not file.exists():
        return
    tally.modes.add(f"{file.stat().st_mode & 0o777:o}")
    if not _command(tally, "restore", "gamekeeper", "restore", str(file), "--keep-tokens", "--database", target):
        return
    keys, held = realm.at_work(target, _read_gives)
    kept = [number for number in range(1, givers.number + 1) if givers.key(number) in keys]
    tally.missing += len(before - set(kept))
    tally.uneven += _difference(held, givers.sums(kept))
    if not run.fault:
        asyncio.run(_send_again(target, givers))
        held = realm.at_work(target, _read_gives)[1]
        tally.after_retries += _difference(held, givers.sums(range(1, givers.number + 1)))


@contextmanager
def _read_meanwhile(run: Run) -> Generator[None]:
    """With the seeded fault, hold a read open: SQLite then keeps new writes in the WAL, which the copy omits."""
    if run.fault != TORN or run.engine != SQLITE:
        yield
        return
    with closing(apsw.Connection(run.database.removeprefix("sqlite:///"))) as db:
        db.execute("BEGIN")
        db.execute("SELECT COUNT(*) FROM ledger").fetchall()
        yield


def _back_up(run: Run, file: Path, tally: BackupTally) -> None:
    database, way = run.database, slow_backup.AS_IT_IS
    if run.fault == TORN and run.engine == SQLITE:
        copy = run.folder / f"torn-{tally.rounds}.db"
        shutil.copyfile(run.database.removeprefix("sqlite:///"), copy)
        database = f"sqlite:///{copy}"
    elif run.fault == TORN:
        way = slow_backup.TORN
    _command(tally, "backup", "battery.slow_backup", way, str(file), database)


async def _send_again(target: str, givers: Givers) -> None:
    """Repeat all gives on the restored copy: known keys must replay, unknown ones are applied."""
    with Server(target) as server:
        async with httpx.AsyncClient(base_url=server.url, headers=givers.realm.headers) as client:
            for number in range(1, givers.number + 1):
                await givers.send(client, number, PATIENT)


async def _read_gives(keeper: Keeper) -> tuple[set[str], Counter[str]]:
    """Return the keys of the gives in a database, and the quantity that each player holds."""
    keys = {row[0] for row in await keeper.store.all(KEYS)}
    return keys, Counter({row[0]: int(row[1]) for row in await keeper.store.all(HELD, COIN.id)})


def _difference(found: Counter[str], wanted: Counter[str]) -> int:
    return sum(abs(found[player] - wanted[player]) for player in found.keys() | wanted.keys())


def _command(tally: BackupTally, name: str, module: str, *arguments: str) -> bool:
    """Run a gamekeeper command and return whether it succeeded."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        said = [*done.stderr.splitlines()[-1:], *done.stdout.splitlines()[:1]]
        tally.failed.append(f"{name}: {' '.join(said)}")
    return done.returncode == 0


CASES = (Case("k", "backup", back_up, (TORN,)),)
