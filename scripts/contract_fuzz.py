"""Serve the demo world and fuzz it with schemathesis against the tolerant OpenAPI document, with all checks.

The database must be empty or have the demo world, with which an empty one is filled. schemathesis.toml lists the
exceptions to schemathesis's expectations, with reasons.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

import httpx

from gamekeeper import app
from gamekeeper.demo import loader, world
from gamekeeper.game.access import tokens
from gamekeeper.game.access.changes import UserRegistered
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground import settings
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.migrate import migrate
from server import Server

ROOT = Path(__file__).parent.parent
PASSWORD = "correct horse battery staple"  # noqa: S105 - a throw-away database's, whose hash the examples have
OWN, OWN_ID = "fuzzer", "f0f0f0f0-0000-4000-8000-00000000f022"
SECONDS = 1200
LIMITS = ("guesses_per_caller", "guesses_per_account", "guesses_per_address", "registrations_per_caller")
UNLIMITED = dict.fromkeys(LIMITS, 100_000)  # no rate limits: a 429 would hide other failures


class FuzzResult(NamedTuple):
    failed: bool
    cases: int
    text: str


def fuzz(
    database: str,
    examples: int,
    phases: str,
    seed: int = 1,
    serve: Callable[..., Server] = Server,
    operations: Collection[str] = (),
) -> FuzzResult:
    """Fuzz the API with `examples` cases per operation; phases other than "fuzzing" choose their own number.

    `operations`: the ids of the operations to fuzz, default all.
    """
    token = asyncio.run(_fill_database(database))
    with serve(database, **UNLIMITED) as server:
        done = _run(server.url, token, examples, phases, seed, operations)
        mine = {"Authorization": f"Bearer {token}"}
        alive = httpx.get(f"{server.url}/api/v1/players", headers=mine).is_success
    counted = re.search(r"([\d,]+) generated", done.stdout)
    text = done.stdout + done.stderr + ("" if alive else "\nThe fuzzer's own token was no good in the end.\n")
    return FuzzResult(done.returncode != 0 or not alive, int(counted[1].replace(",", "")) if counted else 0, text)


def _run(
    url: str, token: str, examples: int, phases: str, seed: int, operations: Collection[str]
) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(ROOT / "schemathesis.toml")]
    command += ["run", f"{url}/api/openapi.json?tolerant=true", "--checks", "all"]
    command += ["--header", f"Authorization: Bearer {token}"]
    command += ["--phases", phases, "--max-examples", str(examples), "--seed", str(seed), "--no-color"]
    command += ["--generation-database", "none", "--continue-on-failure", "--request-timeout", "70"]
    command += [word for each in operations for word in ("--include-operation-id", each)]
    environment = os.environ | {"FUZZ_OWN": f"{OWN},{OWN_ID}", "SCHEMATHESIS_HOOKS": "fuzz_hooks"}
    environment["PYTHONPATH"] = str(ROOT / "scripts")
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )


async def _fill_database(database: str) -> str:
    """Fill the demo world, register an account with all permissions for the fuzzer, and return its token."""
    keeper = app.build_keeper(settings.load({}, database=database))
    await keeper.store.open()
    await migrate(keeper.store)
    await loader.fill(keeper, PASSWORD)
    fuzzer = User(OWN_ID, OWN, "fuzzer@example.test", NO_PASSWORD, world.API_POWERS, 0, None, None)

    async def register(_: Reading) -> Decision[None]:
        return Decision([UserRegistered(fuzzer)], None)

    await keeper.changes.apply(loader.DEMO_INTENT, register, lambda _: b"")
    pair = await tokens.issue_for_service(keeper, fuzzer, 24, read_only=False)
    await keeper.store.close()
    keeper.passwords.close()
    return pair.access
