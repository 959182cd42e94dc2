"""Test a: after crashes, lost answers and power cuts each acknowledged change exists exactly once."""

import asyncio
import random
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

import crash_gives
from battery import frail_disk, held, realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, Run
from battery.frail_disk import FrailDisk
from battery.served import AS_IT_IS, EARLY_ANSWER, NORMAL, Served
from crash_gives import COIN, PATIENT, REPLAYED
from gamekeeper.doctor.examination import examine as run_doctor
from gamekeeper.doctor.findings import ERROR
from gamekeeper.ground import crash
from server import Server

KEYS_OFF = "keys-off"
STOCK = 1_000
# fail points at which the seeded faults show; batches of changes are tested only there
TELLING = ("before_commit", "after_commit")
BATCH, GATHER_SECONDS = 5, 0.1


def check_conservation(run: Run) -> list[Figure]:
    figures = _at_fail_points(run)
    if not run.fault:
        figures += asyncio.run(_kill_under_load(run))
    return [*figures, *examine(run.database)]


# --- crashes at fail points ----------------------------------------------------------------------------------------


@dataclass
class Points:
    """Sends changes with keys to a server that crashes at a named point of the write path."""

    server: Server
    token: str
    player: str
    with_keys: bool
    early: bool  # whether the fault is seeded: the server answers before the COMMIT
    crashes: int = 0
    wanted: int = STOCK
    surprises: list[str] = field(default_factory=list[str])

    def change(self, verb: str, quantity: int, key: str, crash_at: str = "") -> httpx.Response | None:
        headers = {"Authorization": f"Bearer {self.token}", "Battery-Crash": crash_at}
        if self.with_keys:
            headers["Idempotency-Key"] = key
        body = {"itemid": COIN.id, "quantity": quantity}
        try:
            path = f"{self.server.url}/api/v1/players/{self.player}/items/{verb}"
            return httpx.post(path, json=body, headers=headers, timeout=PATIENT)
        except httpx.TransportError:
            return None

    def crash(self, point: str, verb: str, quantity: int) -> None:
        """Crash the server at a point: before the COMMIT the change must not exist; after it the key must replay."""
        key = f"{point}-{verb}"
        answer = self.change(verb, quantity, key, point)
        self.server.kill()
        self.server.start()
        self.crashes += 1
        if answer is None:
            self._ask_again(verb, quantity, key, done=point == "after_commit")
        elif not self.early:
            self.surprises.append(f"{key}: the process did not crash, {answer}")
        self.wanted += quantity if verb == "give" else -quantity

    def crash_batch(self, point: str, quantity: int) -> None:
        """Crash at the COMMIT of a batch of changes, which gather while an earlier change waits for the write lock."""
        keys = [f"{point}-batch-{number}" for number in range(BATCH)]
        # Battery-Crash header of each request: the first change commits alone, so the batch's COMMIT is the second
        armed = ["", f"{point}:2", *[""] * (BATCH - 2)]
        with ThreadPoolExecutor(BATCH) as several:
            with held.writes(self.server.database):
                asked = list[Future[httpx.Response | None]]()
                for key, crash_at in zip(keys, armed, strict=True):
                    asked.append(several.submit(self.change, "give", quantity, key, crash_at))
                    time.sleep(GATHER_SECONDS)
            answered = [key for key, each in zip(keys, asked, strict=True) if each.result()]
        self.server.kill()
        self.server.start()
        self.crashes += 1
        # How many changes are in the second commit depends on how busy the machine is.
        done = [key for key in keys if self._repeat("give", quantity, key)]
        if not set(answered) <= set(done):
            self.surprises.append(f"{point}: of a batch {answered} were answered, but only {done} were done")
        if done == (keys if point == "before_commit" else answered):
            self.surprises.append(f"{point}: the process did not crash at the commit of a batch, {done} were done")
        self.wanted += quantity * BATCH

    def _ask_again(self, verb: str, quantity: int, key: str, *, done: bool) -> None:
        if self._repeat(verb, quantity, key) != done:
            self.surprises.append(f"{key}: done is {not done}")

    def _repeat(self, verb: str, quantity: int, key: str) -> bool:
        """Send a change again with its key, and return whether it was done before."""
        answer = self.change(verb, quantity, key)
        if answer is None or not answer.is_success:
            self.surprises.append(f"{key}: {answer}")
            return False
        return REPLAYED in answer.headers

    def count_held(self) -> int:
        headers = {"Authorization": f"Bearer {self.token}"}
        slots = httpx.get(f"{self.server.url}/api/v1/players/{self.player}/items/inventory", headers=headers).json()
        return sum(slot["Quantity"] for slot in slots)


def _at_fail_points(run: Run) -> list[Figure]:
    token, players = asyncio.run(crash_gives.prepare(run.database, run.seed))
    way = EARLY_ANSWER if run.fault == EARLY_ANSWER else AS_IT_IS
    chance = random.Random(run.seed)
    with Served(way, run.database) as server:
        early = run.fault == EARLY_ANSWER
        points = Points(server, token, players[0], with_keys=run.fault != KEYS_OFF, early=early)
        points.change("give", STOCK, "stock")
        for point in TELLING if run.fault else crash.POINTS:
            points.crash(point, "give", chance.randint(10, 19))
            if not run.fault:
                points.crash(point, "take", chance.randint(1, 9))
        if run.engine == SQLITE and not run.fault:
            for point in TELLING:
                points.crash_batch(point, chance.randint(1, 9))
        off = points.count_held() - points.wanted
    return [
        Figure.none(f"items lost or duplicated in {points.crashes} crashes at crash points", off, f"{off:+d}"),
        Figure.none("answers that do not match the crash point", points.surprises),
    ]


# --- servers killed with kill -9 -----------------------------------------------------------------------------------


@dataclass
class Total:
    """Totals of all rounds with kill -9."""

    answered: int = 0
    kills: int = 0
    wrong: int = 0
    unresolved: int = 0
    unkept: int = 0

    def add(self, done: crash_gives.CrashRun) -> None:
        self.answered += done.answered
        self.kills += done.kills
        self.wrong += done.wrong
        self.unresolved += done.unresolved
        self.unkept += done.unkept

    def figures(self, how: str) -> list[Figure]:
        # Rule of three: upper bound of the failure rate after 0 failures in n
        bound = f" (3/n = {300 / self.kills:.1f} %)"
        what = f"items lost or duplicated in {self.kills} {how}{bound} and {self.answered} changes"
        return [
            Figure.none(what, self.wrong),
            Figure.none("keys without an answer", self.unresolved),
            Figure.none("keys with another answer on retry", self.unkept),
        ]


async def _kill_under_load(run: Run) -> list[Figure]:
    total = Total()
    instances = 2 if run.seconds and run.engine == POSTGRES else 1
    for seed in count_rounds(run):
        token, players = await crash_gives.prepare(run.database, seed)
        with ExitStack() as stack:
            servers = [stack.enter_context(quiet(run.database)) for _ in range(instances)]
            gives, clients, kills = (2_000, 32, 10) if run.seconds else (600, 8, 3)
            done = crash_gives.CrashRun(servers, token, players, seed, gives, clients, kills, with_keys=True)
            await crash_gives.measure(done)
        total.add(done)
    return total.figures("kills")


def quiet(database: str) -> Server:
    server = Server(database)
    server.stderr = subprocess.DEVNULL
    return server


def count_rounds(run: Run) -> Iterator[int]:
    """Yield a seed for each round of the test; the short form has one round."""
    until = time.monotonic() + (run.seconds or 0)
    seed = run.seed
    yield seed
    while time.monotonic() < until:
        seed += 1
        yield seed


# --- power cuts of the disk ----------------------------------------------------------------------------------------


class Unplugged:
    """A server on a disk that loses unsynced writes; killing it cuts the power of server and disk."""

    def __init__(self, way: str, folder: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._mount, self._folder = folder / "mount", folder / "kept"
        self._server = Served(way, f"sqlite:///{self._mount / 'world.db'}")
        self.url = self._server.url

    def start(self) -> None:
        self._disk = FrailDisk(self._mount, self._folder, self._chance.randrange(10**6))
        self._disk.start()
        try:
            self._server.start()
        except BaseException:
            self._disk.close()
            raise

    def kill(self) -> None:
        self._disk.cut(after=self._chance.randint(1, 20))
        self._server.kill()
        self._disk.close()

    async def restart(self) -> None:
        await asyncio.to_thread(self.start)


def cut_power(run: Run) -> list[Figure]:
    frail_disk.require(run.folder)
    kept = run.folder / "kept"
    kept.mkdir()
    database = f"sqlite:///{kept / 'world.db'}"
    total = Total()
    for seed in count_rounds(run):
        total.add(asyncio.run(_cut(run, database, seed)))
    return [*total.figures("power cuts"), *examine(database)]


async def _cut(run: Run, database: str, seed: int) -> crash_gives.CrashRun:
    token, players = await crash_gives.prepare(database, seed)
    server = Unplugged(NORMAL if run.fault == NORMAL else AS_IT_IS, run.folder, seed)
    server.start()
    try:
        gives, kills = (400, 1) if run.fault else (1_200, 3)
        done = crash_gives.CrashRun([server], token, players, seed, gives, 8, kills, with_keys=True)
        await crash_gives.measure(done)
    finally:
        server.kill()
    return done


# --- checks with the doctor ----------------------------------------------------------------------------------------


def examine(database: str) -> list[Figure]:
    """Run the doctor, which also checks that the audit log adds up to the items in all slots."""
    found = realm.at_work(database, lambda keeper: run_doctor(keeper, lambda _what, _done, _total: None))
    errors = [each.message for each in found if each.level == ERROR]
    return [Figure.none("errors found by the doctor", errors)]


CASES = (
    Case("a", "conservation", check_conservation, faults=(KEYS_OFF, EARLY_ANSWER), fault_engines=(SQLITE,)),
    Case("a", "power loss", cut_power, faults=(NORMAL,), engines=(SQLITE,)),
)
