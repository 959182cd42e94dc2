"""Fixtures: a database with many players."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import pytest

import world as worlds
from databases import lend
from plans import load_players


@pytest.fixture(scope="module")
def crowds(request: pytest.FixtureRequest) -> Generator[Callable[[str], str]]:
    """Return the URL of a template database with many players, one per engine, because loading them takes long."""
    made: dict[str, str] = {}

    def load(engine: str) -> str:
        if engine not in made:
            databases: Any = request.getfixturevalue(f"{engine}_databases")
            made[engine] = databases.fresh()
            asyncio.run(worlds.at_work(made[engine], load_players))
        return made[engine]

    yield load
    for engine, url in made.items():
        request.getfixturevalue(f"{engine}_databases").drop(url)


@pytest.fixture
def database(engine: str, databases: Any, crowds: Callable[[str], str]) -> Generator[str]:
    yield from lend(databases, databases.copy(crowds(engine)))
