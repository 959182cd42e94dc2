"""A world that the tests of a file share: for reads and refusals, which change nothing."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from expectations import everything
from world import World, open_world


@contextmanager
def open_fresh(engine: str, request: pytest.FixtureRequest, **given: Any) -> Generator[World]:
    """Open a world with all test people for the tests of a file."""
    databases: Any = request.getfixturevalue(f"{engine}_databases")
    url = databases.fresh()
    try:
        with open_world(url, databases.tokens, **given) as world:
            yield world
    finally:
        databases.drop(url)


def open_shared(engine: str, request: pytest.FixtureRequest, *, without: str = "") -> Generator[World]:
    """Open a world on the engine; in the end, require that no test has changed its database.

    `without`: a table that tests may change.
    """
    with open_fresh(engine, request) as world:
        before = everything(world, without=without)
        yield world
        after = everything(world, without=without)
        changed = [table for table in before if after[table] != before[table]]
        assert not changed, f"a test of this file has changed {changed} in its shared world: use the fixture world"
