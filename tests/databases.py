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
    """Databases on one server, copied from a template database."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._template = f"{TEMPLATE}_{uuid.uuid4().hex[:8]}"
        self._execute(f'CREATE DATABASE "{self._template}"')
        self.tokens = asyncio.run(worlds.prepare(self._url(self._template)))

    def empty(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}"')
        return self._url(name)

    def fresh(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{self._template}"')
        return self._url(name)

    def drop(self, url: str) -> None:
        self._execute(f'DROP DATABASE "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def close(self) -> None:
        self.drop(self._url(self._template))

    def _url(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{name}"))

    def _execute(self, command: str) -> None:
        async def run() -> None:
            driver: Any = asyncpg
            db = await driver.connect(self._server)
            await db.execute(command)
            await db.close()

        asyncio.run(run())
