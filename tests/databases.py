"""Databases of both engines for the tests: empty ones, and copies of a template with all test players."""

import asyncio
import contextlib
import shutil
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import asyncpg

import world as worlds

TEMPLATE = "gamekeeper_template"
MEMORY = Path("/dev/shm")  # noqa: S108 - each run creates its own folder there
# bytes of free memory needed for the databases of several test processes; containers often have less
MEMORY_LEAST = 2 << 30
LEAVE_SECONDS = 1


def place() -> Path | None:
    """Return a folder in memory for test databases (ten times faster), or None if it has too little room."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(MEMORY).free >= MEMORY_LEAST:
            return MEMORY
    return None


class Sqlite:
    """Creates SQLite databases as copies of a template file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tokens = asyncio.run(worlds.prepare(self._url("template")))

    def empty(self) -> str:
        return self._url(uuid.uuid4().hex)

    def fresh(self) -> str:
        return self.copy(self._url("template"))

    def copy(self, url: str) -> str:
        """Copy an SQLite database that is not open."""
        name = uuid.uuid4().hex
        shutil.copyfile(url.removeprefix("sqlite:///"), self._folder / f"{name}.db")
        return self._url(name)

    def drop(self, url: str) -> None:
        for path in Path(url.removeprefix("sqlite:///")).parent.glob(Path(url).name + "*"):
            path.unlink(missing_ok=True)  # ignore missing files: a killed process may still be deleting files

    def _url(self, name: str) -> str:
        return f"sqlite:///{self._folder / name}.db"


class State(NamedTuple):
    """A database's id, rows written so far and open connections; equal states mean that nothing was written."""

    which: int
    written: int
    connected: int


class Postgres:
    """PostgreSQL databases, copied from a template; a copy without writes is used again."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._runner = asyncio.Runner()
        self._db: Any = None
        # FILE_COPY copies without the WAL, which would need much memory; its two checkpoints are cheap in memory.
        self._copied = "STRATEGY FILE_COPY" if f"host={MEMORY}/" in server else ""
        self._unwritten: list[str] = []
        self._states: dict[str, State] = {}
        self._template = f"{TEMPLATE}_{uuid.uuid4().hex[:8]}"
        self._execute(f'CREATE DATABASE "{self._template}"')
        self.tokens = asyncio.run(worlds.prepare(self._url(self._template)))

    def empty(self, *options: str) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" {" ".join(options)}')
        return self._url(name)

    def fresh(self) -> str:
        url = self._unwritten.pop() if self._unwritten else self.copy(self._url(self._template))
        self._states[url] = self._state(url)
        return url

    def copy(self, url: str) -> str:
        """Copy a PostgreSQL database without open connections."""
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{urlsplit(url).path[1:]}" {self._copied}')
        return self._url(name)

    def drop(self, url: str) -> None:
        before = self._states.pop(url, None)
        if before and self._is_still(before, url):
            self._unwritten.append(url)
        else:
            self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def replace(self, url: str) -> None:
        """Replace the PostgreSQL database by an empty one of the same name."""
        name = urlsplit(url).path[1:]
        self._execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        self._execute(f'CREATE DATABASE "{name}"')

    def close(self) -> None:
        for url in (*self._unwritten, self._url(self._template)):
            self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')
        self._runner.run(self._db.close())
        self._runner.close()

    def _is_still(self, before: State, url: str) -> bool:
        """Wait until closed connections have ended: PostgreSQL counts their writes before it drops them."""
        until = time.monotonic() + LEAVE_SECONDS
        while (now := self._state(url)).connected > before.connected and now.which == before.which:
            if now.written > before.written or time.monotonic() > until:
                return False
            time.sleep(0.001)
        return now == before

    def _state(self, url: str) -> State:
        return State(
            *self._execute(
                "SELECT datid, tup_inserted + tup_updated + tup_deleted, numbackends FROM pg_stat_database "
                "WHERE datname = $1",
                urlsplit(url).path[1:],
            )
        )

    def _url(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{name}"))

    def _execute(self, command: str, *values: str) -> Any:
        async def run() -> Any:
            if self._db is None:
                driver: Any = asyncpg
                self._db = await driver.connect(self._server)
            return await self._db.fetchrow(command, *values)

        return self._runner.run(run())
