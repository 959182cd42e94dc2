"""The statement timeout of PostgreSQL: a slow statement gets 503, but no commit is cancelled."""

import asyncio
import time

import pytest

import people
from gamekeeper.store.engine import postgres_pool
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import Statement
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

GIVE = "/api/v1/players/Bob/items/give"
ONLY_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def slow_commit(world: World, seconds: float) -> None:
    sleep = f"'BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END'"
    world.sql(f"CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS {sleep}")
    world.sql(
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON ledger DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION sleep()"
    )


@ONLY_POSTGRES
def test_slow_statement_is_cancelled_at_its_timeout_but_no_commit(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_pool, "LOCK_SECONDS", 60)
    world, other = make_world(), make_world()
    assert world.sql("SELECT current_setting('statement_timeout')") == [("0",)]
    world.run(world.keeper.store.limit_statements(1))
    assert world.sql("SELECT current_setting('statement_timeout')") == [("1s",)]

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

    slow_commit(world, 2.5)  # a commit is not subject to the timeout
    took, statuses = world.run(ask())
    assert (statuses, took < 30) == ([503, 503], True)
    assert world.post(GIVE, {"itemid": people.COIN.id, "quantity": 1}).status == 200
