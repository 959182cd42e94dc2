"""The change feed alone: its queries, its waits, and changes that draw a number early and commit late."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from game_server import until_they_wait
from gamekeeper.game.world import feed
from gamekeeper.game.world.feed import Feed, FeedPage, FeedQuery
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading, Row, Store, Value
from gamekeeper.store.engine.statements import Statement
from people import BOB, COIN, USER_IDS
from world import World

pytestmark = pytest.mark.both_engines

GIFT = {"itemid": COIN.id, "quantity": 1}

INSERT = """
INSERT INTO ledger (at, kind, actor_id, over_link, player_id, request_id)
VALUES (0, 'items_given', NULL, FALSE, $1, $2) RETURNING seq
"""
only_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


def asked(after: int | None, wait: float = 0, limit: int = 1000) -> FeedQuery:
    return FeedQuery(after, limit, wait, USER_IDS["Server"], include_own=False, epoch=None)


def last_of(world: World) -> int:
    return world.ledger()[-1].seq


async def give(world: World) -> None:
    (await world.send("POST", "/api/v1/players/Bob/items/give", body=GIFT, by="Shop")).accepted()


def numbers(told: FeedPage) -> list[int]:
    return [each.seq for each in told.changes]


class Watched(Reading):
    """A store that records its statements, and can pretend that the database is unavailable."""

    def __init__(self, store: Store) -> None:
        self.asked: list[str] = []
        self.away = False
        self._store = store

    async def one(self, statement: Statement, *values: Value) -> Row | None:
        self._note(statement)
        return await self._store.one(statement, *values)

    async def all(self, statement: Statement, *values: Value) -> Sequence[Row]:
        self._note(statement)
        return await self._store.all(statement, *values)

    def _note(self, statement: Statement) -> None:
        self.asked.append(statement.name)
        if self.away:
            raise DatabaseUnavailable("told to be")


def watched(world: World) -> tuple[Watched, Feed]:
    store = Watched(world.keeper.store)
    given: Any = store
    return store, Feed(given)


def pass_by(world: World, store: Watched, followed: Feed, last: int) -> None:
    """Wait until the feed's follower has seen that the change numbers after the last change are unused."""
    give_up = time.monotonic() + 60
    while "last_written" not in store.asked:
        assert time.monotonic() < give_up
        assert world.run(followed.read_changes(asked(last, 0.3))).next == last


def leaves_nothing_behind(world: World) -> bool:
    """Wait until only this task is left in the event loop; the feed's follower may sleep for a moment."""

    async def look() -> bool:
        async with asyncio.timeout(30):
            while len(asyncio.all_tasks()) > 1:  # noqa: ASYNC110 - the task ends by itself
                await asyncio.sleep(0.02)
        return True

    return world.run(look())


# --- queries of the feed -------------------------------------------------------------------------------------------


def test_fifty_pollers_all_get_the_change(world: World) -> None:
    store, followed = watched(world)
    last = last_of(world)

    async def poll() -> list[FeedPage]:
        polls = [asyncio.ensure_future(followed.read_changes(asked(last, 60))) for _ in range(50)]
        await until_they_wait(followed, 50)
        await give(world)
        return await asyncio.gather(*polls)

    assert [numbers(told) for told in world.run(poll())] == [[last + 1]] * 50
    assert store.asked.count("own_transaction") <= 2


def test_request_reads_a_bounded_part_of_the_ledger(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "WINDOW_CHANGES", 4)
    last, cursor, found = last_of(world), 0, list[int]()
    store, followed = watched(world)
    while cursor < last:
        store.asked.clear()
        told = world.run(followed.read_changes(asked(cursor, wait=30)))
        assert store.asked.count("between") == 1
        assert cursor < told.next <= cursor + 4
        cursor, found = told.next, found + numbers(told)
    assert found == [row.seq for row in world.ledger() if row.player_id]


def test_unused_numbers_are_never_cursors(world: World) -> None:
    """After a crash of the database, unused change numbers can be drawn again, so they are never cursors."""
    store, followed = watched(world)
    last = last_of(world)
    for _ in range(3):
        world.give("Bob", act="give?dryRun=true").accepted()
    pass_by(world, store, followed, last)
    assert store.asked.count("own_transaction") == 1
    world.run(give(world))
    (change,) = world.run(followed.read_changes(asked(last))).changes
    assert change.seq == last_of(world)


@only_postgres
def test_number_reused_after_a_crash_is_sent(world: World) -> None:
    """A crash makes the database reuse a change number that was drawn but not yet on disk."""
    store, followed = watched(world)
    last = last_of(world)
    world.give("Bob", act="give?dryRun=true").accepted()
    pass_by(world, store, followed, last)
    world.sql("SELECT setval('ledger_seq', last_value - 1) FROM ledger_seq")
    world.run(give(world))
    assert numbers(world.run(followed.read_changes(asked(last, 60)))) == [last_of(world)]


# --- cancelled polls, shutdown and outages of the feed ---------------------------------------------------------------


def test_stop_answers_all_polls_at_once(world: World) -> None:
    last = last_of(world)
    followed = world.keeper.feed

    async def poll() -> list[FeedPage]:
        polls = [asyncio.ensure_future(followed.read_changes(asked(last, 60))) for _ in range(50)]
        await until_they_wait(followed, 50)
        followed.stop()
        return await asyncio.gather(*polls, followed.read_changes(asked(last, 60)))

    began = time.monotonic()
    assert {(len(told.changes), told.next) for told in world.run(poll())} == {(0, last)}
    assert time.monotonic() - began < 30


def test_poll_survives_a_database_outage_during_the_wait(world: World) -> None:
    store, followed = watched(world)
    last = last_of(world)

    async def poll() -> FeedPage:
        poll = asyncio.ensure_future(followed.read_changes(asked(last, 60)))
        await until_they_wait(followed)
        store.away = True
        await give(world)
        await asyncio.sleep(0.3)
        assert not poll.done()
        store.away = False
        return await poll

    assert numbers(world.run(poll())) == [last + 1]
    store.away = True
    with pytest.raises(DatabaseUnavailable):
        world.run(followed.read_changes(asked(last, 10)))


# --- the feed with late commits --------------------------------------------------------------------------------------


async def begin(url: str) -> tuple[Any, int]:
    """Open a transaction that has drawn its change number and has not committed."""
    driver: Any = asyncpg
    db = await driver.connect(url)
    await db.execute("BEGIN")
    return db, await db.fetchval(INSERT, BOB.id, "late")


async def end(db: Any, how: str) -> None:
    await db.execute(how)
    await db.close()


@only_postgres
@pytest.mark.parametrize("how", ["COMMIT", "ROLLBACK"])
def test_number_drawn_early_and_committed_late_is_not_skipped(world: World, how: str) -> None:
    last, followed = last_of(world), world.keeper.feed

    async def follow() -> tuple[FeedPage, FeedPage, FeedPage, int]:
        first, late = await begin(world.url)
        await give(world)  # this change draws the number after that of the open transaction, and commits
        while_open = await followed.read_changes(asked(last, 1.5))
        poll = asyncio.ensure_future(followed.read_changes(asked(while_open.next, 60)))
        await asyncio.sleep(0.2)
        assert not poll.done()
        await end(first, how)
        told = await poll
        return while_open, told, await followed.read_changes(asked(told.next)), late

    while_open, told, rest, late = world.run(follow())
    assert (while_open.changes, while_open.next) == ([], last)
    assert numbers(told) == ([late, late + 1] if how == "COMMIT" else [late + 1])
    assert rest.changes == []


@only_postgres
def test_open_transaction_does_not_prolong_a_poll(world: World) -> None:
    last, followed = last_of(world), world.keeper.feed

    async def follow(after: int | None) -> FeedPage | BaseException:
        first, _ = await begin(world.url)
        await give(world)
        async with asyncio.timeout(30):  # seconds; without this limit a failing test would wait for the poll for ever
            (told,) = await asyncio.gather(followed.read_changes(asked(after)), return_exceptions=True)
        await end(first, "ROLLBACK")
        return told

    told = world.run(follow(last))
    assert isinstance(told, FeedPage)
    assert (told.changes, told.next) == ([], last)
    assert isinstance(world.run(follow(None)), DatabaseUnavailable)
    assert leaves_nothing_behind(world)
    found = list[int]()
    while len(found) < 2:
        told = world.run(followed.read_changes(asked(last, 60)))
        assert told.changes
        found, last = found + numbers(told), told.next
    assert len(found) == 2


@only_postgres
def test_reused_transaction_numbers_do_not_block_the_feed(world: World) -> None:
    """A crash of the database or a failover makes the server reuse transaction numbers."""
    store, followed = watched(world)
    last = last_of(world)
    one = store.one

    async def from_ahead(statement: Statement, *values: Value) -> Row | None:
        row = await one(statement, *values)
        return [row[0] + 1000] if row and statement.name == "own_transaction" else row

    async def poll() -> FeedPage:
        store.one = from_ahead
        poll = asyncio.ensure_future(followed.read_changes(asked(last, 60)))
        await give(world)
        async with asyncio.timeout(60):
            while "own_transaction" not in store.asked:  # noqa: ASYNC110 - the follower has no event for this
                await asyncio.sleep(0.01)
        store.one = one
        return await poll

    began = time.monotonic()
    assert numbers(world.run(poll())) == [last + 1]
    assert time.monotonic() - began < 30


def test_cancelled_poll_leaves_no_task_behind(world: World) -> None:
    followed = world.keeper.feed

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(followed.read_changes(asked(last_of_now, 60)), 0.2)

    last_of_now = last_of(world)
    world.run(give_up())
    assert leaves_nothing_behind(world)
