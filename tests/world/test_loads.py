"""Bulk loads write the same rows as the write path, and a killed load is completed by the next one."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

import catalogues
import pytest

from databases import lend
from demo_databases import at_work
from findings import faults
from gamekeeper import app
from gamekeeper.demo import loader, world
from gamekeeper.demo import players as demo_players
from gamekeeper.game.access.changes import UserRegistered
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.lists.list_index import NAMES, RANK, USERS
from gamekeeper.game.players.changes import PlayerCreated
from gamekeeper.ground import settings
from gamekeeper.http.server.caller import Callers
from gamekeeper.store.engine.interface import LockTimeout, Reading, Row
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.players import players
from server import free_port

pytestmark = pytest.mark.both_engines

BATCH_SIZE = 500  # players of a batch of a load that is killed
# the command line, with small batches
LOAD = f"""
import gamekeeper.__main__
from gamekeeper.demo import loader
loader.BATCH_SIZE = {BATCH_SIZE}
gamekeeper.__main__.main()
"""
LOADED = {
    "users": "id, name, fold, email, email_fold, password, editor, ban, kick, mute, api, users_query, users_manage, "
    "game_link",
    "players": "*",
    "slots": "*",
    "known_spells": "*",
    "player_variables": "*",
}
NAMED = 48
ACCOUNTS = 1 + len(world.ACCOUNTS)
START_SECONDS = 180  # seconds: start timeout of the load, long enough for a busy machine
DROPPED = re.compile(r"\w+ (\w+?_by_(?:rank|user|class|map|seen|part))")
WHOSE = {"players_by_rank", "players_by_user", "players_by_class", "players_by_map", "players_by_seen"} | {
    "players_by_part",
    "users_by_part",
}


def no_advance(_: int) -> None:
    """Ignore the progress of the load."""


@pytest.fixture
def another_database(databases: Any) -> Generator[str]:
    yield from lend(databases, databases.empty())


async def contents(keeper: Keeper) -> dict[str, Sequence[Row]]:
    found: dict[str, Sequence[Row]] = {}
    for table, columns in LOADED.items():
        rows = await keeper.store.all(Statement(table, {"": f"SELECT {columns} FROM {table}"}))  # noqa: S608 - ours
        found[table] = sorted(tuple(row) for row in rows)
    return found


def test_bulk_load_writes_the_same_rows_as_the_write_path(empty_database: str, another_database: str) -> None:
    async def load_rows(keeper: Keeper) -> dict[str, Sequence[Row]]:
        await loader.load_players(keeper, 20, no_advance)
        return await contents(keeper)

    async def write_rows(keeper: Keeper) -> dict[str, Sequence[Row]]:
        made = demo_players.build_numbered_players(range(20))
        accounts = [UserRegistered(demo_players.build_numbered_account(player)) for player, _ in made]
        created = [PlayerCreated(player, belongings) for player, belongings in made]

        async def decide(_: Reading) -> Decision[None]:
            return Decision([*accounts, *created], None)

        await keeper.changes.apply(loader.DEMO_INTENT, decide, lambda _: b"")
        return await contents(keeper)

    ours = at_work(empty_database, load_rows)
    assert ours == at_work(another_database, write_rows)
    assert [len(ours[table]) for table in LOADED] == [20, 20, 60, 20, 20]


async def count_lists(keeper: Keeper, wanted: int) -> list[int]:
    await loader.load_players(keeper, wanted, no_advance)
    assert await keeper.store.read(ordered_lists.load_view)
    return [await keeper.lists.count(each) for each in (RANK, NAMES, USERS)]


# --- a load killed with kill -9 ------------------------------------------------------------------------------------


async def some_are_there(keeper: Keeper) -> None:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        # count again after a lock timeout: the load drops indexes, which can lock the table longer than a read waits
        with suppress(LockTimeout):
            if await players.count(keeper.store) > NAMED:
                return
        await asyncio.sleep(0.02)


def kill_a_load(url: str) -> None:
    command = [sys.executable, "-c", LOAD, "demo", "--database", url, "--players", "60000", "--port", str(free_port())]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GAMEKEEPER_")}
    loading = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        at_work(url, some_are_there)
    finally:
        loading.kill()
        loading.wait(START_SECONDS)


def test_killed_load_is_completed_by_the_next_and_by_a_server(
    demo_database: str, database: str, databases: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "BATCH_SIZE", BATCH_SIZE)
    kill_a_load(demo_database)
    complete = catalogues.read_schema(database)
    missing = catalogues.differences(catalogues.read_schema(demo_database), complete)
    # WHOSE are the indexes that a load drops, with their triggers, and creates again at its end
    assert {found[1] for line in missing if (found := DROPPED.match(line))} == WHOSE
    assert not [line for line in missing if not DROPPED.match(line)]
    served = databases.copy(demo_database)
    asyncio.run(serve_once(served))
    assert catalogues.differences(catalogues.read_schema(served), complete) == []
    assert at_work(served, faults) == []
    databases.drop(served)
    assert at_work(demo_database, complete_load) == []
    assert catalogues.differences(catalogues.read_schema(demo_database), complete) == []


async def serve_once(url: str) -> None:
    keeper = app.build_keeper(settings.load({}, database=url, access_log=False))
    upkeep = app.BackgroundJobs(app.build_services(keeper, Callers(keeper.store)))
    await upkeep.start()
    await upkeep.stop()


async def complete_load(keeper: Keeper) -> list[str]:
    there = await players.count(keeper.store) - NAMED
    assert there > 0
    assert there % loader.BATCH_SIZE == 0  # after the kill, only complete batches of players exist
    wanted = there + 500
    totals = await count_lists(keeper, wanted)
    assert totals == [NAMED + wanted, NAMED + wanted, ACCOUNTS + wanted]
    assert await players.count(keeper.store) == NAMED + wanted
    return await faults(keeper)
