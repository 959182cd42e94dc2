"""Make the frozen database of a version, which every later version must be able to open (tests/release/test_frozen.py).

    PYTHONPATH=scripts .venv/bin/python scripts/freeze.py 0.2.0

It writes the folder tests/frozen/VERSION: for each engine a dump of a small world with every kind of change, and the
requests that were sent with an Idempotency-Key, with their stored answers. It fails when the folder exists.
"""

import argparse
import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import apsw

ROOT = Path(__file__).parent.parent
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "contract")]  # the test data is in the folder tests

from good_requests import Example, furnish  # noqa: E402 - needs the path that is set above

import everything  # noqa: E402 - needs the path that is set above
import people  # noqa: E402 - needs the path that is set above
import world as worlds  # noqa: E402 - needs the path that is set above
from findings import errors  # noqa: E402 - needs the path that is set above
from gamekeeper.game.accounts.changes import UsersLoaded  # noqa: E402 - needs the path that is set above
from gamekeeper.game.audit.changes import LedgerTrimmed  # noqa: E402 - needs the path that is set above
from gamekeeper.game.audit.history import KINDS  # noqa: E402 - needs the path that is set above
from gamekeeper.game.core.player import Player  # noqa: E402 - needs the path that is set above
from gamekeeper.game.core.writes import Decision, Intent  # noqa: E402 - needs the path that is set above
from gamekeeper.game.keeper import Keeper  # noqa: E402 - needs the path that is set above
from gamekeeper.game.players.changes import PlayersLoaded, PlayerState  # noqa: E402 - needs the path that is set above
from gamekeeper.game.world.loads import PAUSE_LISTS, RESUME_LISTS  # noqa: E402 - needs the path that is set above
from gamekeeper.http.contract.operation import WRITE  # noqa: E402 - needs the path that is set above
from gamekeeper.http.routes import ROUTES  # noqa: E402 - needs the path that is set above
from gamekeeper.store.access.roles import Powers  # noqa: E402 - needs the path that is set above
from gamekeeper.store.accounts.users import User  # noqa: E402 - needs the path that is set above
from gamekeeper.store.engine.interface import Reading  # noqa: E402 - needs the path that is set above
from pair import programs, wheel  # noqa: E402 - needs the path that is set above

FROZEN = ROOT / "tests" / "frozen"
LOADED = people.guid(0x800)
NEWCOMER = "Newcomer"
DUMP = ("--inserts", "--no-owner", "--no-privileges")
# Lines of a dump to skip: psql commands, and a setting unknown to older servers
NOT_SQL = ("\\", "SET transaction_timeout")
StoredRequest = dict[str, Any]  # a request with an Idempotency-Key, and its stored answer


def freeze(folder: Path) -> None:
    folder.mkdir()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "frozen.db"
        _write_requests(folder, "sqlite", f"sqlite:///{file}")
        whole = Path(place) / "whole.db"
        with closing(apsw.Connection(str(file))) as db:
            db.execute("VACUUM INTO ?", (str(whole),))
        _write(folder / "sqlite.db.gz", whole.read_bytes())
    with tempfile.TemporaryDirectory(prefix="gk-") as place:
        server = wheel().get_server(place, cleanup_mode="delete")
        url = server.get_uri()
        _write_requests(folder, "postgres", url)
        dumped = subprocess.check_output([programs()[0] / "pg_dump", *DUMP, url], text=True)
        lines = [line for line in dumped.splitlines(keepends=True) if not line.startswith(NOT_SQL)]
        _write(folder / "postgres.sql.gz", "".join(lines).encode())
        server.cleanup()


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(gzip.compress(content, 9, mtime=0))


def _write_requests(folder: Path, engine: str, url: str) -> None:
    kept = json.dumps(_fill(url), indent=1, ensure_ascii=False)
    (folder / f"{engine}.json").write_text(f"{kept}\n", encoding="utf-8")


def _fill(url: str) -> list[StoredRequest]:
    """Fill every table of the frozen database, and return the requests that had an Idempotency-Key."""
    tokens = asyncio.run(worlds.prepare(url))
    with worlds.open_world(url, tokens) as world:
        furnish(world)
        world.run(_load(world.keeper))
        kept: list[StoredRequest] = []
        for example, answer in everything.run_all(world, partial(_ask, world, kept), NEWCOMER):
            if answer.status not in {200, 303}:
                raise SystemExit(f"{example.name}: {answer.status} {answer.raw.decode()}")
        _require_all(world, kept)
        world.sql("UPDATE tokens SET access_expires = $1", everything.FAR)
        world.sql("UPDATE servers SET expires_at = $1", everything.FAR)
        return [{**each, "answer": _replay(world, each)} for each in kept]


def _ask(world: worlds.World, kept: list[StoredRequest], example: Example, path: str, body: object) -> worlds.Answer:
    """Send a request, with an Idempotency-Key if the operation accepts one, and record its answer."""
    route = example.route
    if route.access is not WRITE or everything.name_of(example) == everything.LOG_IN:
        return everything.send(world, example, path, body)
    key = f"frozen-{len(kept)}"
    answer = world.call(route.method, path, body=body, headers={"Idempotency-Key": key})
    request = {"operation": everything.name_of(example), "method": route.method, "path": path, "body": body}
    kept.append({**request, "key": key})
    return answer


def _replay(world: worlds.World, kept: StoredRequest) -> str:
    """Repeat a request with its key; return the replayed answer, which for an erasure differs from the first answer."""
    answer = world.call(kept["method"], kept["path"], body=kept["body"], headers={"Idempotency-Key": kept["key"]})
    if answer.headers.get("idempotent-replay") != "true":
        raise SystemExit(f"{kept['operation']} is not replayed: {answer.status} {answer.raw.decode()}")
    return answer.raw.decode()


async def _load(keeper: Keeper) -> None:
    """Make the kinds of changes that no API operation makes, such as those of a bulk load."""
    user = User(LOADED, "Loaded", "loaded@example.test", "!", Powers(), 0, None, None)
    player = Player(people.guid(0x801), LOADED, "Loaded", level=7)
    trimmed = LedgerTrimmed(1, [1], {})
    changes = [PAUSE_LISTS, UsersLoaded([user]), PlayersLoaded([(player, PlayerState())]), RESUME_LISTS, trimmed]

    async def decide(_: Reading) -> Decision[None]:
        return Decision(changes, None)

    await keeper.changes.apply(Intent(request_id="freeze"), decide, lambda _: b"null")
    await keeper.lists.rebuild()


def _require_all(world: worlds.World, kept: list[StoredRequest]) -> None:
    wanted = {f"{each.method} {each.path}" for each in ROUTES if each.access is WRITE}
    without = wanted - {each["operation"] for each in kept}
    kinds = set(KINDS) - {each.kind for each in world.ledger()}
    found = errors(world)
    if len(without) > 1 or kinds or found:  # one is allowed: the log-in, which accepts no key
        raise SystemExit(f"writes without a key: {without}; kinds of changes that are missing: {kinds}; {found}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    freeze(FROZEN / parser.parse_args().version)
