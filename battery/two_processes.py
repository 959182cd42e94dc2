"""Test a: a server and commands of `gamekeeper` on one SQLite file, one or both killed with SIGKILL many times."""

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import crash_gives
from battery import commands, realm
from battery.cases import SQLITE, Case, Figure, Run
from battery.commands import Forked
from battery.conservation import count_rounds, examine, quiet
from battery.givers import Givers
from battery.held import SQLITE_URL
from battery.served import EARLY_ANSWER, Served
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.engine.sqlite_file import find_log
from gamekeeper.store.engine.statements import Statement
from server import Server

LOST_LOG = "lost-log"  # seeded fault: delete the WAL after a kill of both processes
KILLS = 20
KILLS_PER_FILE = 100  # in the long form: the check of a file takes longer when it has more changes
COMMAND_SECONDS = 0.3  # of the first command until the kill; later ones are killed within the time of an earlier one
CLIENTS = 4
STARTING = 9  # most kills of commands while the server starts, which takes seconds
SERVING = 4  # kills of commands beside the server, before the server is killed, too
GIVE_UP_SECONDS = 10.0  # time in which the clients get their last answers
TOKENS = Statement("tokens", {"": "SELECT name, (SELECT COUNT(*) FROM tokens WHERE user_id = users.id) FROM users"})


@dataclass
class KillTotal:
    """Totals of all files."""

    kills: int = 0
    servers: int = 0  # kills that hit the server
    changes: int = 0  # acknowledged changes of the clients and the commands
    wrong: int = 0
    unresolved: int = 0
    missing: int = 0  # acknowledged changes of commands that the database does not have once
    failed: list[str] = field(default_factory=list[str])
    damage: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    @property
    def bound(self) -> str:
        return f"{300 / max(self.kills, 1):.1f}"

    @property
    def is_broken(self) -> bool:
        """Whether the database cannot be used any more: a seeded fault showed."""
        return bool(self.failed or self.damage)

    def figures(self) -> list[Figure]:
        kills = f"{self.kills} kills of commands and a server ({self.servers} hit the server; 3/n = {self.bound} %)"
        return [
            Figure.none(f"items lost or duplicated in {kills} and {self.changes} changes", self.wrong),
            Figure.none(f"damage found by integrity_check after each of {self.kills} kills", self.damage),
            Figure.none("keys without an answer beside commands", self.unresolved),
            Figure.none("accounts and tokens of commands lost or duplicated", self.missing),
            Figure.none("commands that failed", self.failed),
            Figure.none("errors found by the doctor beside commands", self.errors),
        ]


@dataclass
class Commands:
    """Commands on a database, one at a time, and what they have acknowledged."""

    database: str
    folder: Path
    total: KillTotal
    loses_log: bool  # whether the fault is seeded
    added: set[str] = field(default_factory=set[str])  # names of accounts
    issued: set[str] = field(default_factory=set[str])  # names of accounts with a token
    number: int = 0
    seconds: float = COMMAND_SECONDS  # that the last command took which was not killed

    def begin(self) -> None:
        """Begin the next command: add an account, issue its token, and back up the database."""
        self.number += 1
        self.name = f"user{self.number // 3}"
        commands = (
            ("backup", str(self.folder / "copy"), "--force"),
            ("users", "add", self.name, "--email", f"{self.name}@example.test", "--api", "--generate-password"),
            ("tokens", "issue", self.name),
        )
        self.arguments = commands[self.number % 3]
        if self.arguments[0] == "tokens" and self.name not in self.added:
            self.arguments = commands[0]
        self.begun = time.monotonic()
        self.running = Forked(self.folder / "said", *self.arguments, "--database", self.database)

    def wait(self) -> None:
        self._record(done=self.running.wait())

    def kill(self) -> bool:
        """Kill the command, and return whether it had not ended before."""
        if self.running.kill():
            for part in self.folder.glob("*.part"):
                part.unlink()
            return True
        self.wait()
        return False

    def check(self) -> None:
        checking = commands.check(self.folder / "said", self.database)
        if not checking.wait():
            self.total.damage.append(checking.describe())

    def count_missing(self) -> int:
        async def read(keeper: Keeper) -> dict[str, int]:
            return {row[0]: row[1] for row in await keeper.store.all(TOKENS)}

        found = realm.at_work(self.database, read)
        return len(self.added - found.keys()) + sum(found.get(name) != 1 for name in self.issued)

    def _record(self, *, done: bool) -> None:
        self.seconds = time.monotonic() - self.begun
        if not done:
            self.total.failed.append(self.running.describe())
        elif self.arguments[0] != "backup":
            (self.added if self.arguments[0] == "users" else self.issued).add(self.name)


def kill_two_processes(run: Run) -> list[Figure]:
    total = KillTotal()
    for seed in count_rounds(run):
        _kill_on_one_file(run, run.another(), seed, total)
        if total.is_broken:
            break
    return total.figures()


def _kill_on_one_file(run: Run, database: str, seed: int, total: KillTotal) -> None:
    token, players = asyncio.run(crash_gives.prepare(database, seed))
    chance, commands = random.Random(seed), Commands(database, run.folder, total, loses_log=run.fault == LOST_LOG)
    last = total.kills + (KILLS_PER_FILE if run.seconds else KILLS)
    server = Served(EARLY_ANSWER, database) if run.fault == EARLY_ANSWER else quiet(database)
    givers = Givers(server.url, token, players, seed, clients=CLIENTS, give_up=GIVE_UP_SECONDS)
    with ExitStack() as stack:
        stack.callback(server.stop)
        with givers.at_work(), ThreadPoolExecutor(1) as starting:
            both = True
            while total.kills < last and not total.is_broken:
                ready = starting.submit(server.start)
                for _ in range(STARTING):
                    if not ready.done():
                        _kill(None, commands, chance)
                ready.result()
                for _ in range(SERVING):
                    _kill(None, commands, chance)
                _kill(server, commands, chance, both=both)
                both = not both
            if total.is_broken:
                return
            server.start()
        total.wrong += givers.wrong()
        total.missing += commands.count_missing()
    total.unresolved += givers.unresolved
    total.changes += sum(each.good for each in givers.answers) + len(commands.added) + len(commands.issued)
    total.errors += [each.found for each in examine(database) if not each.met]


def _kill(server: Server | None, commands: Commands, chance: random.Random, *, both: bool = True) -> None:
    """Kill a command, the server, or both at a random moment of a command, and check the file."""
    commands.begin()
    time.sleep(chance.uniform(0, commands.seconds))
    if server:
        server.kill()
    if both:
        killed = commands.kill()
    else:
        commands.wait()
        killed = False
    commands.total.kills += killed or server is not None
    commands.total.servers += server is not None
    if server and both and commands.loses_log:
        find_log(Path(commands.database.removeprefix(SQLITE_URL))).unlink(missing_ok=True)
    commands.check()


CASES = (Case("a", "two processes", kill_two_processes, faults=(LOST_LOG, EARLY_ANSWER), engines=(SQLITE,)),)
