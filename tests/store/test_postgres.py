"""Errors of the PostgreSQL store that need several connections."""

import asyncio
import contextlib
import json

import pytest

import people
from gamekeeper.store import lists, players
from gamekeeper.store.engine import CommitUnknown, Store
from world import World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
MOST_STEPS = 40


def test_cancelled_prepare_leaves_connection_usable(world: World) -> None:
    store = world.keeper.store

    async def hang_up(after: int) -> None:
        asking = asyncio.create_task(players.count(store))
        for _ in range(after):
            await asyncio.sleep(0)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking

    async def ask(store: Store) -> None:
        for after in range(MOST_STEPS):
            await store.close()  # close the pool: the next connection has no prepared statements
            await hang_up(after)
            await players.count(store)
            await lists.read_checkpoint(store)

    world.run(ask(store))


def test_fetch_both_keeps_order_and_may_be_empty(world: World) -> None:
    async def ask(limit: int) -> list[str]:
        _, found = await players.read_records_from_name(world.keeper.store, "1:1:", "", limit, 0)
        return [json.loads(document)["Id"] for document, *_ in found]

    wanted = [str(row[0]) for row in world.sql("SELECT id FROM players ORDER BY fold")]
    assert world.run(ask(100)) == wanted
    assert world.run(ask(0)) == []


def test_commit_with_warning_is_reported_as_unknown(world: World) -> None:
    """If the wait for a standby is cancelled, PostgreSQL reports COMMIT as successful, with a warning."""
    warn = "BEGIN RAISE WARNING 'The transaction has already committed locally'; RETURN NULL; END"
    world.sql(f"CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS '{warn.replace(chr(39), chr(39) * 2)}'")
    world.sql(
        "CREATE CONSTRAINT TRIGGER warned AFTER UPDATE ON epoch DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION warn()"
    )
    with pytest.raises(CommitUnknown, match="already committed locally"):
        world.sql("UPDATE epoch SET trimmed = 0")


def test_replayed_request_waits_for_standby_like_the_first(world: World) -> None:
    """A replayed request writes a row, so its COMMIT waits until the standby has the first request's change."""
    give, key = {"itemid": people.COIN.id, "quantity": 1}, {"Idempotency-Key": "k"}
    written: list[str] = []
    for replayed in (False, True):
        answer = world.post("/api/v1/players/Bob/items/give", give, headers=key)
        assert (answer.status, "idempotent-replay" in answer.headers) == (200, replayed)
        written += [row[0] for row in world.sql("SELECT CAST(xmin AS text) FROM idempotency_keys")]
    assert written[0] != written[1]
