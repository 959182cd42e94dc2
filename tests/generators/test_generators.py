"""Each generator of docs/generators.md makes a working client of the whole API without a warning."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import client_generators as generators
import httpx
import pytest
from client_generators import GENERATORS, Generator

COIN = "9e2b8323-5231-5487-a8b0-017c3b453c23"
GIVEN = 10


class Game:
    """Reads the demo server directly, without generated code."""

    def __init__(self, client: httpx.Client) -> None:
        grant = {"grant_type": "password", "username": "keeper", "password": hashlib.sha256(b"moss").hexdigest()}
        token = client.post("/api/oauth/token", json=grant).raise_for_status().json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        self._client = client

    def read(self, path: str) -> Any:
        return self._client.get(path).raise_for_status().json()

    def leader(self) -> str:
        return self.read("/api/v1/players/rank")["Values"][0]["Name"]

    def coins(self) -> int:
        held = self.read("/api/v1/players/Nim/items/inventory")
        return sum(slot["Quantity"] for slot in held if slot["ItemId"] == COIN)

    def operations(self) -> list[str]:
        paths: Mapping[str, Mapping[str, Any]] = self.read("/api/openapi.json")["paths"]
        return [each["operationId"] for methods in paths.values() for each in methods.values()]


@pytest.fixture(scope="session")
def game(demo: Any) -> Iterator[Game]:
    with httpx.Client(base_url=demo.url) as client:
        yield Game(client)


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda each: each.name)
def test_generated_client_has_every_operation_and_works(generator: Generator, demo: Any, game: Game) -> None:
    assert f"| {generator.name} | {generator.version()} |" in generators.read_page()
    done = [generators.run(generator, each) for each in generators.lay_out(generator, demo.url)]
    assert [each.code for each in done] == [0] * len(done), done
    assert [line for each in done for line in generator.warnings(each.printed)] == []
    found = generator.operations()
    assert [each for each in game.operations() if generator.spelling(each) not in found] == []
    compiled = generators.compile_client(generator)
    assert (compiled.code, compiled.printed) == (0, "")
    before = game.coins()
    printed = generators.run_program(generator).printed
    assert re.search(r"^Logged in for \d+ seconds$", printed, re.MULTILINE), printed
    assert f"{game.leader()} leads\n" in printed
    assert game.coins() == before + GIVEN
    assert f"Nim has {before + GIVEN} Silver Marks\n" in printed
