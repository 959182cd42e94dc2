"""Databases that earlier versions wrote: today's program opens them, every operation works, every kept key replays."""

import asyncio
import gzip
import json
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import everything
from findings import errors
from gamekeeper.game import tokens
from gamekeeper.http import wire
from gamekeeper.store import users
from gamekeeper.store.migrate import migrate
from world import World, opened

FROZEN = Path(__file__).parent / "frozen"
VERSIONS = sorted(each.name for each in FROZEN.iterdir())
MOST_BYTES = 300_000  # of one version, for both engines
RECORD = set(wire.PlayerRecord.__struct_fields__)


def dump(version: str, name: str) -> bytes:
    return gzip.decompress((FROZEN / version / name).read_bytes())


def thaw(version: str, engine: str, url: str) -> None:
    """The database as that version left it."""
    if engine == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(dump(version, "sqlite.db.gz"))
        return
    asyncio.run(_execute(url, dump(version, "postgres.sql.gz").decode()))


async def _execute(url: str, text: str) -> None:
    driver: Any = asyncpg
    db = await driver.connect(url)
    try:
        await db.execute(text)
    finally:
        await db.close()


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def frozen(version: str, engine: str, empty_database: str) -> Generator[World]:
    thaw(version, engine, empty_database)
    with opened(empty_database, {}) as world:
        world.run(migrate(world.keeper.store))
        root = world.run(users.by_fold(world.keeper.store, "root"))
        assert root
        world.tokens = {"Root": world.run(tokens.issue_for_service(world.keeper, root, 1, read_only=False)).access}
        yield world


def test_database_of_earlier_version_works(frozen: World, version: str, engine: str) -> None:
    """Replays first: what follows changes nothing that they are about, but it could."""
    assert errors(frozen) == []
    for each in frozen.get("/api/v1/players?pageSize=100").json["Values"]:
        assert each.keys() >= RECORD, each
    for kept in json.loads((FROZEN / version / f"{engine}.json").read_bytes()):
        answer = frozen.call(kept["method"], kept["path"], body=kept["body"], headers={"Idempotency-Key": kept["key"]})
        replayed = answer.headers.get("idempotent-replay"), answer.raw.decode()
        assert replayed == ("true", kept["answer"]), kept["operation"]
    for example, answer in everything.run_all(frozen, partial(everything.send, frozen), "Later"):
        assert answer.status == 200, (example.name, answer.raw)
    assert errors(frozen) == []


def test_dump_is_small(version: str) -> None:
    assert sum(each.stat().st_size for each in (FROZEN / version).iterdir()) < MOST_BYTES
