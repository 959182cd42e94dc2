"""Test k: a backup taken under load contains every change acknowledged before it, each exactly once."""

import asyncio
import random
import shutil
import sys
import time
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import httpx

import crash_gives
from battery import slow_backup
from battery.cases import SQLITE, Case, Figure, Run
from gamekeeper import app
from gamekeeper.copies.backups import Archive
from gamekeeper.copies.lines import BadCopy
from gamekeeper.ground import settings
from gamekeeper.store.engine.statements import Statement
from server import Server

CLIENTS = 8
BEFORE = 100  # number of acknowledged gives before a backup begins
FLIPS = 40
OWNER_ONLY = 0o600
TORN = "torn"  # seeded fault; SQLite: copy the file without its WAL; PostgreSQL: read each table in its own snapshot
KEYS = Statement("keys", {"": "SELECT key FROM idempotency_keys"})
HELD = Statement(
    "held", {"": "SELECT player_id, SUM(quantity) FROM slots WHERE item_id = $1 GROUP BY player_id ORDER BY player_id"}
)


@dataclass
class Gives:
    """Clients that give items continuously, each give with its own Idempotency-Key."""

    token: str
    players: list[str]
    seed: int
    sent: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    acknowledged: set[str] = field(default_factory=set[str])
    stopping: bool = False

    def next(self) -> str:
        chance = random.Random(f"{self.seed}-{len(self.sent)}")
        key = f"k-{self.seed}-{len(self.sent)}"
        self.sent[key] = (chance.choice(self.players), chance.randint(1, 9))
        return key

    def sums(self, keys: set[str]) -> dict[str, int]:
        sums: dict[str, int] = {}
        for key in keys:
            player, quantity = self.sent[key]
            sums[player] = sums.get(player, 0) + quantity
        return sums

    async def send(self, client: httpx.AsyncClient, key: str) -> None:
        player, quantity = self.sent[key]
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        body = {"itemid": crash_gives.COIN.id, "quantity": quantity}
        answer = await client.post(f"/api/v1/players/{player}/items/give", json=body, headers=headers)
        answer.raise_for_status()
        self.acknowledged.add(key)

    async def go_on(self, client: httpx.AsyncClient) -> None:
        while not self.stopping:
            await self.send(client, self.next())


@dataclass
class BackupTally:
    rounds: int = 0
    failed: list[str] = field(default_factory=list[str])  # failed gamekeeper commands with their output
    modes: set[int] = field(default_factory=set[int])
    before: int = 0
    during: int = 0
    missing: int = 0
    uneven: int = 0
    after_retries: int = 0
    flipped: int = 0
    unnoticed: int = 0

    def figures(self) -> list[Figure]:
        modes = ", ".join(f"{mode:o}" for mode in sorted(self.modes)) or "no file"
        rows = [
            ("commands that failed, in as many rounds", f"{' / '.join(self.failed) or 0} in {self.rounds}", "0"),
            ("acknowledged before the backup began and not in the copy", f"{self.missing} of {self.before}", "0"),
            (f"items too many or too few in the copy ({self.during} gives meanwhile)", f"{self.uneven}", "0"),
            ("the same after every give is sent again to the copy", f"{self.after_retries}", "0"),
            ("flipped bytes that went unnoticed", f"{self.unnoticed} of {self.flipped}", "0"),
        ]
        found = [not self.failed, not self.missing, not self.uneven, not self.after_retries, not self.unnoticed]
        figures = [Figure(*row, met=met) for row, met in zip(rows, found, strict=True)]
        busy = Figure("gives acknowledged during the backups", f"{self.during}", "> 0", self.during > 0)
        return [*figures, busy, Figure("mode of the backup file", modes, "600", self.modes == {OWNER_ONLY})]


def run(run: Run) -> list[Figure]:
    return asyncio.run(_run(run))


async def _run(run: Run) -> list[Figure]:
    token, players = await crash_gives.prepare(run.database, run.seed)
    gives, tally = Gives(token, players, run.seed), BackupTally()
    end = time.monotonic() + (run.seconds or 0)
    with Server(run.database) as server:
        while not tally.rounds or time.monotonic() < end:
            tally.rounds += 1
            await _round(run, server, gives, tally)
    return tally.figures()


async def _round(run: Run, server: Server, gives: Gives, tally: BackupTally) -> None:
    file, target = run.folder / f"{tally.rounds}.backup", await asyncio.to_thread(run.another)
    before = await _back_up_meanwhile(run, server, gives, file, tally)
    if not file.exists():
        return
    tally.modes.add(file.stat().st_mode & 0o777)
    if not run.fault:
        _flip(run, file, tally)
    if not await _gamekeeper(tally, "restore", str(file), "--keep-tokens", "--database", target):
        return
    keys, held = await _read_gives(target)
    tally.missing += len(before - keys)
    tally.uneven += _difference(held, gives.sums(keys))
    if run.fault:
        return
    await _send_again(target, gives)
    tally.after_retries += _difference((await _read_gives(target))[1], gives.sums(set(gives.sent)))


async def _back_up_meanwhile(run: Run, server: Server, gives: Gives, file: Path, tally: BackupTally) -> set[str]:
    """Back up under load, and return the keys acknowledged before the backup began."""
    gives.stopping = False
    enough = len(gives.acknowledged) + BEFORE
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client, _read_meanwhile(run):
        clients = [asyncio.create_task(gives.go_on(client)) for _ in range(CLIENTS)]
        while len(gives.acknowledged) < enough and not any(each.done() for each in clients):  # noqa: ASYNC110 - the clients need not know
            await asyncio.sleep(0.01)
        before = set(gives.acknowledged)
        await _back_up(run, file, tally)
        tally.before += len(before)
        tally.during += len(gives.acknowledged) - len(before)
        gives.stopping = True
        await asyncio.gather(*clients)
    return before


@asynccontextmanager
async def _read_meanwhile(run: Run) -> AsyncGenerator[None]:
    """With the seeded fault, hold a read open: SQLite then keeps new writes in the WAL, which the copy omits."""
    if run.fault != TORN or run.engine != SQLITE:
        yield
        return
    with closing(apsw.Connection(run.database.removeprefix("sqlite:///"))) as db:
        db.execute("BEGIN")
        db.execute("SELECT COUNT(*) FROM ledger").fetchall()
        yield


async def _back_up(run: Run, file: Path, tally: BackupTally) -> None:
    database, way = run.database, slow_backup.AS_IT_IS
    if run.fault == TORN and run.engine == SQLITE:
        copy = run.folder / f"torn-{tally.rounds}.db"
        shutil.copyfile(run.database.removeprefix("sqlite:///"), copy)
        database = f"sqlite:///{copy}"
    elif run.fault == TORN:
        way = slow_backup.TORN
    await _command(tally, "backup", "-m", "battery.slow_backup", way, str(file), database)


def _flip(run: Run, file: Path, tally: BackupTally) -> None:
    """Flip one random bit at a time in the audit log part of the backup; verification must notice each."""
    chance, whole, broken = random.Random(run.seed), file.read_bytes(), run.folder / "flipped.backup"
    with zipfile.ZipFile(file) as opened:
        ledger = opened.getinfo("ledger.jsonl")
    for _ in range(FLIPS):
        flipped = bytearray(whole)
        at = ledger.header_offset + 64 + chance.randrange(max(ledger.compress_size - 64, 1))
        flipped[at] ^= 1 << chance.randrange(8)
        broken.write_bytes(flipped)
        tally.flipped += 1
        tally.unnoticed += _is_taken_for_whole(broken)


def _is_taken_for_whole(file: Path) -> bool:
    try:
        with Archive(file) as archive:
            archive.verify(lambda _what, _done, _total: None)
    except BadCopy:
        return False
    return True


async def _send_again(target: str, gives: Gives) -> None:
    """Repeat all gives on the restored copy: known keys must replay, unknown ones are applied."""
    keys = list(gives.sent)
    with Server(target) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:

            async def work() -> None:
                while keys:
                    await gives.send(client, keys.pop())

            await asyncio.gather(*[work() for _ in range(CLIENTS)])


async def _read_gives(database: str) -> tuple[set[str], dict[str, int]]:
    """Return the keys of the gives in a database, and the quantity that each player holds."""
    store = app.open_store(settings.load({}, database=database))
    await store.open()
    try:
        keys = {row[0] for row in await store.all(KEYS)}
        return keys, {row[0]: int(row[1]) for row in await store.all(HELD, crash_gives.COIN.id)}
    finally:
        await store.close()


def _difference(found: dict[str, int], wanted: dict[str, int]) -> int:
    return sum(abs(found.get(player, 0) - wanted.get(player, 0)) for player in found.keys() | wanted.keys())


async def _gamekeeper(tally: BackupTally, *arguments: str) -> bool:
    return await _command(tally, arguments[0], "-m", "gamekeeper", *arguments)


async def _command(tally: BackupTally, name: str, *arguments: str) -> bool:
    """Run a gamekeeper command and return whether it succeeded."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=pipe, stderr=pipe)
    out, err = await process.communicate()
    if process.returncode:
        said = [*err.decode().splitlines()[-1:], *out.decode().splitlines()[:1]]
        tally.failed.append(f"{name}: {' '.join(said)}")
    return process.returncode == 0


CASES = (Case("k", "backup", run, (TORN,)),)
