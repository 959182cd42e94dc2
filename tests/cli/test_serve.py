"""`serve` in a real process: start, answers, shutdown and error messages."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

import httpx
import pytest

from command_line import CommandLine
from demo_databases import at_work
from gamekeeper.store.accounts import users
from server import free_port

SECONDS = 60
SERVES = Callable[..., "Serving"]


class Serving:
    def __init__(self, database: str, folder: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._said = folder / f"{self.port}.err"
        command = [sys.executable, "-m", "gamekeeper", "serve", "--database", database, "--port", str(self.port)]
        with self._said.open("wb") as standard_error:
            self.process = subprocess.Popen(
                [*command, *options],
                env={
                    **os.environ,
                    "GAMEKEEPER_STOP_SECONDS": str(10 * SECONDS),
                },  # a shutdown timeout longer than the tests wait, so that a lost signal makes them fail
                stdout=subprocess.PIPE,
                stderr=standard_error,
                text=True,
                start_new_session=True,
            )
        assert self.process.stdout
        self._output = self.process.stdout
        self.first_line = self._output.readline().rstrip("\n")

    @property
    def errors(self) -> list[str]:
        return self._said.read_text(encoding="utf-8").splitlines()

    def stop(self, sent: int = signal.SIGTERM) -> tuple[int, str]:
        """Stop the server; return its exit code and what it printed after it was ready."""
        self.process.send_signal(sent)
        code = self.process.wait(timeout=SECONDS)
        return code, self._output.read()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._output.close()


@pytest.fixture
def serves(tmp_path: Path) -> Generator[SERVES]:
    started: list[Serving] = []

    def serve(database: str, *options: str) -> Serving:
        started.append(Serving(database, tmp_path, *options))
        return started[-1]

    yield serve
    for each in started:
        each.close()


def test_serve_starts_answers_and_shuts_down(
    serves: SERVES, engine: str, database: str, known_tokens: Mapping[str, str]
) -> None:
    """A server without anything to warn of, on PostgreSQL with two workers."""
    if engine == "sqlite":
        Path(database.removeprefix("sqlite:///") + ".key").touch(0o600)
    requests = {"sqlite": 1, "postgres": 10}[engine]
    server = serves(database, *([] if engine == "sqlite" else ["--workers", "2"]))
    assert server.first_line == f"Gamekeeper is ready: {server.url} (stop with Ctrl-C)"
    with httpx.Client(headers={"Authorization": f"Bearer {known_tokens['Root']}"}) as kept_alive:
        for _ in range(requests):
            answer = kept_alive.get(f"{server.url}/api/v1/players/Ann")
            assert (answer.status_code, answer.json()["Name"]) == (200, "Ann")
        assert server.stop() == (0, "")
    # standard error has only the access log lines of the requests
    assert ['"route":"GET /api/v1/players/[lookupKey]"' in line for line in server.errors] == [True] * requests


@pytest.mark.long_only
def test_first_start_prints_how_to_create_an_account_and_ctrl_c_shuts_down(
    serves: SERVES, engine: str, empty_database: str
) -> None:
    server = serves(empty_database)
    assert "is ready" in server.first_line
    assert server.errors[0] == "No account can log in yet. Create the first one with:"
    line = server.errors[1].split("  gamekeeper ")[1].split(" --database ")[0]
    CommandLine(empty_database).says(*line.split(), "--password-stdin", typed="moss and lanterns")
    # the next start does not print it again
    assert at_work(empty_database, lambda keeper: users.has_api_account(keeper.store))
    if engine == "sqlite":  # a terminal sends it to the whole process group
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(timeout=SECONDS) == 0
    else:
        assert server.stop(signal.SIGINT) == (0, "")
    assert len(server.errors) == 2


@pytest.mark.long_only
def test_two_signals_shut_down_cleanly(serves: SERVES, database: str) -> None:
    # repeated, because the bug that this guards against lost a signal only in about half of the runs
    for _ in range(5):
        server = serves(database)
        server.process.terminate()
        assert server.stop(signal.SIGINT) == (0, "")
        assert server.errors == []


def test_impossible_addresses_and_numbers_of_workers_are_refused(command: CommandLine, engine: str) -> None:
    port = str(free_port())
    if engine == "sqlite":
        said = command.refuses("serve", "--workers", "2", "--port", port)
        assert said == (
            "Error: 2 workers cannot share one SQLite file. "
            "Use --workers 1, or PostgreSQL: --database postgresql://user@host/name\n"
        )
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        said = command.refuses("serve", "--port", taken)
    assert said.startswith(f"Error: Cannot listen on 127.0.0.1 port {taken}: Address already in use. Choose another")
    assert "Cannot listen on 203.0.113.1 port" in command.refuses("serve", "--host", "203.0.113.1")
    said = command.refuses("serve", "--port", port, GAMEKEEPER_HEALTH_PORT=port)
    assert said == f"Error: health_port and port are both {port}. Set one of them to another port.\n"
