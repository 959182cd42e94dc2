"""An Intersect server's databases for tests of the importer, and the results of imports."""

import asyncio
import json
import uuid
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest
import state

import make_intersect
import world as worlds
from command_line import CommandLine
from databases import find_day
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import Statement
from world import World

PLAYERS = 3
Make = Callable[..., "IntersectFiles"]
# Columns and tables that differ between two imports of one source: times, the epoch (the id of the database's change
# feed), the stored index of the ordered lists, and on PostgreSQL change numbers, since a killed transaction uses some.
# The rollups start with the time of the migration.
UNLIKE = {"at", "seq", "started_at", "finished_at"}
UNLIKE_TABLES = {"epoch", "lists", "list_blocks", "list_changes", "rollups"}


class IntersectFiles(NamedTuple):
    """Paths of an Intersect server's databases and of the import report."""

    players: Path
    game: Path
    report: Path
    logs: Path | None = None

    @property
    def options(self) -> list[str]:
        logs = ["--logs", str(self.logs)] if self.logs else []
        return ["--players", str(self.players), "--game", str(self.game), "--report", str(self.report), *logs]


class Imported(NamedTuple):
    """A source, the counts of its import, and the URL of the database with it."""

    files: IntersectFiles
    told: Any
    database: str


class OpenImport(NamedTuple):
    """A source, the counts of its import, and the open database with it."""

    files: IntersectFiles
    told: Any
    world: World


def migrate_template(databases: Any) -> str:
    """Migrate an empty database once each day. Copying it is far faster than applying each migration again."""
    return _migrate_template(databases, find_day())


@cache
def _migrate_template(databases: Any, _day: int) -> str:
    url: str = databases.empty()
    asyncio.run(worlds.at_work(url, _do_nothing))
    return url


async def _do_nothing(_: Keeper) -> None:
    """Do nothing: opening the database has already migrated it."""


def contents(world: World) -> dict[str, list[str]]:
    async def read(tx: Reading) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for table in state.tables():
            if table not in UNLIKE_TABLES:
                found[table] = sorted(repr(tuple(row)) for row in await tx.all(_select_alike(table)))
        return found

    return world.run(world.keeper.store.read(read))


@cache
def _select_alike(table: str) -> Statement:
    unlike = UNLIKE if table in ("ledger", "imports") else set[str]()
    columns = ", ".join(each for each in state.columns()[table] if each not in unlike)
    return Statement(f"rows of {table}", {"": f"SELECT {columns} FROM {table}"})  # noqa: S608 - names out of the schema


# --- an import and its report --------------------------------------------------------------------------------------


def run(command: CommandLine, files: IntersectFiles, *more: str) -> Any:
    """Import, and require that the counts of each table add up; return the counts."""
    told = command.json("import", "intersect", *files.options, *more)
    assert told["do_not_add_up"] == []
    return told


def read_report(files: IntersectFiles) -> list[dict[str, Any]]:
    """Return the lines of an import report without its header line."""
    return [json.loads(line) for line in files.report.read_text().splitlines()[1:]]


def read_left_rows(files: IntersectFiles) -> set[tuple[str, str]]:
    return {(line["table"], line["id"]) for line in read_report(files) if not line["taken"] and line["id"]}


# --- changes of an import's source ---------------------------------------------------------------------------------


def change(path: Path, *statements: str) -> None:
    with closing(apsw.Connection(str(path))) as db, db:
        for each in statements:
            db.execute(each)


def add(path: Path, table: str, *rows: tuple[Any, ...]) -> None:
    with closing(apsw.Connection(str(path))) as db, db:
        for row in rows:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - names from here


def own(kind: str, number: int) -> str:
    return str(make_intersect.guid(kind, number))


_NOBODY, _BAG, _ZERO = (str(uuid.UUID(int=number)) for number in (5, 6, 0))
SPOILT = {
    ("Player_Items", "negative"),
    ("Player_Items", "orphan"),
    ("Player_Items", "far away"),
    ("Player_Bank", "twice"),
    ("Bags", _BAG),
    ("Bag_Items", "in a lost bag"),
    ("Bag_Items", "in no bag"),
    ("Player_Variables", "no number"),
    ("Bans", "nobodys ban"),
    ("Bans", "endless"),
    ("Users", "no guid"),
    ("Users", _ZERO),
    ("Players", own("player", 4)),
    ("Bags", own("bag", 8)),
}


def spoil(made: IntersectFiles) -> None:
    """Add rows that cannot be imported to the databases of an Intersect 0.8 server with five players."""
    player, nobody, bag = (each.upper() for each in (own("player", 1), _NOBODY, _BAG))
    coin, kills = str(make_intersect.COIN).upper(), str(make_intersect.KILLS).upper()
    orphan = ("orphan", nobody, 1, None, coin, 1, None)
    far_away = ("far away", player, 3_000_000, None, coin, 1, None)
    add(made.players, "Player_Items", ("negative", player, 30, None, coin, -3, None), orphan, far_away)
    add(made.players, "Player_Bank", ("twice", player, 0, None, coin, 1, None))
    add(made.players, "Bags", (bag, 4))
    in_no_bag = ("in no bag", nobody, 0, None, coin, 1, None)
    add(made.players, "Bag_Items", ("in a lost bag", bag, 0, bag, coin, 1, None), in_no_bag)
    change(made.players, f"DELETE FROM Player_Variables WHERE PlayerId = '{player}' AND VariableId = '{kills}'")  # noqa: S608 - from here
    add(made.players, "Player_Variables", ("text", player, nobody, '{"Type":3,"Value":"x"}'))
    add(made.players, "Player_Variables", ("no number", player, kills, '{"Type":1,"Value":true}'))
    endless = ("endless", own("user", 4).upper(), *[None] * 5)
    add(made.players, "Bans", ("nobodys ban", "x", *[None] * 5), endless)
    add(made.players, "Users", ("no guid", "Eve", *[None] * 8), (_ZERO, "Zoe", *[None] * 8))
    change(made.players, f"UPDATE Players SET UserId = '{nobody}' WHERE Name = 'Knight4'")  # noqa: S608 - from here


def by_day(day: str, eras: Iterable[str]) -> list[Any]:
    """Return versions to parametrize a test with: one by day, all of them in `make long`."""
    return [each if each == day else pytest.param(each, marks=pytest.mark.long_only) for each in eras]
