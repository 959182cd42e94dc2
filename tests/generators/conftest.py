"""Fixtures: a demo server for the generated clients, and the table of results."""

import sys
from collections.abc import Generator

import pytest
from client_generators import COLUMNS, TOOLS

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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    rows = [tuple(str(value) for _, value in report.user_properties) for report in reports if report.user_properties]
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    terminalreporter.section("generators")
    for row in (COLUMNS, tuple("-" * width for width in widths), *rows):
        terminalreporter.write_line("| " + " | ".join(map(str.ljust, row, widths)) + " |")
