"""Fixture: a demo server for the generated clients."""

import sys
from collections.abc import Generator

import pytest
from client_generators import TOOLS

from server import Server

PASSWORD = "moss"
FILLED_SECONDS = 300  # seconds: start timeout of the demo, which first fills its database


class Demo(Server):
    def _command(self) -> list[str]:
        folder = ["--data", self.database, "--password", PASSWORD]
        return [sys.executable, "-m", "gamekeeper", "demo", "--port", str(self.port), *folder]

    def _ready_seconds(self) -> float:
        return FILLED_SECONDS


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Generator[Demo]:
    if not (TOOLS / "ready").exists():
        pytest.fail("The generators are not installed: `make generators` does that, and runs these tests.")
    with Demo(str(tmp_path_factory.mktemp("demo"))) as server:
        yield server
