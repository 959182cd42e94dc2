"""The database becomes unreachable or silent and returns: requests get 503 meanwhile, and no restart is needed."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

import apsw
import httpx
import pytest

import people
from gamekeeper.store import pool
from gamekeeper.store.engine import Writing
from gamekeeper.store.statements import Statement
from server import Server
from swallower import Swallower
from world import World

pytestmark = pytest.mark.both_engines

GIVE = "/api/v1/players/Bob/items/give"
ONLY_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
ONLY_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
HEALED_SECONDS = 60  # seconds: limit for recovery, also on a busy machine
STATEMENT_SECONDS = 180  # statement timeout of the servers: recovery must not wait for hanging statements


class Giver:
    """Gives coins one by one, each with its own idempotency key, and retries until acknowledged."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.given = 0
        self.statuses = set[int]()
        self.good_at: list[float] = []

    async def until(self, ended: Callable[[], bool]) -> None:
        while not ended():
            key = {"Idempotency-Key": uuid.uuid4().hex}
            body = {"itemid": people.COIN.id, "quantity": 1}
            while (answer := await self._client.post(GIVE, json=body, headers=key)).status_code != 200:
                self.statuses.add(answer.status_code)
                await asyncio.sleep(0.02)
            self.given += 1
            self.good_at.append(time.monotonic())


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not happens():  # noqa: ASYNC110 - those who make it happen need not know
            await asyncio.sleep(0.02)


@asynccontextmanager
async def caller_of(server: Server, token: str | None) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=120) as client:
        yield client


async def coins(client: httpx.AsyncClient) -> int:
    slots = (await client.get("/api/v1/players/Bob/items/inventory")).json()
    return sum(slot["Quantity"] for slot in slots if slot["ItemId"] == people.COIN.id)


async def require_keys_resolved_once(way: Swallower, client: httpx.AsyncClient) -> None:
    ended = False
    before, givers = await coins(client), [Giver(client) for _ in range(12)]
    work = [asyncio.create_task(each.until(lambda: ended)) for each in givers]
    await until(lambda: all(each.given for each in givers))
    way.swallow()
    await asyncio.sleep(4)
    way.heal()
    healed = time.monotonic()
    await until(lambda: any(each.good_at[-1] > healed for each in givers))
    assert time.monotonic() - healed < HEALED_SECONDS
    ended = True
    await asyncio.gather(*work)
    assert set[int]().union(*(each.statuses for each in givers)) <= {503}
    assert await coins(client) - before == sum(each.given for each in givers)


async def require_readiness_in_bounded_time(way: Swallower, client: httpx.AsyncClient) -> None:
    way.swallow()
    await asyncio.sleep(1)
    began = time.monotonic()
    answers = await asyncio.gather(*(client.get("/health/ready") for _ in range(30)))
    took = time.monotonic() - began
    assert ({each.status_code for each in answers}, took < HEALED_SECONDS) == ({503}, True)
    assert (await client.get("/health/live")).status_code == 200
    way.heal()
    healed = time.monotonic()
    while (await client.get("/health/ready")).status_code != 200:
        assert time.monotonic() - healed < HEALED_SECONDS
        await asyncio.sleep(0.02)


@ONLY_POSTGRES
def test_silent_database_leaves_every_key_resolved_once_and_readiness_fails_in_bounded_time(
    database: str, known_tokens: Mapping[str, str]
) -> None:
    async def through(way: Swallower, server: Server) -> None:
        async with caller_of(server, known_tokens["Root"]) as client:
            await require_keys_resolved_once(way, client)
        async with caller_of(server, None) as client:
            await require_readiness_in_bounded_time(way, client)

    with Swallower(database) as way, Server(way.url, statement_seconds=STATEMENT_SECONDS) as server:
        asyncio.run(through(way, server))


@ONLY_SQLITE
def test_sqlite_file_locked_by_another_program_recovers(database: str, known_tokens: Mapping[str, str]) -> None:
    async def through(server: Server) -> None:
        async with caller_of(server, known_tokens["Root"]) as client:
            other = apsw.Connection(database.removeprefix("sqlite:///"))
            other.execute("BEGIN IMMEDIATE")
            giver, ended = Giver(client), False
            giving = asyncio.create_task(giver.until(lambda: ended))
            await asyncio.sleep(1)  # wait one second until the cached readiness answer expires
            assert (await client.get("/health/ready")).status_code == 503
            assert (await client.get("/api/v1/players/Bob")).status_code == 200
            await until(lambda: bool(giver.statuses))
            other.execute("ROLLBACK")
            other.close()
            healed, ended = time.monotonic(), True
            await giving
            assert giver.statuses == {503}
            assert giver.good_at[0] - healed < HEALED_SECONDS
            assert (await client.get("/health/ready")).status_code == 200

    with Server(database) as server:
        asyncio.run(through(server))


# --- statement timeout of the database -----------------------------------------------------------------------------


def slow_commit(world: World, seconds: float) -> None:
    sleep = f"'BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END'"
    world.sql(f"CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS {sleep}")
    world.sql(
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON ledger DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION sleep()"
    )


@ONLY_POSTGRES
def test_commit_is_not_subject_to_the_statement_timeout(world: World) -> None:
    slow_commit(world, 2.5)
    world.run(world.keeper.store.limit_statements(1))
    began = time.monotonic()
    assert world.post(GIVE, {"itemid": people.COIN.id, "quantity": 1}).status == 200
    assert time.monotonic() - began > 2.5


@ONLY_POSTGRES
def test_slow_statement_is_cancelled_at_its_timeout(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "LOCK_SECONDS", 60)
    world, other = make_world(), make_world()
    world.run(world.keeper.store.limit_statements(1))

    async def lock() -> None:
        """Hold a row lock for longer than the statement timeout, but shorter than the lock timeout of a minute."""
        await other.keeper.store.write(lambda tx: hold(tx, asked))

    async def hold(tx: Writing, until: asyncio.Event) -> None:
        await tx.returning(Statement("lock", {"": "LOCK TABLE slots"}))
        locked.set()
        await until.wait()

    locked, asked = asyncio.Event(), asyncio.Event()

    async def ask() -> tuple[float, list[int]]:
        holding = asyncio.create_task(lock())
        await locked.wait()
        began = time.monotonic()
        reading, writing = await asyncio.gather(
            world.send("GET", "/api/v1/players/Bob/items"),
            world.send("POST", GIVE, body={"itemid": people.COIN.id, "quantity": 1}),
        )
        took = time.monotonic() - began
        asked.set()
        await holding
        return took, [reading.status, writing.status]

    took, statuses = world.run(ask())
    assert (statuses, took < 30) == ([503, 503], True)
    assert world.post(GIVE, {"itemid": people.COIN.id, "quantity": 1}).status == 200


@ONLY_POSTGRES
def test_statement_timeout_applies_to_serving_only(world: World) -> None:
    assert world.sql("SELECT current_setting('statement_timeout')") == [("0",)]
    world.run(world.keeper.store.limit_statements(7))
    assert world.sql("SELECT current_setting('statement_timeout')") == [("7s",)]
