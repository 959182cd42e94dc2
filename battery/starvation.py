"""Test f: a blocked log, long reads and idle connections do not delay other requests."""

import http.client
import os
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import httpx

from battery import realm, steady_load
from battery.cases import SQLITE, Case, Figure, Run, Timed
from battery.realm import Realm
from battery.served import LOG_ON_LOOP, NO_GATE, Served
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import Statement
from server import Server, free_port

ANSWERS = 2_000  # number of requests whose access log lines exceed the pipe's buffer, which holds about 500
PATIENCE_SECONDS = 5
SECONDS, CLIENTS, EXPORTS = 4, 8, 4
NO_HEALTH_PORT = "no-health-port"  # seeded fault: health probes use the API's port instead of the separate health port
KEPT_OPEN, HELD, PROBES = 50, 300, 3
SHARE = 0.8  # least rate of short requests beside long reads, as a share of their rate without long reads
CHANGES = 10_000
EXPORT = f"/api/keeper/v1/changes?format=csv&limit={CHANGES}"
COPY = """INSERT INTO ledger (at, kind, actor_id, over_link, player_id, before, after, request_id)
          SELECT a.at, a.kind, a.actor_id, a.over_link, a.player_id, a.before, a.after, a.request_id
          FROM ledger a CROSS JOIN (SELECT seq FROM ledger LIMIT 100) b WHERE a.player_id IS NOT NULL LIMIT 10000"""


def stalled_log(run: Run) -> list[Figure]:
    realm.prepare(run.database, 1)
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer):
        server = _server(run, LOG_ON_LOOP, access_log=True)
        server.stderr = writer
        try:
            server.start()
            answered = _count_answered(server.port)
        finally:
            server.kill()
    wanted = f"{ANSWERS:,}"
    return [Figure("answers while the log is not read", f"{answered:,}", wanted, answered == ANSWERS)]


def _server(run: Run, way: str, *, access_log: bool = False) -> Server:
    logged = str(access_log).lower()
    return Served(way, run.database, access_log=logged) if run.fault else Server(run.database, access_log=logged)


def _count_answered(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    for number in range(ANSWERS):
        try:
            connection.request("GET", "/health/live")
            connection.getresponse().read()
        except OSError:
            return number
    connection.close()
    return ANSWERS


def long_reads(run: Run) -> list[Figure]:
    world = realm.prepare(run.database, 100)
    realm.at_work(run.database, _lengthen_ledger)
    with _server(run, NO_GATE) as server:
        alone = _count_short(server.url, world)
        with _exporting(server.url, world):
            beside = _count_short(server.url, world)
    kept = beside / alone
    return [Timed(f"short requests during {EXPORTS} exports", f"{kept:.0%} of {alone}", "≥ 80 %", kept >= SHARE)]


def _count_short(url: str, world: Realm) -> int:
    path = f"/api/v1/players/{world.players[0]}"
    return steady_load.count(steady_load.start(url, world.token, path, SECONDS, CLIENTS))


@contextmanager
def _exporting(url: str, world: Realm) -> Generator[None]:
    exports = steady_load.start(url, world.token, EXPORT, 2 * SECONDS, EXPORTS)
    try:
        yield
    finally:
        exports.kill()
        exports.communicate()


async def _lengthen_ledger(keeper: Keeper) -> None:
    async def copy(tx: Writing) -> None:
        await tx.returning(Statement("copy", {"": COPY}))

    await keeper.store.write(copy)


def held_connections(run: Run) -> list[Figure]:
    """Hold more idle connections than an instance accepts, and probe its health."""
    realm.prepare(run.database, 1)
    health = free_port()
    server = Server(run.database, health_port=health, open_connections=KEPT_OPEN, head_seconds=60)
    with server, ExitStack() as lines:
        for _ in range(HELD):
            lines.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS))
        good = sum(_is_live(server.port if run.fault else health) for _ in range(PROBES))
    said = f"health probes answered while {HELD} connections are held"
    return [Figure(said, f"{good} of {PROBES}", f"{PROBES}", good == PROBES)]


def _is_live(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=PATIENCE_SECONDS).is_success
    except httpx.TransportError:
        return False


CASES = (
    Case("f", "stalled log", stalled_log, (LOG_ON_LOOP,), engines=(SQLITE,), fault_engines=(SQLITE,)),
    Case("f", "long reads", long_reads, (NO_GATE,), fault_engines=(SQLITE,), timed_faults=(NO_GATE,)),
    Case("f", "held connections", held_connections, (NO_HEALTH_PORT,), fault_engines=(SQLITE,)),
)
