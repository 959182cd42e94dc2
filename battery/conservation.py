"""Test a: after crashes, lost answers and power cuts each acknowledged change exists exactly once."""

import random
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count, product
from pathlib import Path
from threading import Event
from typing import Protocol

import httpx

from battery import frail_disk, realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, Run, beside
from battery.frail_disk import FrailDisk
from battery.givers import BROKEN, PATIENT, REPLAYED, Givers
from battery.realm import COIN, Realm
from battery.served import AS_IT_IS, EARLY_ANSWER, NORMAL, Served
from gamekeeper.ground import crash
from gamekeeper.store.engine.statements import Statement
from run_cluster import Instance

KEYS_OFF = "keys-off"
STOCK = 1_000
TELLING = ("before_commit", "after_commit")  # fail points at which the seeded faults show
KILLS, CHANGES_EACH = 3, 200  # kills in the short form, and acknowledged changes before each of them
CLIENTS, MANY_CLIENTS = 8, 32
COMMANDS = 3  # at least as many commands are killed, and as many accounts added, beside the server
COMMAND_SECONDS = 2.0  # longest time until a command is killed; a whole command takes about as long
NAMES = Statement("names", {"": "SELECT name FROM users"})


class Victim(Protocol):
    """A server that can be killed and started again."""

    def start(self) -> None: ...
    def kill(self) -> None: ...


def check_conservation(run: Run) -> list[Figure]:
    world = realm.prepare(run.database)
    figures = _crash_at_points(run, world)
    if not run.fault:
        count = 2 if run.seconds and run.engine == POSTGRES else 1
        with ExitStack() as stack:
            servers = [stack.enter_context(Instance(run.database)) for _ in range(count)]
            urls, clients = [each.url for each in servers], MANY_CLIENTS if run.seconds else CLIENTS
            givers = Givers(urls, world, run.seed, mixed=True, clients=clients)
            commands = stack.enter_context(_run_commands(run)) if run.engine == SQLITE else []
            figures += _kill_under_load(run, givers, servers, "kills")
        figures += commands
    return [*figures, _examine(run.database)]


# --- crashes at fail points ----------------------------------------------------------------------------------------


def _crash_at_points(run: Run, world: Realm) -> list[Figure]:
    """Crash at points of the write path: before the COMMIT the change must not exist; after it the key must replay."""
    chance, wanted, surprises = random.Random(run.seed), STOCK, list[str]()
    early, keyed = run.fault == EARLY_ANSWER, run.fault != KEYS_OFF
    verbs = ("give",) if run.fault else ("give", "take")
    path = f"/api/v1/players/{world.players[0]}/items"
    server = Served(EARLY_ANSWER if early else AS_IT_IS, run.database)
    with server, httpx.Client(base_url=server.url, headers=world.headers, timeout=PATIENT) as client:

        def change(verb: str, quantity: int, key: str, crash_at: str = "") -> httpx.Response | None:
            headers = {"Battery-Crash": crash_at} | ({"Idempotency-Key": key} if keyed else {})
            body = {"itemid": COIN.id, "quantity": quantity}
            try:
                return client.post(f"{path}/{verb}", json=body, headers=headers)
            except httpx.TransportError:
                return None

        change("give", STOCK, "stock")
        for point, verb in product(TELLING if run.fault else crash.POINTS, verbs):
            quantity, key = chance.randint(1, 9), f"{point}-{verb}"
            answer = change(verb, quantity, key, point)
            server.kill()
            server.start()
            again = change(verb, quantity, key) if answer is None else answer
            done = again is not None and REPLAYED in again.headers
            if answer is None and (again is None or not again.is_success or done != (point == "after_commit")):
                surprises.append(f"{key}: repeated, {again}, done before is {done}")
            elif answer is not None and not early:
                surprises.append(f"{key}: the process did not crash, {answer}")
            wanted += quantity if verb == "give" else -quantity
        off = sum(slot["Quantity"] for slot in client.get(f"{path}/inventory").json()) - wanted
        change("take", wanted + off, "all")  # the clients of the next test count what players hold from nothing
    return [
        Figure.none("items lost or duplicated in crashes at crash points", off, f"{off:+d}"),
        Figure.none("answers that do not match the crash point", surprises),
    ]


# --- servers killed with kill -9 -----------------------------------------------------------------------------------


def _kill_under_load(run: Run, givers: Givers, victims: Sequence[Victim], what: str) -> list[Figure]:
    """Kill servers while clients change items: a few times, or in the long form until the time is up."""
    chance, kills = random.Random(run.seed), 0
    with givers.at_work():
        for _ in run.rounds(1 if run.fault else KILLS):
            givers.wait_for_gives(CHANGES_EACH, since=time.monotonic())
            victim = chance.choice(victims)
            victim.kill()
            victim.start()
            kills += 1
        givers.wait_for_gives(CHANGES_EACH, since=time.monotonic())
    # Rule of three: upper bound of the failure rate after 0 failures in n
    said = f"{kills} {what} (3/n = {300 / kills:.1f} %) and {len(givers.applied)} changes"
    waiting = {BROKEN, 503}  # no answer, or that of a database that is not ready yet
    others = [
        f"{each.status} {each.body!r}"
        for each in givers.answers
        if not each.is_final and each.status not in waiting and b"idempotency_in_progress" not in each.body
    ]
    return [
        Figure.none("other answers than a result, a refusal by a rule or 503", others),
        Figure.none(f"items lost or duplicated in {said}", givers.wrong()),
        Figure.none("keys without an answer", givers.unresolved),
        Figure.none("keys with another answer on retry", givers.count_other_answers()),
    ]


@contextmanager
def _run_commands(run: Run) -> Generator[list[Figure]]:
    """Run `gamekeeper users add` and `backup` beside the server, and kill every second one; find what is lost."""
    added, killed, failed, figures = list[str](), 0, list[str](), list[Figure]()

    def work(over: Event) -> None:
        nonlocal killed
        chance = random.Random(run.seed)
        for number in count():
            name = f"user{number}"
            add = ("users", "add", name, "--email", f"{name}@example.test", "--generate-password")
            command = add if number % 3 else ("backup", str(run.folder / f"copy{number}"))
            process = subprocess.Popen(
                [sys.executable, "-m", "gamekeeper", *command, "--database", run.database], stdout=subprocess.DEVNULL
            )
            if number % 2:
                time.sleep(chance.uniform(0, COMMAND_SECONDS))
                process.kill()
            killed += process.wait() < 0
            if process.returncode > 0:
                failed.append(f"{command[0]}: {process.returncode}")
            if process.returncode == 0 and command is add:
                added.append(name)
            if over.is_set() and min(killed, len(added)) >= COMMANDS:
                return

    with beside(work):
        yield figures
    names = {row[0] for row in realm.at_work(run.database, lambda keeper: keeper.store.all(NAMES))}
    missing = [each for each in added if each not in names]
    figures += [
        Figure.none(f"commands that failed beside the server; {killed} others were killed", failed),
        Figure.none(f"accounts lost, of {len(added)} that commands had added", missing),
    ]


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


def cut_power(run: Run) -> list[Figure]:
    frail_disk.require(run.folder)
    (run.folder / "kept").mkdir()
    database = f"sqlite:///{run.folder / 'kept' / 'world.db'}"
    world = realm.prepare(database)
    server = Unplugged(run.fault or AS_IT_IS, run.folder, run.seed)
    server.start()
    try:
        figures = _kill_under_load(run, Givers([server.url], world, run.seed, mixed=True), [server], "power cuts")
    finally:
        server.kill()
    return [*figures, _examine(database)]


def _examine(database: str) -> Figure:
    return Figure.none("errors found by the doctor", realm.list_errors(database))


CASES = (
    Case("a", "conservation", check_conservation, faults=(KEYS_OFF, EARLY_ANSWER), fault_engines=(SQLITE,)),
    Case("a", "power loss", cut_power, faults=(NORMAL,), engines=(SQLITE,)),
)
