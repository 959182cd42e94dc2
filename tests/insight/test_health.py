"""Health: live without the database, ready when a write succeeds, and cheap; with a port of its own; and standbys."""

import asyncio
import socket
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

import people
from findings import errors, findings
from gamekeeper import app
from gamekeeper.doctor.findings import ERROR
from gamekeeper.ground import log
from gamekeeper.ground.settings import Settings
from gamekeeper.http.insight import health
from gamekeeper.http.server import admission
from gamekeeper.store.engine.database_checks import (
    StandbyMonitor,
    count_synchronous_standbys,
    find_standby_shortage,
    parse_required_standbys,
)
from loops import over
from pair import USER, Pair
from postgres_sessions import connected
from server import Server, free_port
from world import MakeWorld, World

ASKERS = 30
LONG_ONLY = pytest.mark.long_only


def ready_soon(world: World) -> int:
    """Request /health/ready after the cached answer has expired; return the status."""
    world.run(asyncio.sleep(health.FRESH_SECONDS + 0.1))
    return world.get("/health/ready", by=None).status


def count_writes(world: World) -> int:
    """Return a database counter that grows with every write transaction."""
    if world.keeper.store.engine == "sqlite":
        return world.keeper.store.collect_stats().batched
    return int(world.sql("SELECT CAST(pg_current_xact_id() AS text)")[0][0])


def test_concurrent_readiness_checks_share_one_write_and_leave_no_rows(world: World) -> None:
    assert world.get("/health/live", by=None).json == {"Status": "live"}

    before = count_writes(world)
    for _ in range(2):
        answers = world.at_once(world.send("GET", "/health/ready", by=None) for _ in range(ASKERS))
        assert {answer.status for answer in answers} == {200}
    # many health requests share few writes; PostgreSQL itself writes now and then
    assert 1 <= count_writes(world) - before < ASKERS / 3
    assert world.get("/health/ready", by=None).json == {"Status": "ready"}
    assert ready_soon(world) == 200
    assert world.sql("SELECT COUNT(*) FROM guesses") == [(0,)]


def test_readiness_is_checked_again_after_a_failure(world: World) -> None:
    world.run(world.keeper.store.close())
    closed = ready_soon(world)
    world.run(world.keeper.store.open())
    assert world.get("/health/ready", by=None).status == 200
    # PostgreSQL is ready, because its connection pool reconnects
    assert closed == {"sqlite": 503, "postgres": 200}[world.keeper.store.engine]


def test_hanging_write_is_not_awaited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "TIMEOUT_SECONDS", 0.1)
    over = asyncio.Event()

    async def hang(_: Any, **__: Any) -> None:
        await over.wait()

    async def ask() -> int:
        answer = await asyncio.wait_for(world.send("GET", "/health/ready", by=None), 30)
        over.set()
        return answer.status

    monkeypatch.setattr(world.keeper.store, "write", hang)
    assert world.run(ask()) == 503


def as_superuser(world: World, commands: str) -> None:
    async def execute() -> None:
        async with connected(world.url) as db:
            await db.execute("SET ROLE NONE")
            await db.execute(commands)

    world.run(execute())


@pytest.fixture
def lesser_role(world: World) -> Iterator[str]:
    """Connect as a role without superuser and ownership, whose privileges can be revoked."""
    name, role = urlsplit(world.url).path[1:], f"gk_{uuid.uuid4().hex}"
    world.sql(f"CREATE ROLE {role}")
    for each in ("TABLES", "SEQUENCES", "FUNCTIONS"):
        world.sql(f"GRANT ALL ON ALL {each} IN SCHEMA public TO {role}")
    world.sql("REVOKE EXECUTE ON FUNCTION search_parts FROM PUBLIC")
    world.sql("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
    world.sql(f"GRANT USAGE ON SCHEMA public TO {role}")
    world.sql(f'ALTER DATABASE "{name}" SET role = {role}')
    world.run(world.keeper.store.close())  # new database connections have the new role
    yield role
    as_superuser(world, f'ALTER DATABASE "{name}" RESET role; DROP OWNED BY {role}; DROP ROLE {role}')
    world.run(world.keeper.store.close())


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("revoked", "fault"),
    [
        ("INSERT ON ledger", "lacks privileges on: ledger. Grant the privilege"),
        pytest.param("ALL ON SEQUENCE ledger_seq", "lacks privileges on: ledger_seq.", marks=LONG_ONLY),
        pytest.param("EXECUTE ON FUNCTION search_parts", "lacks privileges on: search_parts.", marks=LONG_ONLY),
        ("USAGE ON SCHEMA public", "finds no schema to use. Check that the database user has USAGE on the schema"),
    ],
)
def test_revoked_privileges_are_503_and_not_ready(world: World, lesser_role: str, revoked: str, fault: str) -> None:
    """After revoked privileges the health check fails, and the doctor names the missing privileges."""
    give = "/api/v1/players/Bob/items/give", {"itemid": people.COIN.id, "quantity": 1}
    add, newcomer = f"/api/link/v1/players/{uuid.uuid4()}", {"Name": "Newcomer", "UserId": people.USER_IDS["Ann"]}
    assert (world.post(*give).status, ready_soon(world), errors(world)) == (200, 200, [])
    as_superuser(world, f"REVOKE {revoked} FROM {lesser_role}")
    world.run(world.keeper.store.close())  # close the connections, because each one looks up the schema only once
    refused = world.call("PUT", add, body=newcomer, by="Server")
    assert (refused.status, refused.json["Code"], ready_soon(world)) == (503, "database_away", 503)
    assert any(fault in each for each in errors(world)), errors(world)
    as_superuser(world, f"GRANT {revoked} TO {lesser_role}")
    world.run(world.keeper.store.close())
    assert (world.call("PUT", add, body=newcomer, by="Server").status, ready_soon(world), errors(world)) == (
        200,
        200,
        [],
    )


CONNECTIONS = 20
PATIENCE_SECONDS = 2
# SQLite only: the database engine makes no difference for the health port
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


def status(port: int, path: str) -> int:
    return httpx.get(f"http://127.0.0.1:{port}{path}", timeout=30).status_code


@ON_SQLITE
@LONG_ONLY
def test_health_port_answers_while_all_connections_are_held(database: str) -> None:
    health = free_port()
    server = Server(database, health_port=health, open_connections=CONNECTIONS, head_seconds=60)
    with server, ExitStack() as lines:
        assert status(health, "/health/ready") == 200
        for _ in range(3 * CONNECTIONS):
            lines.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/health/live", timeout=PATIENCE_SECONDS)
        assert [status(health, path) for path in ("/health/live", "/health/ready", "/metrics")] == [200, 200, 404]
        lines.close()
        assert server.stop() == 0


SHORTAGE = "The database has 0 synchronous standbys, but synchronous_standbys is 1: "


@pytest.fixture
def pair() -> Generator[Pair]:
    servers = Pair()
    try:
        servers.start()
        yield servers
    finally:
        servers.close()


@over(
    "names, count",
    (" ", 0),
    ("*", 1),
    ("one, two", 1),
    ('"2 (odd)", two', 1),
    ("2 (one, two, three)", 2),
    ("FIRST 3 (*)", 3),
    ("any 12(one)", 12),
)
def test_required_standbys_are_read_from_the_parameter(names: str, count: int) -> None:
    assert parse_required_standbys(names) == count


def test_doctor_reports_too_few_standbys_as_an_error_and_the_log_their_beginning_once(
    make_world: MakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    world = make_world(synchronous_standbys=1)
    [found] = findings(world, "standbys")
    assert found.level == ERROR
    assert found.message.startswith(SHORTAGE)
    assert findings(make_world(), "standbys") == []
    watch = StandbyMonitor(world.keeper.store, 1)
    world.run(watch.check())
    world.run(watch.check())
    log.flush()
    assert capsys.readouterr().err.count(SHORTAGE) == 1


@pytest.mark.long_only
def test_connected_synchronous_standbys_are_counted(pair: Pair) -> None:
    """Writes wait for a required standby that is not connected, so the operator must see the shortage."""
    pair.primary.fetch("CREATE ROLE plain LOGIN")
    plain = pair.primary.url.replace(f"{USER}@", "plain@")  # a role that may not see standbys: the required ones
    assert (count(pair.primary.url), count(plain), shortage(pair.url, 1)) == (1, 1, "")
    assert "has 1 synchronous standbys, but synchronous_standbys is 2" in shortage(pair.url, 2)
    try:
        set_names(pair, "FIRST 2 (standby, another)")
        assert count(pair.primary.url) == 1
        set_names(pair, "")
        assert (count(plain), SHORTAGE in shortage(pair.url, 1)) == (0, True)
    finally:
        set_names(pair, "standby")


def count(url: str) -> int:
    return asyncio.run(app.run_with_keeper(Settings(database=url), lambda each: count_synchronous_standbys(each.store)))


def shortage(url: str, expected: int) -> str:
    settings = Settings(database=url)
    return asyncio.run(app.run_with_keeper(settings, lambda each: find_standby_shortage(each.store, expected)))


def set_names(pair: Pair, names: str) -> None:
    """Set synchronous_standby_names and wait until the server has reloaded its configuration."""
    pair.primary.fetch(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    pair.primary.fetch("SELECT pg_reload_conf()")
    while pair.primary.fetch("SHOW synchronous_standby_names")[0][0] != names:
        pass
