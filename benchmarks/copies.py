"""Temporary copies of a benchmark database for writes, so that the original stays unchanged."""

import asyncio
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw
import asyncpg

from benchmarks.worlds import SQLITE, BenchWorld

FILE = "sqlite:///"
ENDINGS = ("", "-wal", "-shm")


@contextmanager
def open_copy(world: BenchWorld, name: str) -> Generator[BenchWorld]:
    """Copy a benchmark database for the duration of the block; no client may be connected to the original."""
    copy = replace(world, url=_url(world, name))
    _drop(copy, name)  # delete the copy that an aborted run may have left
    _make(world, copy, name)
    try:
        yield copy
    finally:
        _drop(copy, name)


def execute(world: BenchWorld, *commands: str) -> None:
    if world.engine == SQLITE:
        with closing(apsw.Connection(str(_file(world)))) as db:
            for each in commands:
                db.execute(each)
    else:
        asyncio.run(_execute(world.url, commands))


def _url(world: BenchWorld, name: str) -> str:
    if world.engine == SQLITE:
        return f"{FILE}{_file(world).with_name(f'{name}.db')}"
    return urlunsplit(urlsplit(world.url)._replace(path=f"/{world.folder.name}_{name}"))


def _file(world: BenchWorld) -> Path:
    return Path(world.url.removeprefix(FILE))


def _make(world: BenchWorld, copy: BenchWorld, name: str) -> None:
    if world.engine == SQLITE:
        with (
            closing(apsw.Connection(str(_file(world)))) as source,
            closing(apsw.Connection(str(_file(copy)))) as target,
            target.backup("main", source, "main") as backup,
        ):
            backup.step()
    else:
        template = world.folder.name
        asyncio.run(_execute(_of_server(world), [f"CREATE DATABASE {template}_{name} TEMPLATE {template}"]))


def _drop(copy: BenchWorld, name: str) -> None:
    if copy.engine == SQLITE:
        for each in ENDINGS:
            Path(f"{_file(copy)}{each}").unlink(missing_ok=True)
    else:
        command = f"DROP DATABASE IF EXISTS {copy.folder.name}_{name} WITH (FORCE)"
        asyncio.run(_execute(_of_server(copy), [command]))


def _of_server(world: BenchWorld) -> str:
    return urlunsplit(urlsplit(world.url)._replace(path="/postgres"))


async def _execute(url: str, commands: "tuple[str, ...] | list[str]") -> None:
    driver: Any = asyncpg
    db = await driver.connect(url)
    try:
        for each in commands:
            await db.execute(each)
    finally:
        await db.close()
