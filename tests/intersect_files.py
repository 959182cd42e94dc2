"""An Intersect server's two databases, for whoever imports them, and what comes of them."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import state

from world import World

PLAYERS = 3
Make = Callable[..., "Files"]
# what two imports of one source do not have in common: when they were, which life of the ledger it is, and on
# PostgreSQL its numbers, of which a transaction that was killed has drawn some
UNLIKE = {"at", "seq", "started_at", "finished_at"}
UNLIKE_TABLES = {"epoch", "lists", "list_blocks", "list_changes"}


class Files(NamedTuple):
    """An Intersect server's two databases, and where the report goes."""

    players: Path
    game: Path
    report: Path

    @property
    def options(self) -> list[str]:
        return ["--players", str(self.players), "--game", str(self.game), "--report", str(self.report)]


def contents(world: World) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table in state.tables():
        if table not in UNLIKE_TABLES:
            unlike = UNLIKE if table in ("ledger", "imports") else set[str]()
            columns = ", ".join(each for each in state.columns()[table] if each not in unlike)
            found[table] = sorted(repr(row) for row in world.sql(f"SELECT {columns} FROM {table}"))  # noqa: S608 - names out of schema.sql
    return found
