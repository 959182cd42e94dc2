"""Hold the database's write lock, so that requested changes queue up."""

import asyncio
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Any

import apsw
import asyncpg

SQLITE_URL = "sqlite:///"
BUSY_MS = 5000  # longest wait for the lock


@contextmanager
def writes(database: str) -> Generator[None]:
    with _of_a_file(database) if database.startswith(SQLITE_URL) else _of_a_server(database):
        yield


@contextmanager
def _of_a_file(database: str) -> Generator[None]:
    """Lock an SQLite file for writing; at most for five seconds, since a writer gives up after that."""
    with closing(apsw.Connection(database.removeprefix(SQLITE_URL))) as db:
        db.set_busy_timeout(BUSY_MS)
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
