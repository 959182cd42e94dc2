"""Long reads: other requests are answered in between, an account has a limit, and each read is one snapshot."""

import asyncio
import csv
import io
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

import bulking
import people
from gamekeeper.console.frame import sessions
from gamekeeper.http.server import admission
from gamekeeper.http.server.admission import Admission, Gate, Pause
from gamekeeper.store.engine import postgres_pool
from keepers import open_session
from proof import refused
from world import Answer, World

ROWS = 600  # a long read takes them in pieces of 250
EXPORT = f"/api/keeper/v1/changes?format=csv&limit={ROWS}"
COPY = """INSERT INTO ledger (at, kind, actor_id, over_link, player_id, before, after, request_id)
          SELECT a.at, a.kind, a.actor_id, a.over_link, a.player_id, a.before, a.after, a.request_id
          FROM ledger a CROSS JOIN ledger b CROSS JOIN ledger c CROSS JOIN ledger d
          WHERE a.kind = 'items_given' LIMIT """
GIVE, COIN = "/api/v1/players/Ann/items/give", {"itemid": people.COIN.id, "quantity": 1}


@pytest.fixture
def long_world(world: World) -> World:
    assert world.post(GIVE, COIN).status == 200
    world.sql(f"{COPY}{ROWS}")
    return world


async def ask_until(world: World, others: asyncio.Future[Answer], path: str) -> int:
    """Return how many requests are answered, one after the other, before the task `others` is done."""
    count = 0
    while not others.done():
        assert (await world.send("GET", path, by="Root")).status == 200
        count += 1
        await asyncio.sleep(0)
    return count


def read_beside(world: World, send: Callable[[], Coroutine[Any, Any, Answer]]) -> tuple[int, Answer]:
    """Return the answer, and how many other requests were answered meanwhile."""

    async def at_once() -> tuple[int, Answer]:
        read = asyncio.ensure_future(send())
        return await ask_until(world, read, "/api/v1/players/Ann"), await read

    return world.run(at_once())


def test_other_requests_are_answered_during_a_long_read(long_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "FREE_SECONDS", 0.0)

    for path in (EXPORT, f"{EXPORT}&reason=nobody+said+this", "/api/keeper/v1/players/Ann/items?at=20"):
        count, answer = read_beside(long_world, partial(long_world.send, "GET", path, by="Shop"))
        # requests answered during the export: beside a read without pauses, one at most would be answered
        assert (answer.status, count >= 2) == (200, True), (path, count)


def test_other_requests_are_answered_during_the_results_of_a_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results are read and encoded in parts: in the list, in the table, and in the console's file."""
    monkeypatch.setattr(admission, "FREE_SECONDS", 0.0)
    names = [f"Nobody{number}" for number in range(ROWS)]
    job = bulking.create(world, *names, "Ann")["Id"]
    path = f"{bulking.ROOT}/{job}/targets?limit=10000"

    cookie = {"cookie": f"{sessions.PLAIN_COOKIE}={open_session(world, 'Root').cookie}"}
    for send in (
        partial(world.send, "GET", path, by="Shop"),
        partial(world.send, "GET", f"{path}&format=csv", by="Shop"),
        partial(world.send, "GET", f"/console/bulk/{job}/file", by=None, headers=cookie),
    ):
        count, answer = read_beside(world, send)
        assert (answer.status, count >= 2) == (200, True), (answer.headers["content-type"], count)
        assert answer.raw.count(b"Nobody") == ROWS


def test_export_is_one_snapshot_while_others_write(long_world: World) -> None:
    newest = long_world.ledger()[-1].seq

    async def at_once() -> tuple[int, Answer]:
        export = asyncio.ensure_future(long_world.send("GET", EXPORT, by="Shop"))
        given = 0
        while not export.done():
            given += (await long_world.send("POST", GIVE, body=COIN)).status == 200
        return given, await export

    given, answer = long_world.run(at_once())
    rows = list(csv.reader(io.StringIO(answer.raw.decode())))
    numbers = [int(row[0]) for row in rows[1:]]
    assert given > 0
    assert numbers == list(range(numbers[0], numbers[0] - ROWS, -1))
    assert newest <= numbers[0] < newest + given


def test_too_many_long_reads_of_one_account_do_not_block_another(long_world: World) -> None:
    count = 1 + admission.MAX_WAITING_PER_ACCOUNT + 2

    async def at_once() -> list[Answer]:
        exports = [long_world.send("GET", EXPORT, by="Shop") for _ in range(count)]
        return await asyncio.gather(*exports, long_world.send("GET", EXPORT, by="Root"))

    *answers, other = long_world.run(at_once())
    assert [answer.status for answer in answers].count(200) == count - 2
    for answer in answers:
        if answer.status != 200:
            refused(answer, 429, "too_many_long_reads")
            assert answer.headers["retry-after"] == str(admission.RETRY_SECONDS)
    assert other.status == 200


@pytest.mark.both_engines
def test_long_read_survives_its_pauses(long_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL closes a connection that is idle inside a transaction: pauses must be shorter than that."""
    assert admission.PAUSE_SECONDS <= postgres_pool.SLOW_SECONDS / 2
    # with this small share of the time, only the limit PAUSE_SECONDS keeps pauses of the long read short
    monkeypatch.setattr(admission, "LONG_READ_SHARE", 0.0001)
    monkeypatch.setattr(admission, "PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(admission, "CREDIT_SECONDS", 3600.0)

    async def at_once() -> Answer:
        await long_world.keeper.store.limit_statements(30)  # the statement timeout that `serve` sets
        read = asyncio.ensure_future(long_world.send("GET", "/api/keeper/v1/changes?limit=251", by="Shop"))
        await ask_until(long_world, read, "/api/v1/players/Ann")
        return await read

    assert long_world.run(at_once()).status == 200


def test_few_long_reads_run_at_once() -> None:
    running = most = 0

    async def work(_: Pause) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(admission.POLL_SECONDS)
        running -= 1

    async def at_once() -> None:
        one, accounts = Gate(Admission(1)), range(2 * admission.MAX_LONG_READS)
        await asyncio.gather(*(one.run(f"account {number}", work, long=True) for number in accounts))

    asyncio.run(at_once())
    assert most == admission.MAX_LONG_READS


def test_short_read_runs_beside_an_export_of_its_account() -> None:
    async def read(rest: Pause) -> None:
        await rest()

    async def at_once() -> None:
        one, over = Gate(Admission(1)), asyncio.Event()
        export = asyncio.ensure_future(one.run("Ann", lambda _: over.wait(), long=True))
        await asyncio.sleep(0)
        await asyncio.wait_for(one.run("Ann", read), 30)
        assert not export.done()
        over.set()
        await export

    asyncio.run(at_once())


def test_export_ends_when_its_caller_disconnects(long_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    resting = asyncio.Event()

    async def never_go_on(_: Gate, __: str) -> None:
        resting.set()
        await asyncio.Event().wait()

    async def hang_up() -> Any:
        await resting.wait()
        return {"type": "http.disconnect"}

    async def ignore(_: Any) -> None:
        pass

    path, _, query = EXPORT.partition("?")
    token = f"Bearer {long_world.tokens['Shop']}".encode()
    scope: dict[str, Any] = {"type": "http", "method": "GET", "raw_path": path.encode(), "client": None}
    scope |= {"query_string": query.encode(), "headers": [(b"authorization", token)]}
    monkeypatch.setattr(Gate, "wait_for_next", never_go_on)
    long_world.run(asyncio.wait_for(long_world.asgi(scope, hang_up, ignore), 30))
    monkeypatch.undo()
    assert long_world.get(EXPORT, by="Shop").status == 200
