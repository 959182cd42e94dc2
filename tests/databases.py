"""Databases of either engine for the tests: empty ones, and fresh copies of a template with everybody in it."""

import asyncio
import shutil
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg

import world as worlds

TEMPLATE = "gamekeeper_template"


class Sqlite:
    """Databases as files, copied from a template file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tokens = asyncio.run(worlds.prepare(self._url("template")))

    def empty(self) -> str:
        return self._url(uuid.uuid4().hex)

    def fresh(self) -> str:
        name = uuid.uuid4().hex
        shutil.copyfile(self._folder / "template.db", self._folder / f"{name}.db")
        return self._url(name)

    def drop(self, url: str) -> None:
        for path in Path(url.removeprefix("sqlite:///")).parent.glob(Path(url).name + "*"):
            path.unlink()

    def _url(self, name: str) -> str:
        return f"sqlite:///{self._folder / name}.db"


class Postgres:
    """Databases on one server, copied from a template database; one that nobody wrote to is a fresh copy still."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._unwritten: list[str] = []
        self._states: dict[str, str] = {}
        self._template = f"{TEMPLATE}_{uuid.uuid4().hex[:8]}"
        self._execute(f'CREATE DATABASE "{self._template}"')
        self.tokens = asyncio.run(worlds.prepare(self._url(self._template)))

    def empty(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}"')
        return self._url(name)

    def fresh(self) -> str:
        url = self._unwritten.pop() if self._unwritten else self._copy()
        self._states[url] = self._state(url)
        return url

    def drop(self, url: str) -> None:
        if self._states.pop(url, None) == self._state(url):
            self._unwritten.append(url)
        else:
            self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def replace(self, url: str) -> None:
        """By an empty one of the same name."""
        name = urlsplit(url).path[1:]
        self._execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        self._execute(f'CREATE DATABASE "{name}"')

    def close(self) -> None:
        for url in (*self._unwritten, self._url(self._template)):
            self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def _copy(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{self._template}"')
        return self._url(name)

    def _state(self, url: str) -> str:
        """Which one it is, how many rows were written so far, who is connected: as they were, and nothing is new."""
        return self._execute(
            "SELECT concat_ws(' ', datid, tup_inserted + tup_updated + tup_deleted, numbackends) "
            "FROM pg_stat_database WHERE datname = $1",
            urlsplit(url).path[1:],
        )

    def _url(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{name}"))

    def _execute(self, command: str, *values: str) -> Any:
        async def run() -> Any:
            driver: Any = asyncpg
            db = await driver.connect(self._server)
            try:
                return await db.fetchval(command, *values)
            finally:
                await db.close()

        return asyncio.run(run())
