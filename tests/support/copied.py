"""Checks for tests that copy a database: equal contents of both, and a target that is still empty."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import state

import factors
import game_logs
import guild_rows
import staff
from gamekeeper import app
from gamekeeper.ground import settings
from gamekeeper.store.engine import copies
from people import ANN, USER_IDS
from world import World

# Tables that differ in a copied database: counts of ordered lists are rebuilt, and erasure jobs are not copied.
LEFT_OUT = frozenset({"lists", "list_blocks", "list_changes", "erasures"})


def fill(world: World) -> None:
    """Insert rows into tables that are empty in each test world: roles, the game's logs, guilds, second factors."""
    staff.fill_roles(world)
    game_logs.report(world)
    guild_rows.insert(world, {ANN.id: 0})
    factors.add_totp(world, USER_IDS["Ann"])


def contents(world: World, but: Collection[str] = LEFT_OUT) -> Mapping[str, list[str]]:
    """Return the sorted rows of every table, with values in the same form for both engines."""
    return {table: _rows(world, table) for table in state.tables() if table not in but}


def is_untouched(url: str) -> bool:
    """Return whether the database is empty or does not exist."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        return not list(path.parent.glob(f"*{path.name}*"))
    there = app.run_with_keeper(settings.load({}, database=url), lambda keeper: copies.list_tables(keeper.store))
    return asyncio.run(there) == []


def _rows(world: World, table: str) -> list[str]:
    columns = ", ".join(state.columns()[table])
    return sorted(repr([_alike(value) for value in row]) for row in world.sql(f"SELECT {columns} FROM {table}"))  # noqa: S608 - names out of the schema


def _alike(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return int(value) if isinstance(value, bool) else value
