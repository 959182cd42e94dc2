"""Benchmark part T10: speed of loading players on SQLite, beside plain `executemany` of the same rows."""

import gc
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import apsw

from benchmarks.results import Results, Sample, Verdict, compare
from benchmarks.rounds import Bench, order
from gamekeeper.cli import terminal
from gamekeeper.demo import loader
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.engine.sqlite import BULK_LOAD_CACHE_KIB

PLAYERS = 100_000
OURS, PLAIN = "gamekeeper demo --players", "executemany"
HELD = ("slots", "known_spells", "player_variables")
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA cache_size = -{BULK_LOAD_CACHE_KIB}",
)
# Triggers that fill the ordered lists and the search index
LISTING = ("players_listed", "users_listed", "players_by_part_added", "users_by_part_added")
INDEXES = ("players_by_rank", "players_by_user")

Rows = list[tuple[Any, ...]]
Batch = dict[str, Rows]  # rows by table name; tables in an order that foreign keys allow


def run(bench: Bench, _: Collection[str]) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        empty, full = Path(folder) / "empty.db", Path(folder) / "full.db"
        run_on(empty, fill)
        shutil.copyfile(empty, full)
        run_on(full, load)
        batches = read_batches(empty, full)
        gc.freeze()  # exempt the rows from garbage collection, which would scan them again and again
        ours, plain = partial(run_on, work=load), partial(insert, batches=batches)
        candidates: list[tuple[str, Callable[[Path], None]]] = [(OURS, ours), (PLAIN, plain)]
        samples = [
            _measure(number, name, work, empty)
            for number in range(bench.rounds)
            for name, work in order(candidates, number)
        ]
    figure = compare(samples, PLAIN, OURS)
    what = f"{PLAYERS:,} players loaded on SQLite, per second and core, vs. executemany of the same rows"
    return Results(samples=samples, verdicts=[Verdict("T10", what, figure, 0.4, 0.7, at_least=True)])


def _measure(number: int, name: str, work: Callable[[Path], None], empty: Path) -> Sample:
    path = empty.with_name(f"round{number}.db")
    shutil.copyfile(empty, path)
    began, used = time.perf_counter(), time.process_time()
    work(path)
    used, took = time.process_time() - used, time.perf_counter() - began
    path.unlink()
    return Sample("T10", name, number, used * 1e6 / PLAYERS, PLAYERS / took, 0, 0, PLAYERS)


async def fill(keeper: Keeper) -> None:
    await migrate(keeper.store)
    await loader.fill(keeper, "benchmark")


async def load(keeper: Keeper) -> None:
    await loader.load_players(keeper, PLAYERS, lambda _: None)


def run_on(path: Path, work: Callable[[Keeper], Coroutine[Any, Any, None]]) -> None:
    terminal.run_with_keeper(settings.load({}, database=f"sqlite:///{path}"), work)


def insert(path: Path, batches: Sequence[Batch]) -> None:
    """Insert rows by executemany, without work that our loader avoids too: list changes, index updates row by row."""
    db = apsw.Connection(str(path))
    made = [row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE name IN (?, ?)", INDEXES)]
    drops = [f"DROP TRIGGER {each}" for each in LISTING] + [f"DROP INDEX {each}" for each in INDEXES]
    for each in (*PRAGMAS, *drops):
        db.execute(each)
    for batch in batches:
        db.execute("BEGIN IMMEDIATE")
        for table, rows in batch.items():
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608 - our tables
        db.execute("COMMIT")
    for each in made:
        db.execute(each)
    db.close()


def read_batches(empty: Path, full: Path) -> list[Batch]:
    """Return the rows that Gamekeeper's loader inserted, in its order and batch size."""
    db = apsw.Connection(str(full))
    db.execute("ATTACH ? AS empty", [str(empty)])
    known = "SELECT * FROM main.{0} WHERE id NOT IN (SELECT id FROM empty.{0}) ORDER BY rowid"
    users, players = (db.execute(known.format(table)).fetchall() for table in ("users", "players"))
    ordered = {table: db.execute(f"SELECT * FROM main.{table} ORDER BY player_id") for table in HELD}  # noqa: S608 - our tables
    held = {table: {key: list(rows) for key, rows in groupby(found, itemgetter(0))} for table, found in ordered.items()}
    db.close()
    batches: list[Batch] = []
    for first in range(0, len(players), loader.BATCH_SIZE):
        some = players[first : first + loader.BATCH_SIZE]
        theirs = {table: [row for player in some for row in held[table][player[0]]] for table in HELD}
        batches.append({"users": users[first : first + loader.BATCH_SIZE], "players": some, **theirs})
    return batches
