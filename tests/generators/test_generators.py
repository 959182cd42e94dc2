"""Each generator of docs/generators.md makes a working client of the whole API without a warning."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import client_generators as generators
import httpx
import pytest
from client_generators import COLUMNS, GENERATORS, Generator

from loops import over

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


class Trial:
    """The results of one client generator, as far as it got, and its faults."""

    def __init__(self, generator: Generator) -> None:
        self.row = dict.fromkeys(COLUMNS, "-") | {"generator": generator.name, "version": generator.version()}
        self.faults: list[str] = []
        self._generator = generator

    def generate(self, url: str) -> bool:
        done = [generators.run(self._generator, each) for each in generators.lay_out(self._generator, url)]
        warnings = [line for each in done for line in self._generator.warnings(each.printed)]
        self.row["warnings"] = str(len(warnings))
        self.faults += warnings
        return self._keep("generated", all(each.code == 0 for each in done), "the generator failed")

    def count(self, operations: list[str]) -> None:
        found = self._generator.operations()
        missing = [each for each in operations if self._generator.spelling(each) not in found]
        self.row["operations"] = f"{len(operations) - len(missing)} of {len(operations)}"
        self.faults += [f"no operation {each}" for each in missing]

    def compile(self) -> bool:
        done = generators.compile_client(self._generator)
        return self._keep("compiled", done.code == 0 and not done.printed, done.printed)

    def play(self, game: Game) -> None:
        before = game.coins()
        printed = generators.run_program(self._generator).printed
        after = game.coins()
        self._keep("log in", re.search(r"^Logged in for \d+ seconds$", printed, re.MULTILINE) is not None, printed)
        self._keep("rank", f"{game.leader()} leads\n" in printed, printed)
        self._keep("give", f"Nim has {after} Silver Marks\n" in printed and after == before + GIVEN, printed)

    def _keep(self, column: str, done: bool, fault: str) -> bool:  # noqa: FBT001 - what came of that column
        if column in self.row:
            self.row[column] = "yes" if done else "no"
        self.faults += [] if done else [f"{column}: {fault}"]
        return done


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda each: each.name)
def test_generated_client_has_every_operation_and_works(
    generator: Generator, demo: Any, game: Game, record_property: Callable[[str, object], None]
) -> None:
    trial = Trial(generator)
    try:
        if trial.generate(demo.url):
            trial.count(game.operations())
            if trial.compile():
                trial.play(game)
    finally:
        for name, value in trial.row.items():
            record_property(name, value)
    assert trial.faults == [], "\n".join(trial.faults)


@over("generator", GENERATORS)
def test_page_names_the_tested_version(generator: Generator) -> None:
    assert f"| {generator.name} | {generator.version()} |" in generators.read_page()
