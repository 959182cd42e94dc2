"""Bulk loads: what they write is what the write path writes, and one that is killed is taken up by the next."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import catalogues
import pytest

import world as worlds
from findings import faults
from gamekeeper import app, settings
from gamekeeper.demo import characters, filling, names, world
from gamekeeper.game import lists
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import PlayerCreated, PlayerState, UserRegistered
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists import NAMES, RANK, USERS
from gamekeeper.http.caller import Callers
from gamekeeper.store import ledger, players, users
from gamekeeper.store.engine import LockTimeout, Reading, Row
from gamekeeper.store.statements import Statement
from server import free_port

T = TypeVar("T")
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
START_SECONDS = 180  # a busy machine may need most of it
DROPPED = re.compile(r"\w+ (\w+?_by_(?:rank|user|part))")
WHOSE = {"players_by_rank", "players_by_user", "players_by_part", "users_by_part"}


def at_work(url: str, work: Callable[[Keeper], Coroutine[Any, Any, T]]) -> T:
    return asyncio.run(worlds.at_work(url, work))


def schema(engine: str, url: str) -> catalogues.Schema:
    if engine == "sqlite":
        return catalogues.of_sqlite(Path(url.removeprefix("sqlite:///")))
    return asyncio.run(catalogues.of_postgres(url))


def no_advance(_: int) -> None:
    """Nobody looks on."""


@pytest.fixture
def another_database(databases: Any) -> Generator[str]:
    url = databases.empty()
    yield url
    databases.drop(url)


async def contents(keeper: Keeper) -> dict[str, Sequence[Row]]:
    found: dict[str, Sequence[Row]] = {}
    for table, columns in LOADED.items():
        rows = await keeper.store.all(Statement(table, {"": f"SELECT {columns} FROM {table}"}))  # noqa: S608 - ours
        found[table] = sorted(tuple(row) for row in rows)
    return found


def test_a_load_writes_what_the_write_path_writes(empty_database: str, another_database: str) -> None:
    async def loaded(keeper: Keeper) -> dict[str, Sequence[Row]]:
        await filling.load_players(keeper, 20, no_advance)
        return await contents(keeper)

    async def written(keeper: Keeper) -> dict[str, Sequence[Row]]:
        made = characters.numbered(range(20))
        accounts = [UserRegistered(characters.numbered_account(player)) for player, _ in made]
        created = [PlayerCreated(player, belongings) for player, belongings in made]

        async def decide(_: Reading) -> Decision[None]:
            return Decision([*accounts, *created], None)

        await keeper.changes.apply(filling.BY_DEMO, decide, lambda _: b"")
        return await contents(keeper)

    ours = at_work(empty_database, loaded)
    assert ours == at_work(another_database, written)
    assert [len(ours[table]) for table in LOADED] == [20, 20, 60, 20, 20]


def test_bags_are_loaded_too(empty_database: str) -> None:
    """None of the many has one, but whoever loads may."""

    async def work(keeper: Keeper) -> list[str]:
        owners = [
            characters.account(names.stable_id("user", name), name, "!", world.NO_POWERS) for name in world.ACCOUNTS
        ]

        async def decide(_: Reading) -> Decision[None]:
            loaded = [filling.UsersLoaded(owners), filling.PlayersLoaded(characters.named())]
            return Decision([filling.PAUSE_LISTS, *loaded, filling.RESUME_LISTS], None)

        await keeper.changes.apply(filling.BY_DEMO, decide, lambda _: b"")
        await keeper.lists.prepare()
        assert await players.count(keeper.store) == NAMED
        return await faults(keeper)

    assert at_work(empty_database, work) == []


def test_the_schema_is_as_it_was_and_the_lists_are_whole(
    engine: str, empty_database: str, another_database: str
) -> None:
    at_work(another_database, filled)
    at_work(empty_database, filled)
    assert at_work(empty_database, lambda keeper: loaded_lists(keeper, 300)) == [
        NAMED + 300,
        NAMED + 300,
        ACCOUNTS + 300,
    ]
    assert catalogues.differences(schema(engine, empty_database), schema(engine, another_database)) == []


async def filled(keeper: Keeper) -> None:
    await filling.fill(keeper, "moss")


async def loaded_lists(keeper: Keeper, wanted: int) -> list[int]:
    await filling.load_players(keeper, wanted, no_advance)
    assert await keeper.store.read(lists.load_view)
    return [await keeper.lists.count(each) for each in (RANK, NAMES, USERS)]


def test_the_clock_of_loaded_accounts_is_the_database_s(empty_database: str) -> None:
    async def work(keeper: Keeper) -> tuple[int, int]:
        await filling.load_players(keeper, 1, no_advance)
        one = await users.find_by_fold(keeper.store, names.numbered_name(0).lower())
        rows = await ledger.read_after(keeper.store, 0, 1)
        return one.created_at if one else 0, rows[0].at

    created, written = at_work(empty_database, work)
    assert abs(created - written) < START_SECONDS * 1000


# --- others are there already --------------------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["a character", "an account", "an email"])
def test_a_name_that_somebody_else_has(empty_database: str, whose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "BATCH", 10)
    taken = names.numbered_name(14)
    stranger = characters.account(names.stable_id("user", "stranger"), "Stranger", "!", world.NO_POWERS)
    owned = replace(characters.named()[0][0], id=names.stable_id("player", "stranger"), user_id=stranger.id)
    there = {
        "a character": [UserRegistered(stranger), PlayerCreated(replace(owned, name=taken.upper()), PlayerState())],
        "an account": [UserRegistered(stranger._replace(name=taken.upper()))],
        "an email": [UserRegistered(stranger._replace(email=f"{taken.upper()}@example.test"))],
    }

    async def work(keeper: Keeper) -> int:
        async def decide(_: Reading) -> Decision[None]:
            return Decision(there[whose], None)

        await keeper.changes.apply(filling.BY_DEMO, decide, lambda _: b"")
        before = await users.count(keeper.store)
        with pytest.raises(filling.NotADemo, match=f"^{taken}, the name of .* run the same command again"):
            await filling.load_players(keeper, 30, no_advance)
        return await users.count(keeper.store) - before

    assert at_work(empty_database, work) == 10  # the batch before


def test_another_fault_is_told_as_it_is(empty_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        await keeper.store.write(lambda tx: tx.returning(Statement("spoil", {"": "DROP TABLE player_variables"})))
        with pytest.raises(Exception, match="player_variables"):
            await filling.load_players(keeper, 5, no_advance)

    at_work(empty_database, work)


# --- kill -9 -------------------------------------------------------------------------------------------------------


async def some_are_there(keeper: Keeper) -> None:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        with suppress(LockTimeout):  # the load drops indexes: on a busy machine that takes longer than a read waits
            if await players.count(keeper.store) > NAMED:
                return
        await asyncio.sleep(0.02)


def kill_a_load(url: str) -> None:
    at_work(url, filled)
    command = [sys.executable, "-m", "gamekeeper", "demo", "--database", url, "--players", "60000"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GAMEKEEPER_")}
    loading = subprocess.Popen(
        [*command, "--port", str(free_port())],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        at_work(url, some_are_there)
    finally:
        loading.kill()
        loading.wait(START_SECONDS)


def test_a_killed_load_is_taken_up_by_the_next(engine: str, empty_database: str, another_database: str) -> None:
    kill_a_load(empty_database)
    at_work(another_database, filled)
    missing = catalogues.differences(schema(engine, empty_database), schema(engine, another_database))
    assert {found[1] for line in missing if (found := DROPPED.match(line))} == WHOSE  # one may be several things
    assert not [line for line in missing if not DROPPED.match(line)]
    assert at_work(empty_database, taken_up) == []
    assert catalogues.differences(schema(engine, empty_database), schema(engine, another_database)) == []


def test_what_a_killed_load_left_undone_is_done_before_it_is_served(
    engine: str, empty_database: str, another_database: str
) -> None:
    kill_a_load(empty_database)
    at_work(another_database, filled)
    assert catalogues.differences(schema(engine, empty_database), schema(engine, another_database)) != []
    asyncio.run(served(empty_database))
    assert catalogues.differences(schema(engine, empty_database), schema(engine, another_database)) == []
    assert at_work(empty_database, faults) == []


async def served(url: str) -> None:
    keeper = app.build_keeper(settings.load({}, database=url, access_log=False))
    upkeep = app.Upkeep(keeper, Callers(keeper.store), ())
    await upkeep.start()
    await upkeep.stop()


async def taken_up(keeper: Keeper) -> list[str]:
    there = await players.count(keeper.store) - NAMED
    assert there > 0
    assert there % filling.BATCH == 0  # whole batches or nothing
    wanted = there + 500
    totals = await loaded_lists(keeper, wanted)
    assert totals == [NAMED + wanted, NAMED + wanted, ACCOUNTS + wanted]
    assert await players.count(keeper.store) == NAMED + wanted
    return await faults(keeper)
