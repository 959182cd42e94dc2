"""A world that the tests of a file share: for reads and refusals, which change nothing."""

from collections.abc import Generator
from typing import Any

import pytest

from expectations import everything
from world import World, open_world

ENGINES = ("sqlite", "postgres")
# tables of sessions and of counted guesses
LEFT_ALONE = {"tokens", "token_rounds", "security_events", "known_callers", "known_addresses", "guesses"}


def open_shared(request: pytest.FixtureRequest) -> Generator[World]:
    """Open a world on the engine `request.param`; in the end, require that no test has changed its database."""
    databases: Any = request.getfixturevalue(f"{request.param}_databases")
    url = databases.fresh()
    with open_world(url, databases.tokens) as world:
        before = everything(world)
        yield world
        after = everything(world)
        changed = {table for table in before.keys() - LEFT_ALONE if after[table] != before[table]}
        assert not changed, "a test with the fixture shared_world has changed these tables: use the fixture world"
    databases.drop(url)
