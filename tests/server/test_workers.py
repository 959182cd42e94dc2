"""Several workers of one service on PostgreSQL: one dies, or their shared folder disappears."""

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from postgres_sessions import connected
from remote import wait_until
from server import Server

pytestmark = [pytest.mark.parametrize("engine", ["postgres"], indirect=True), pytest.mark.long_only]


def workers(server: Server) -> list[psutil.Process]:
    """Return the live worker processes of a server, without the resource tracker."""
    found: list[psutil.Process] = []
    for each in psutil.Process(server.pid).children():
        with contextlib.suppress(psutil.Error):
            found += [] if "resource_tracker" in " ".join(each.cmdline()) else [each]
    return found


def serving(server: Server) -> bool:
    """Return whether both workers listen on the port, which each does when it is ready."""
    with contextlib.suppress(psutil.Error):
        lines = [each.net_connections("tcp") for each in workers(server)]
        return [any(line.status == "LISTEN" for line in each) for each in lines] == [True, True]
    return False


def let_in(database: str, *, anybody: bool) -> None:
    parts = urlsplit(database)

    async def alter() -> None:
        async with connected(parts._replace(path="/postgres").geturl()) as server:
            await server.execute(f'ALTER DATABASE "{parts.path[1:]}" ALLOW_CONNECTIONS {anybody}')

    asyncio.run(alter())


def test_replacement_of_a_dead_worker_waits_for_the_database(
    database: str, known_tokens: Mapping[str, str], tmp_path: Path
) -> None:
    said = tmp_path / "log"
    server = Server(database, workers=2)
    headers = {"Authorization": f"Bearer {known_tokens['Root']}"}
    with said.open("wb") as log:
        server.stderr = log.fileno()
        with server:
            wait_until(lambda: serving(server))
            let_in(database, anybody=False)
            workers(server)[0].kill()
            wait_until(
                lambda: '"id": "start", "problem": "the database is unreachable' in said.read_text(encoding="utf-8")
            )
            assert httpx.get(f"{server.url}/health/live").status_code == 200
            let_in(database, anybody=True)
            wait_until(lambda: serving(server))
            assert httpx.get(f"{server.url}/api/v1/players/Ann", headers=headers).status_code == 200
            assert server.stop() == 0
