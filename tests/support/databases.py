"""Databases of both engines for the tests: empty ones, and copies of a template with all test players."""

import asyncio
import contextlib
import shutil
import time
import uuid
from collections.abc import Coroutine, Generator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg

import world as worlds
from restored_rows import CannotRestore, Restorer

T = TypeVar("T")
TEMPLATE = "gamekeeper_template"
MEMORY = Path("/dev/shm")  # noqa: S108 - each run creates its own folder there
# bytes of free memory needed for the databases of several test processes; containers often have less
MEMORY_LEAST = 2 << 30
LEAVE_SECONDS = 1
DAY_SECONDS = 24 * 60 * 60
LAST_SECONDS = 20  # of a day: longer than most tests


def find_day() -> int:
    """Return the number of the day (UTC). Wait for the next day just before midnight: a test would count two days."""
    left = DAY_SECONDS - time.time() % DAY_SECONDS
    if left < LAST_SECONDS:
        time.sleep(left)
    return int(time.time() // DAY_SECONDS)


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
        self._day = 0
        self.tokens: dict[str, str] = {}
        self._fill_template()

    def empty(self) -> str:
        find_day()
        return self._url(uuid.uuid4().hex)

    def fresh(self, *, used: bool = False) -> str:
        del used  # a new copy of a file is as cheap
        return self.copy(self._fill_template())

    def copy(self, url: str) -> str:
        """Copy an SQLite database that is not open."""
        name = uuid.uuid4().hex
        shutil.copyfile(url.removeprefix("sqlite:///"), self._folder / f"{name}.db")
        return self._url(name)

    def drop(self, url: str) -> None:
        for path in Path(url.removeprefix("sqlite:///")).parent.glob(Path(url).name + "*"):
            path.unlink(missing_ok=True)  # ignore missing files: a killed process may still be deleting files

    def _fill_template(self) -> str:
        """Fill the template once each day, with the same tokens: tests count its changes as those of today."""
        day = find_day()
        url = self._url(f"template{day}")
        if day != self._day:
            self._day = day
            self.tokens |= asyncio.run(worlds.prepare(url, self.tokens))
        return url

    def _url(self, name: str) -> str:
        return f"sqlite:///{self._folder / name}.db"


class Postgres:
    """PostgreSQL databases, copied from a template. A test's database is restored for the next test where possible.

    A connection stays open to such a database, with its prepared statements: worlds on it start with it. A new database
    with a new connection costs ten times as much.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self.loop = asyncio.new_event_loop()  # of all worlds here: a connection belongs to a loop
        self.kept: dict[str, Any] = {}  # database URL → open connection of no world
        self._admin: Any = None
        # FILE_COPY copies without the WAL, which would need much memory; its two checkpoints are cheap in memory.
        self._copied = "STRATEGY FILE_COPY" if f"host={MEMORY}/" in server else ""
        self._restored: list[str] = []
        self._day = 0
        self._template = ""  # URL
        self.tokens: dict[str, str] = {}
        self._fill_template()

    def empty(self, *options: str) -> str:
        find_day()
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" {" ".join(options)}')
        return self._url(name)

    def fresh(self, *, used: bool = False) -> str:
        """Return a database with all test people. If `used`, it may be restored, with an open connection in `kept`."""
        self._fill_template()
        if used and self._restored:
            return self._restored.pop()
        url = self.copy(self._template)
        [number] = self._execute("SELECT oid FROM pg_database WHERE datname = $1", _find_name(url))
        self._restorer.expect(url, number)
        return url

    def copy(self, url: str) -> str:
        """Copy a PostgreSQL database without open connections."""
        self._disconnect(url)
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{_find_name(url)}" {self._copied}')
        return self._url(name)

    def drop(self, url: str) -> None:
        """Drop the database, or restore it for another test if a connection to it was kept."""
        if url in self.kept:
            self._wait_for_others(url)
            with contextlib.suppress(CannotRestore, asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                self._run(self._restorer.restore(url, self.kept[url].db))
                self._restored.append(url)
                return
        self._drop(url)

    def replace(self, url: str) -> None:
        """Replace the PostgreSQL database by an empty one of the same name."""
        self._disconnect(url)
        name = _find_name(url)
        self._execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        self._execute(f'CREATE DATABASE "{name}"')

    def close(self) -> None:
        for url in (*self._restored, self._template):
            self._drop(url)
        self._run(self._admin.close())
        self.loop.close()

    def _fill_template(self) -> None:
        """Fill the template once each day, with the same tokens: tests count its changes as those of today."""
        day = find_day()
        if day == self._day:
            return
        self._day, outdated = day, [*self._restored, self._template] if self._template else []
        self._restored.clear()
        self._template = self._url(f"{TEMPLATE}_{uuid.uuid4().hex[:8]}")
        self._execute(f'CREATE DATABASE "{_find_name(self._template)}"')
        self.tokens |= asyncio.run(worlds.prepare(self._template, self.tokens))
        self._restorer = self._run(Restorer.read(self._template))
        for url in outdated:
            self._drop(url)

    def _drop(self, url: str) -> None:
        self._disconnect(url)
        self._restorer.forget(url)
        self._execute(f'DROP DATABASE "{_find_name(url)}" WITH (FORCE)')

    def _disconnect(self, url: str) -> None:
        if connection := self.kept.pop(url, None):
            self._run(connection.db.close())

    def _wait_for_others(self, url: str) -> None:
        """Wait until all other connections have ended: PostgreSQL counts their writes before it drops them."""
        until = time.monotonic() + LEAVE_SECONDS
        count = "SELECT numbackends FROM pg_stat_database WHERE datname = $1"
        while self._execute(count, _find_name(url))[0] > 1 and time.monotonic() < until:
            time.sleep(0.001)

    def _url(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{name}"))

    def _execute(self, command: str, *values: str) -> Any:
        async def run() -> Any:
            if self._admin is None:
                driver: Any = asyncpg
                self._admin = await driver.connect(self._server)
            return await self._admin.fetchrow(command, *values)

        return self._run(run())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


def lend(databases: Any, url: str) -> Generator[str]:
    """Yield the URL of a new database for a fixture, and drop the database in the end."""
    yield url
    databases.drop(url)


def _find_name(url: str) -> str:
    return urlsplit(url).path[1:]
