"""Benchmark databases ("worlds") with many players on either engine, made once by the demo's loader and kept."""

import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.load import MANY, Load
from gamekeeper.cli import terminal
from gamekeeper.demo import loader, world
from gamekeeper.game.access import tokens
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.migrate import SchemaMismatch, migrate
from pair import fetch, wheel

DATA = Path(__file__).parent / "data"
SMALL, MIDDLE, BIG = 10_000, 1_000_000, 5_000_000
ENGINES = SQLITE, POSTGRES = "sqlite", "postgres"
PASSWORD = "benchmark"  # noqa: S105 - of a database that only this program serves
TOKENS = 500
TOKEN_HOURS = 24 * 365 * 10  # hours: lifetime of tokens; ten years, because a benchmark world is kept
MOST_KEYS = 100_000  # most player keys in a request file; more than a run uses


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

    @property
    def bearer(self) -> dict[str, str]:
        """Return the header of a caller."""
        return {"Authorization": f"Bearer {self.tokens.read_text(encoding='utf-8').split()[0]}"}

    def lookups(self, connections: int = MANY) -> Load:
        """Look random players up, by name and by id in turn."""
        return self.load("lookups", lambda number: f"GET /api/v1/players/{_key(number)}", connections)

    def gives(self) -> Load:
        """Give an item to random players, with an Idempotency-Key in each request."""
        body = f'{{"itemid":"{world.COIN.id}","quantity":1,"bankoverflow":true}}'
        return self.load("gives", lambda number: f"POST /api/v1/players/{_key(number)}/items/give {body}", keyed=True)

    def load(
        self, name: str, line: Callable[[int], str], connections: int = MANY, expected: int = 0, *, keyed: bool = False
    ) -> Load:
        """Make a load of one request for each of some random numbers of players. Its file is the same in every run."""
        path, dice = self.folder / name, random.Random(name)
        if not path.exists():
            lines = dict.fromkeys(line(dice.randrange(self.players)) for _ in range(MOST_KEYS))
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return Load(path, self.tokens, connections, expected, keyed)


class Worlds:
    """All benchmark databases; PostgreSQL is started when the first of its databases is requested."""

    def __init__(self) -> None:
        self._cluster: Any = None

    def describe(self) -> dict[str, str]:
        return {"postgresql": fetch(self._cluster.get_uri(), "SHOW server_version")[0][0]} if self._cluster else {}

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
        if not self._cluster:
            self._cluster = wheel().get_server(DATA / "cluster", cleanup_mode="stop")
            # the process of each connection inherits the core
            machine.pin(self._cluster.get_pid(), machine.cores().server)
        name = folder.name
        if not fetch(self._cluster.get_uri(), "SELECT 1 FROM pg_database WHERE datname = $1", name):
            fetch(self._cluster.get_uri(), f"CREATE DATABASE {name}")
        return self._cluster.get_uri(name)

    def _empty(self, found: BenchWorld) -> None:
        """Delete a world whose schema this version does not know; it will be made again."""
        shutil.rmtree(found.folder)
        found.folder.mkdir()
        if found.engine == POSTGRES:
            fetch(self._cluster.get_uri(), f"DROP DATABASE {found.folder.name}")
            self._url(found.engine, found.folder)


def _folder(engine: str, players: int) -> Path:
    return DATA / f"{engine}_{players}"


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
        fetch(made.url, "VACUUM (ANALYZE)")  # vacuum now, so that no automatic vacuum disturbs a measurement
        fetch(made.url, "CHECKPOINT")
    # the token file is written last, because it marks a complete world
    made.tokens.write_text("\n".join(issued) + "\n", encoding="utf-8")


async def _fill(keeper: Keeper, players: int) -> list[str]:
    await migrate(keeper.store)
    await loader.fill(keeper, PASSWORD)
    await loader.load_players(keeper, players, lambda _: None)
    caller = await users.find_by_id(keeper.store, world.make_stable_id("user", world.API_ACCOUNT))
    if caller is None:
        raise machine.Stop("The demo's world has no API account.")
    pairs = [await tokens.issue_for_service(keeper, caller, TOKEN_HOURS, read_only=False) for _ in range(TOKENS)]
    return [pair.access for pair in pairs]


def _key(number: int) -> str:
    """Return the name of a player, or of every other one the id."""
    return world.make_numbered_id("player", number) if number % 2 else world.make_numbered_name(number)
