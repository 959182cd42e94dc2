"""What tests of copies ask: do two databases hold the same, was one left alone, is it in order?"""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import state

from gamekeeper import app, settings
from gamekeeper.store import copies
from world import World

# the lists are counted anew in every copy; what the jobs of erasures wait to blank is masked there
LEFT_OUT = frozenset({"lists", "list_blocks", "list_changes", "erasures"})


def contents(world: World, but: Collection[str] = LEFT_OUT) -> Mapping[str, list[str]]:
    """Every table's rows in one order, with values that look alike on both engines."""
    return {table: _rows(world, table) for table in state.tables() if table not in but}


def is_untouched(url: str) -> bool:
    """Nothing is there, not even a file."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        return not list(path.parent.glob(f"*{path.name}*"))
    there = app.at_work(settings.load({}, database=url), lambda keeper: copies.list_tables(keeper.store))
    return asyncio.run(there) == []


def _rows(world: World, table: str) -> list[str]:
    columns = ", ".join(state.columns()[table])
    return sorted(repr([_alike(value) for value in row]) for row in world.sql(f"SELECT {columns} FROM {table}"))  # noqa: S608 - names out of schema.sql


def _alike(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return int(value) if isinstance(value, bool) else value
