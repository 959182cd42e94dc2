"""A moved database continues with the same epoch on another engine; no acknowledged change is lost."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

import outbox
from backups import GIVE, give
from copied import contents, fill, is_untouched
from databases import lend
from expectations import refused
from findings import errors, unseen
from gamekeeper import app
from gamekeeper.copies import moves
from gamekeeper.copies.lines import BadCopy, TableChecksum
from gamekeeper.ground import settings
from gamekeeper.store.engine.migrate import ClosedDatabase, migrate
from people import ANN, BOB
from remote import wait_until
from server import Server
from world import OpenWorld, World

pytestmark = pytest.mark.both_engines

KEY = {"Idempotency-Key": "once"}
Moved = Callable[[str, int, int | None], None]


def loaded(url: str) -> settings.Settings:
    return settings.load({}, database=url)


def move(source: str, target: str, moved: Moved = unseen) -> dict[str, TableChecksum]:
    """Move a database like the command does, without its output."""

    async def run() -> dict[str, TableChecksum]:
        there = loaded(target)
        sums = await app.run_with_keeper(loaded(source), lambda keeper: moves.move(keeper, there, moved), final=True)
        await app.run_with_keeper(there, moves.finish, final=True)
        return sums

    return asyncio.run(run())


def started(url: str) -> None:
    """Open the database as a starting server does."""
    asyncio.run(app.run_with_keeper(loaded(url), lambda keeper: migrate(keeper.store)))


@pytest.fixture
def other_target(engine: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the URL of an empty database of the other engine: each engine is once the source and once the target."""
    other = {"sqlite": "postgres", "postgres": "sqlite"}[engine]
    databases: Any = request.getfixturevalue(f"{other}_databases")
    yield from lend(databases, databases.empty())


# --- data copied by a move -----------------------------------------------------------------------------------------


def test_move_copies_all_tables(world: World, target: str, opened: OpenWorld) -> None:
    """A move from each engine to each copies all tables, with reset codes and waiting mails."""
    fill(world)
    first = give(world, headers=KEY)
    outbox.ask(world)
    world.call("PUT", "/api/link/v1/servers/realm1", body={"Lease": 60}, by="Server")
    world.call("POST", "/api/link/v1/servers/realm1/joined", body={"Players": [ANN.id]}, by="Server")
    epoch, last = world.get("/api/link/v1/changes", by="Server").json["Epoch"], world.ledger()[-1].seq
    before = contents(world)
    sums = move(world.url, target)
    copy = opened(target)
    assert contents(copy) == before
    assert {table: each.rows for table, each in sums.items()} == {name: len(rows) for name, rows in before.items()}
    assert errors(copy) == []
    # the moved database replays the stored answer, and the token is still valid
    assert give(copy, headers=KEY) == first
    assert copy.ledger()[-1].seq == last
    give(copy)
    told = copy.get(f"/api/link/v1/changes?after={last}&epoch={epoch}", by="Server")
    assert [each["Seq"] for each in told.json["Changes"]] == [last + 1]
    assert [each["Name"] for each in copy.get("/api/v1/players/rank").json["Values"]] == ["Zoe", "Ann", "Bob"]


# --- a move loses no changes ------------------------------------------------------------------------------------


def test_source_is_closed_after_move(world: World, empty_database: str, opened: OpenWorld) -> None:
    """A running server still reads, but cannot write and is not ready. No server starts until `move --reopen`."""
    move(world.url, empty_database)
    refused(world.post("/api/v1/players/Bob/items/give", GIVE), 503, "database_away")
    assert world.get("/api/v1/players/Bob").status == 200
    assert world.get("/health/ready", by=None).status == 503
    with pytest.raises(ClosedDatabase, match=r"was moved to .*: start Gamekeeper on that one"):
        started(world.url)
    give(opened(empty_database))
    assert world.run(moves.reopen(world.keeper))
    started(world.url)
    give(world)
    assert errors(world) == []
    assert not world.run(moves.reopen(world.keeper))


def test_move_includes_all_acknowledged_writes_of_a_running_server(
    database: str, known_tokens: dict[str, str], empty_database: str, opened: OpenWorld
) -> None:
    """Every acknowledged give is in the target; after the move has read its first row, none is acknowledged."""
    statuses: list[int] = []
    over = threading.Event()
    headers = {"Authorization": f"Bearer {known_tokens['Shop']}"}

    def shop(url: str) -> None:
        with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
            while not over.is_set():
                statuses.append(client.post(f"/api/v1/players/{BOB.id}/items/give", json=GIVE).status_code)

    def linger(what: str, _done: int, _total: int | None) -> None:
        if what == "ledger":  # the ledger is already copied: a write that is not blocked now would be lost
            time.sleep(0.3)

    with Server(database) as server:
        shops = [threading.Thread(target=shop, args=(server.url,)) for _ in range(3)]
        for each in shops:
            each.start()
        wait_until(lambda: statuses.count(200) > 20)
        move(database, empty_database, linger)
        before = len(statuses)
        wait_until(lambda: len(statuses) > before + 10)
        over.set()
        for each in shops:
            each.join()
    assert set(statuses) == {200, 503}
    assert set(statuses[before + 3 :]) == {503}
    copy = opened(empty_database)
    gifts = [each for each in copy.ledger() if each.kind == "items_given"]
    assert len(gifts) == statuses.count(200)
    assert errors(copy) == []


def test_target_is_closed_until_source_is_closed(world: World, empty_database: str) -> None:
    """If the move dies between closing the source and opening the target, the two are never in use at once."""
    world.run(moves.move(world.keeper, loaded(empty_database), unseen))
    with pytest.raises(ClosedDatabase, match="did not finish"):
        started(empty_database)
    asyncio.run(app.run_with_keeper(loaded(empty_database), moves.finish))
    started(empty_database)


# --- a move is complete or changes nothing -------------------------------------------------------------------------


def test_failed_move_changes_neither_database(world: World, other_target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed move changes nothing, also if the queue between source and target is full."""
    monkeypatch.setattr("gamekeeper.store.engine.sqlite.FETCH_ROWS", 1)
    monkeypatch.setattr("gamekeeper.store.engine.postgres_connection.FETCH_ROWS", 1)

    def fail(what: str, _done: int, _total: int | None) -> None:
        if what == "ledger":
            raise RuntimeError("pulled the plug")

    before = contents(world)
    with pytest.raises(BadCopy, match=r"does not accept the table ledger: pulled the plug\. Nothing was changed"):
        move(world.url, other_target, fail)
    assert contents(world) == before
    assert is_untouched(other_target)
    started(world.url)
    give(world)


@pytest.mark.long_only
def test_move_refuses_unknown_table(world: World, other_target: str) -> None:
    """A move is refused if our schema has a table of the user, which would be lost."""
    world.sql("CREATE TABLE my_notes (text TEXT)")
    with pytest.raises(BadCopy, match="that Gamekeeper did not make: 'my_notes'"):
        move(world.url, other_target)
    assert is_untouched(other_target)
    give(world)
