"""The databases of earlier versions in tests/frozen, and the requests whose answers they have stored."""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

from gamekeeper.game.access import tokens
from gamekeeper.store.accounts import users
from postgres_sessions import connected
from world import World

FROZEN = Path(__file__).parents[1] / "frozen"
VERSIONS = sorted(each.name for each in FROZEN.iterdir())


def thaw(version: str, engine: str, url: str) -> None:
    """Load the dump of an earlier version into the empty database."""
    if engine == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(_dump(version, "sqlite.db.gz"))
    else:
        asyncio.run(_execute(url, _dump(version, "postgres.sql.gz").decode()))


def log_in(world: World) -> None:
    """Give Root a new token, because the dump has tokens only as hashes."""
    root = world.run(users.find_by_fold(world.keeper.store, "root"))
    assert root
    world.tokens = {"Root": world.run(tokens.issue_for_service(world.keeper, root, 1, read_only=False)).access}


def unreplayed(world: World, version: str) -> list[str]:
    """Return the operations whose stored answer is not replayed for the same request and Idempotency-Key."""
    file = FROZEN / version / f"{world.keeper.store.engine}.json"
    return [each["operation"] for each in json.loads(file.read_bytes()) if not _is_replayed(world, each)]


def _is_replayed(world: World, kept: dict[str, Any]) -> bool:
    answer = world.call(kept["method"], kept["path"], body=kept["body"], headers={"Idempotency-Key": kept["key"]})
    return answer.headers.get("idempotent-replay") == "true" and answer.raw.decode() == kept["answer"]


def _dump(version: str, name: str) -> bytes:
    return gzip.decompress((FROZEN / version / name).read_bytes())


async def _execute(url: str, text: str) -> None:
    async with connected(url) as db:
        await db.execute(text)
