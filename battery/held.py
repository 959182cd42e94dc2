"""Nobody can write while somebody else holds the lock: changes that are asked for meanwhile pile up."""

import asyncio
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any

import asyncpg

SQLITE_URL = "sqlite:///"


@contextmanager
def writes(database: str) -> Generator[None]:
    with _of_a_file(database) if database.startswith(SQLITE_URL) else _of_a_server(database):
        yield


@contextmanager
def _of_a_file(database: str) -> Generator[None]:
    """Not for longer than five seconds: a writer waits no longer."""
    with closing(sqlite3.connect(database.removeprefix(SQLITE_URL), isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def _of_a_server(database: str) -> Generator[None]:
    driver: Any = asyncpg
    with asyncio.Runner() as runner:
        db = runner.run(driver.connect(database))
        try:
            runner.run(db.execute("BEGIN; LOCK TABLE players IN EXCLUSIVE MODE"))
            yield
        finally:
            runner.run(db.close())
