"""Temporary copies of a benchmark database for writes, so that the original stays unchanged."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw

from benchmarks.worlds import SQLITE, BenchWorld
from pair import fetch

FILE = "sqlite:///"


@contextmanager
def open_copy(world: BenchWorld, name: str) -> Generator[BenchWorld]:
    """Copy a benchmark database for the duration of the block; no client may be connected to the original."""
    template = world.folder.name
    url = f"{FILE}{_file(world).with_name(name)}.db" if world.engine == SQLITE else _place(world, f"{template}_{name}")
    copy = replace(world, url=url)
    _drop(copy, name)  # delete the copy that an aborted run may have left
    if world.engine == SQLITE:
        with (
            closing(apsw.Connection(str(_file(world)))) as source,
            closing(apsw.Connection(str(_file(copy)))) as target,
            target.backup("main", source, "main") as backup,
        ):
            backup.step()
    else:
        fetch(_place(world, "postgres"), f"CREATE DATABASE {template}_{name} TEMPLATE {template}")
    try:
        yield copy
    finally:
        _drop(copy, name)


def execute(world: BenchWorld, *commands: str) -> list[Any]:
    """Run statements, and return the rows of the last one."""
    rows: list[Any] = []
    if world.engine == SQLITE:
        with closing(apsw.Connection(str(_file(world)))) as db:
            for each in commands:
                rows = db.execute(each).fetchall()
    else:
        for each in commands:
            rows = fetch(world.url, each)
    return rows


def _file(world: BenchWorld) -> Path:
    return Path(world.url.removeprefix(FILE))


def _place(world: BenchWorld, database: str) -> str:
    return urlunsplit(urlsplit(world.url)._replace(path=f"/{database}"))


def _drop(copy: BenchWorld, name: str) -> None:
    if copy.engine == SQLITE:
        for ending in ("", "-wal", "-shm"):
            Path(f"{_file(copy)}{ending}").unlink(missing_ok=True)
    else:
        fetch(_place(copy, "postgres"), f"DROP DATABASE IF EXISTS {copy.folder.name}_{name} WITH (FORCE)")
