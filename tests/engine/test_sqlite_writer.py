"""The writer thread of the SQLite store: batches, failures inside a batch, and the time of the answers."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import apsw
import pytest

import people
from gamekeeper.store.engine.interface import DatabaseUnavailable, DiskFull, Writing
from gamekeeper.store.engine.statements import Statement
from world import World

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

Work = Callable[[Writing], Any]
INSERT = Statement("insert", {"": "INSERT INTO maps (id, name) VALUES ($1, $2)"})
WAIT_SECONDS = 20  # timeout of what must happen
LONG_SECONDS = 0.3  # time in which an answer reaches its caller
LOCKED_SECONDS = 2  # time for which another process holds the lock; shorter than the busy timeout
MANY_PAGES = "x" * 1_000_000


class Watched:
    """The writer's SQLite connection, with a function that is called before each of its statements."""

    def __init__(self, db: apsw.Connection, before: Callable[[str], None]) -> None:
        self._db, self._before = db, before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, text: str, *values: Any) -> Any:
        self._before(text)
        return self._db.execute(text, *values)


@pytest.fixture
def watch(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], None]], None]:
    """Return a function that sets what is called before each statement of the writer."""
    connection = getattr(getattr(world.keeper.store, "_writer"), "_connection")  # noqa: B009 - private attributes
    db = connection.db
    return lambda before: monkeypatch.setattr(connection, "db", Watched(db, before))


def insert(number: int, name: str = "new", started: list[int] | None = None) -> Work:
    async def work(tx: Writing) -> int:
        if started is not None:
            started.append(number)
        tx.defer(INSERT, people.guid(0x1000 + number), name)
        return number

    return work


async def change_and_fail(tx: Writing) -> None:
    tx.defer(INSERT, people.guid(0x2000), "never")
    raise LookupError("no")


async def start_batch(
    world: World, start: Callable[[], Sequence[asyncio.Future[Any]]]
) -> tuple[asyncio.Future[None], Sequence[asyncio.Future[Any]]]:
    """Start writes while the writer's thread is in another write, so that they become one batch. Return all."""
    began, gathered = threading.Event(), threading.Event()

    async def wait(_: Writing) -> None:
        began.set()
        gathered.wait(WAIT_SECONDS)

    first = asyncio.ensure_future(world.keeper.store.write(wait))
    await asyncio.to_thread(began.wait, WAIT_SECONDS)
    writes = start()
    await asyncio.sleep(0)  # each write enters the writer's queue
    gathered.set()
    return first, writes


async def gather_batch(world: World, start: Callable[[], Sequence[asyncio.Future[Any]]]) -> list[Any]:
    _, writes = await start_batch(world, start)
    return await asyncio.wait_for(asyncio.gather(*writes, return_exceptions=True), WAIT_SECONDS)


def start_writes(world: World, works: Sequence[Work]) -> list[asyncio.Future[Any]]:
    return [asyncio.ensure_future(world.keeper.store.write(each)) for each in works]


def write_batch(world: World, works: Sequence[Work]) -> list[Any]:
    return world.run(gather_batch(world, lambda: start_writes(world, works)))


def list_new(world: World) -> set[int]:
    """Return the numbers of the inserted rows."""
    rows = world.sql("SELECT id FROM maps WHERE name <> 'never'")
    return {each for each in range(100) if (people.guid(0x1000 + each),) in {tuple(row) for row in rows}}


@pytest.mark.parametrize("failing", [[], [change_and_fail]], ids=["first pass", "second pass"])
def test_full_disk_fails_only_the_write_that_needs_space(world: World, failing: list[Work]) -> None:
    """SQLite rolls the whole transaction back then; the second pass runs each write in a savepoint."""
    pages = world.sql("PRAGMA page_count")[0][0]
    world.sql(f"PRAGMA max_page_count = {pages + 20}")
    answers = write_batch(world, [insert(0), *failing, insert(1, MANY_PAGES), insert(2)])
    assert [type(each) for each in answers] == [int, *[LookupError for _ in failing], DiskFull, int]
    assert list_new(world) == {0, 2}
    assert world.run(world.keeper.store.write(insert(3))) == 3


def test_second_begin_that_fails_answers_all_writes_and_changes_nothing(
    world: World, watch: Callable[[Callable[[str], None]], None]
) -> None:
    begins: list[str] = []

    def fail_third(text: str) -> None:
        if text == "BEGIN IMMEDIATE":
            begins.append(text)
            if len(begins) == 3:  # the first is that of the write before the batch
                raise apsw.BusyError("database is locked")

    watch(fail_third)
    answers = write_batch(world, [insert(0), change_and_fail, insert(1)])
    assert [type(each) for each in answers] == [DatabaseUnavailable] * 3
    assert list_new(world) == set()
    assert world.run(world.keeper.store.write(insert(3))) == 3
    assert list_new(world) == {3}


def test_bulk_load_that_fails_midway_leaves_no_row_and_spares_the_batch(world: World) -> None:
    async def load(tx: Writing) -> None:
        tx.load(INSERT, [(people.guid(0x1010), "new"), (people.guid(0x1011), None)])

    answers = write_batch(world, [insert(0), load, insert(1)])
    assert [type(each) for each in answers] == [int, apsw.ConstraintError, int]
    assert list_new(world) == {0, 1}


def test_dry_run_does_not_run_the_batch_again(world: World) -> None:
    started: list[int] = []

    def start() -> list[asyncio.Future[Any]]:
        store = world.keeper.store
        works = [store.write(insert(0, started=started)), store.dry_run(change_and_fail)]
        return [asyncio.ensure_future(each) for each in (*works, store.write(insert(1, started=started)))]

    answers = world.run(gather_batch(world, start))
    assert [type(each) for each in answers] == [int, LookupError, int]
    assert started == [0, 1]
    assert list_new(world) == {0, 1}
    assert world.sql("SELECT COUNT(*) FROM maps WHERE name = 'never'")[0][0] == 0


def test_cancelled_caller_of_a_repeated_batch_leaves_the_others_answered(world: World) -> None:
    started: list[int] = []

    def start() -> list[asyncio.Future[Any]]:
        works = [insert(0, started=started), insert(1, started=started), change_and_fail, insert(2)]
        writes = start_writes(world, works)
        asyncio.get_running_loop().call_soon(writes[1].cancel)
        return writes

    answers = world.run(gather_batch(world, start))
    assert [type(each) for each in answers] == [int, asyncio.CancelledError, LookupError, int]
    assert started == [0, 1, 0, 1]
    assert list_new(world) == {0, 1, 2}  # each of them once: the ids are unique


# --- time of the answers ---------------------------------------------------------------------------------------------


def test_write_is_answered_after_its_commit_and_before_the_next(
    world: World, watch: Callable[[Callable[[str], None]], None]
) -> None:
    writes: list[asyncio.Future[Any]] = []
    answered: list[int] = []

    def count_answers(text: str) -> None:
        if text == "COMMIT":
            time.sleep(LONG_SECONDS)  # long enough for the event loop to deliver an answer
            answered.append(sum(each.done() for each in writes))

    async def many() -> None:
        first, others = await start_batch(world, lambda: start_writes(world, [insert(1), insert(2)]))
        writes.extend((first, *others))
        await asyncio.gather(*writes)

    watch(count_answers)
    world.run(many())
    assert answered == [0, 1]


def test_answers_do_not_wait_while_another_process_holds_the_lock(
    world: World, watch: Callable[[Callable[[str], None]], None]
) -> None:
    """The lock is taken between two batches: the first is committed, the second waits for its BEGIN."""
    begins: list[str] = []
    path = world.keeper.store.path
    assert path
    with contextlib.closing(apsw.Connection(str(path))) as other:

        def hold_lock(text: str) -> None:
            if text == "BEGIN IMMEDIATE":
                begins.append(text)
                if len(begins) == 2:
                    other.execute(text)

        async def many() -> tuple[bool, list[int]]:
            first, others = await start_batch(world, lambda: start_writes(world, [insert(1)]))
            await asyncio.wait([first], timeout=LOCKED_SECONDS)
            in_time = first.done()
            other.execute("ROLLBACK")
            return in_time, await asyncio.gather(*others)

        watch(hold_lock)
        assert world.run(many()) == (True, [1])


def test_shutdown_during_a_write_answers_it(world: World) -> None:
    began, closing = threading.Event(), threading.Event()

    async def wait(_: Writing) -> int:
        began.set()
        closing.wait(WAIT_SECONDS)
        return 1

    async def close() -> int:
        writing = asyncio.ensure_future(world.keeper.store.write(wait))
        await asyncio.to_thread(began.wait, WAIT_SECONDS)
        ending = asyncio.ensure_future(world.keeper.store.close())
        await asyncio.sleep(0)  # the end enters the writer's queue
        closing.set()
        await ending
        return await asyncio.wait_for(writing, WAIT_SECONDS)

    assert world.run(close()) == 1
