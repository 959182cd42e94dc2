"""`gamekeeper demo`: the printed commands work."""

import io
import itertools
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from gamekeeper.cli import serve
from gamekeeper.cli.commands import gamekeeper
from gamekeeper.cli.demo import logs_requests
from gamekeeper.demo import game_servers
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.ground.settings import Settings, load, variable
from server import free_port

START_SECONDS = 180  # seconds until the demo is ready: it hashes a password for every account, with low priority


@pytest.mark.long_only
def test_printed_commands_work_until_ctrl_c(tmp_path: Path) -> None:
    """`make run` in its own process: its first commands are pasted into a shell, as a reader does."""
    arguments = ["demo", "--data", str(tmp_path / "data"), "--port", str(free_port()), "--players", "10"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GAMEKEEPER_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "gamekeeper", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    assert process.stdout
    printed = list(itertools.takewhile(lambda line: not line.startswith("  Mail  "), process.stdout))
    pasted = [line.strip() for line in printed if line.startswith(("  curl", "  TOKEN="))]
    script = "\n".join(["set -e", *pasted])
    shell = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=False, timeout=START_SECONDS)
    process.send_signal(signal.SIGINT)
    assert process.wait(START_SECONDS) == 0
    process.stdout.close()
    assert shell.returncode == 0, shell.stderr
    assert b'"Total":12' in shell.stdout
    assert b"Password Correct" in shell.stdout


@pytest.fixture
def greeted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the demo's server by a function that only prints the greeting."""

    def run(_: Settings, build: object, greeting: str) -> None:
        assert build is game_servers.build
        click.echo(greeting)

    monkeypatch.setattr(serve, "run", run)


def called(*arguments: str) -> Result:
    return CliRunner(env={"GAMEKEEPER_DATABASE": None, "GAMEKEEPER_PORT": str(free_port())}).invoke(
        gamekeeper, ["demo", *arguments]
    )


@pytest.mark.usefixtures("greeted")
@pytest.mark.both_engines
def test_demo_runs_on_each_engine(empty_database: str) -> None:
    result = called("--database", empty_database, "--password", "moss", "--players", "3")
    assert result.exit_code == 0, result.output
    *_, title, access = result.stdout.strip().split("\n\n")  # last, so that a small terminal shows the password
    assert title.startswith("Sign in:")
    assert "\n  Password  moss  (also for the players' accounts)\n" in access
    assert f"SHA-256   {hash_for_wire('moss')}" in access
    assert "51  (28 accounts, 12 players online)" in result.output
    again = called("--database", empty_database, "--password", "fern")
    assert "fern  (the players' accounts keep the password of the first run)" in again.output
    assert "/password/validate" not in again.output


def test_wrong_arguments_and_used_databases_are_refused(tmp_path: Path, database: str) -> None:
    (tmp_path / "file").write_text("")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments, code, said in (
            (("--data", str(tmp_path / "new"), "--port", port), 1, f"127.0.0.1 port {port}: Address already in use."),
            (("--database", database), 1, "so nothing was changed"),
            (("--data", str(tmp_path / "file" / "data")), 1, "Choose another with --data."),
            (("--data", "here", "--database", "sqlite:///there.db"), 2, "Give --data or --database, not both."),
            (("--players", "-1"), 2, "--players"),
            (("--port", "0"), 2, "--port"),
        ):
            result = called(*arguments)
            assert (result.exit_code, said in result.output) == (code, True), result.output
    assert not (tmp_path / "new").exists()


class Terminal(io.StringIO):
    """Stand-in for standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_demo_on_a_terminal_logs_requests_only_if_the_setting_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for stderr, chosen, expected in (
        (Terminal, None, False),
        (Terminal, "true", True),
        (Terminal, "false", False),
        (io.StringIO, None, True),
        (io.StringIO, "false", False),
    ):
        with monkeypatch.context() as changed:
            changed.setattr("sys.stderr", stderr())
            changed.delenv(variable("access_log"), raising=False)
            if chosen:
                changed.setenv(variable("access_log"), chosen)
            found = logs_requests(load(os.environ, database="sqlite:///demo.db"))
        assert found is expected, (stderr.__name__, chosen)
