"""Test j: every schema since the baseline is migrated without harm to its rows, also if the migration is killed.

There is no older release yet. So the current program is version N-1 here, and version N is the current program with two
more migrations that are safe during operation: they add columns and tables and remove nothing.
"""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from battery.cases import POSTGRES, SQLITE, Case, Figure, Run
from gamekeeper.ground import crash
from gamekeeper.store.engine.interface import Store, Value, Writing
from gamekeeper.store.engine.migrate import SQL, Migration, load_migrations, migrate, split_script
from gamekeeper.store.engine.statements import Statement
from server import Server, free_port

TESTS = Path(__file__).parent.parent / "tests"
sys.path += [str(TESTS / "support"), str(TESTS / "contract")]  # the test data is in the folder tests

import good_requests  # noqa: E402 - needs the path that is set above
import state  # noqa: E402 - needs the path that is set above

import people  # noqa: E402 - needs the path that is set above
import world as worlds  # noqa: E402 - needs the path that is set above

LOSSY, IN_PIECES = "lossy-migration", "migration-in-pieces"
# tables that migrations and triggers write themselves: their rows before and after a migration are not compared
OWN = {"migrations", "lists", "list_changes"}
COLUMNS = {
    SQLITE: "SELECT name FROM pragma_table_info('{}') ORDER BY name",
    POSTGRES: "SELECT column_name FROM information_schema.columns WHERE table_name = '{}' ORDER BY column_name",
}
ADDED = "ALTER TABLE {} ADD COLUMN later {{long}};\nCREATE TABLE later_{} (id {{guid}} PRIMARY KEY) {{strict}};\n"
NEXT = [
    *load_migrations(),
    *(
        Migration(load_migrations()[-1].number + number, f"later_{table}", ADDED.format(table, table))
        for number, table in enumerate(("players", "users"), 1)
    ),
]
LOSS = "DELETE FROM slots WHERE slot = 0;\n"
SERVED_SECONDS = 1.0  # seconds of load before and after the migration
Rows = dict[str, list[dict[str, object]]]  # rows by table name


def upgrades(run: Run) -> list[Figure]:
    tokens = asyncio.run(worlds.prepare(run.database))
    rows = _fill_tables(run.database, tokens)
    if run.fault == IN_PIECES:
        return _kill_half_way(run, run.another(), rows)
    if run.fault == LOSSY:
        return _from_every_schema(run, rows)
    with ThreadPoolExecutor(1) as beside:  # run the killed migrations in a thread on the second core
        killed = beside.submit(_kill_half_way, run, run.another(), rows)
        figures = _from_every_schema(run, rows)
        return [*figures, *killed.result(), *_side_by_side(run, tokens["Root"])]


# --- filling and comparing rows ------------------------------------------------------------------------------------


@contextmanager
def _open_world(url: str) -> Generator[worlds.World]:
    """Open a database as a test world without migrating it."""
    loop = asyncio.new_event_loop()
    world = worlds.World(url, {}, loop)
    try:
        yield world
    finally:
        world.close()
        loop.close()


def _fill_tables(url: str, tokens: Mapping[str, str]) -> Rows:
    """Fill every table of the current schema with test data, and return the rows."""
    with _open_world(url) as world:
        world.tokens = tokens
        good_requests.furnish(world)
        world.get("/api/v1/users/Bob/password/reset", headers={"idempotency-key": "k"})
        world.post(f"/api/link/v1/servers/{good_requests.SERVER}/joined", {"Players": [people.BOB.id]})
        world.post("/api/v1/users/Ann/password/validate", {"password": good_requests.NEW_PASSWORD})
        tables = [table for table in state.tables() if table not in OWN]
        return {table: _values(world, table, _columns(world, table)) for table in tables}


def _columns(world: worlds.World, table: str) -> list[str]:
    return [row[0] for row in world.sql(COLUMNS[world.keeper.store.engine].format(table))]


def _values(world: worlds.World, table: str, names: Sequence[str]) -> list[dict[str, object]]:
    rows = world.sql(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608 - names out of the catalogue
    return [dict(zip(names, row, strict=True)) for row in rows]


def _at_schema(url: str, number: int, rows: Rows) -> Rows:
    """Make a database with the first `number` migrations; insert the rows that fit; return all its rows."""
    with _open_world(url) as world:
        world.run(migrate(world.keeper.store, NEXT[:number]))
        columns = {table: names for table in rows if (names := _columns(world, table))}
        for table, names in columns.items():
            # insert into empty tables only: the others have rows that a migration inserted
            if not _values(world, table, names):
                places = ", ".join(f"${number}" for number in range(1, len(names) + 1))
                text = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - names out of the catalogue
                for each in rows[table]:
                    world.sql(text, *map(each.get, names))
        return {table: _values(world, table, names) for table, names in columns.items()}


def _count_harmed(url: str, before: Rows) -> int:
    """Count rows that the migration has lost or changed in their original columns."""
    with _open_world(url) as world:
        return sum(
            len(_checksums(rows) - _checksums(_values(world, table, list(rows[0]))))
            for table, rows in before.items()
            if rows
        )


def _checksums(rows: list[dict[str, object]]) -> set[str]:
    return {hashlib.sha256(repr(sorted(row.items())).encode()).hexdigest() for row in rows}


# --- migrations from every earlier schema --------------------------------------------------------------------------


def _from_every_schema(run: Run, rows: Rows) -> list[Figure]:
    migrations = list(NEXT)
    if run.fault == LOSSY:
        migrations[-1] = migrations[-1]._replace(text=f"{migrations[-1].text}{LOSS}")
    compared = harmed = 0
    for number in range(1, len(migrations)):
        url = run.another()
        before = _at_schema(url, number, rows)
        with _open_world(url) as world:
            world.run(migrate(world.keeper.store, migrations))
        compared += sum(map(len, before.values()))
        harmed += _count_harmed(url, before)
    first, last = migrations[0].number, migrations[-1].number
    numbers = f"schemas {first} to {last - 1} brought to {last}"
    return [Figure.none(f"{numbers}: rows lost or altered, of {compared:,}", harmed)]


# --- killed migrations ---------------------------------------------------------------------------------------------


def _kill_half_way(run: Run, url: str, rows: Rows) -> list[Figure]:
    """Kill the migration before its first COMMIT, then before the second, and so on; the next run completes it."""
    before = _at_schema(url, 1, rows)
    numbers = range(1, len(NEXT) + 1)
    deaths = sum(_run_migration(run, url, crash_at=each).returncode == -signal.SIGKILL for each in numbers)
    last = _run_migration(run, url)
    harmed = _count_harmed(url, before)
    return [
        Figure.equal("migrations killed before their COMMIT", deaths, len(numbers)),
        Figure(
            "next run of the migration", (last.stderr.splitlines() or ["success"])[-1], "success", last.returncode == 0
        ),
        Figure.none("rows lost or altered by the killed migrations", harmed),
    ]


def _run_migration(run: Run, url: str, crash_at: int | None = None) -> subprocess.CompletedProcess[str]:
    program = ["battery.upgrades", url, *([IN_PIECES] if run.fault == IN_PIECES else [])]
    environment = {**os.environ, **({crash.VARIABLE: f"before_commit:{crash_at}"} if crash_at else {})}
    return subprocess.run(
        [sys.executable, "-m", *program], env=environment, capture_output=True, text=True, check=False, timeout=300
    )


async def _migrate_in_pieces(store: Store) -> None:
    """Seeded fault: run each statement of a migration in its own transaction."""
    applied = {row[0] for row in await store.all(SQL.applied_migrations)}
    for migration in NEXT:
        if migration.number not in applied:
            for text in split_script(migration.text, store.engine):
                await store.write(_one(Statement(migration.name, {"": text})))
            await store.write(_one(SQL.record_migration, migration.number, migration.name, migration.checksum))


def _one(statement: Statement, *values: Value) -> Callable[[Writing], Coroutine[Any, Any, None]]:
    async def execute(tx: Writing) -> None:
        await tx.returning(statement, *values)

    return execute


# --- an older program beside a migration ---------------------------------------------------------------------------


def _side_by_side(run: Run, token: str) -> list[Figure]:
    """Serve with the older program during a migration; if started afterwards, it must refuse the newer schema."""
    answers: list[int] = []
    over = threading.Event()

    def keep_asking(url: str) -> None:
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as client:
            while not over.is_set():
                answers.append(client.get("/api/v1/players/Ann").status_code)
                gift = client.post("/api/v1/players/Bob/items/give", json=dict(good_requests.GIVE))
                answers.append(gift.status_code)

    with Server(run.database) as server, ThreadPoolExecutor(1) as beside:
        asking = beside.submit(keep_asking, server.url)
        time.sleep(SERVED_SECONDS)
        try:
            with _open_world(run.database) as world:
                world.run(migrate(world.keeper.store, NEXT))
            time.sleep(SERVED_SECONDS)
        finally:
            over.set()
        asking.result()
    other = len([each for each in answers if each not in {200, 503}])
    refused = [_run_command(run, each) for each in (["migrate"], ["serve", "--port", str(free_port())])]
    polite = sum("newer Gamekeeper" in each.stderr and each.returncode == 1 for each in refused)
    return [
        Figure.none(f"answers other than 200 and 503 during a migration, of {len(answers)}", other),
        Figure.equal("last answer after the migration", answers[-1], 200),
        Figure.equal("older programs that refuse the newer schema with a message", polite, 2),
    ]


def _run_command(run: Run, command: list[str]) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "gamekeeper", *command, "--database", run.database]
    return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=300)


CASES = (Case("j", "upgrades", upgrades, (LOSSY, IN_PIECES), fault_engines=(SQLITE,)),)

if __name__ == "__main__":
    with _open_world(sys.argv[1]) as opened:
        store = opened.keeper.store
        opened.run(_migrate_in_pieces(store) if IN_PIECES in sys.argv else migrate(store, NEXT))
