"""`gamekeeper demo`: the printed commands work."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import apsw
import click
import httpx
import pytest
from click.testing import CliRunner, Result

from command_line import CommandLine
from gamekeeper.cli import serve, terminal
from gamekeeper.cli.commands import gamekeeper
from gamekeeper.cli.demo import FILE, demo
from gamekeeper.demo import game_servers
from gamekeeper.demo.names import make_numbered_name
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.settings import Settings
from gamekeeper.store.engine import Writing
from gamekeeper.store.statements import Statement
from server import free_port

START_SECONDS = 180  # seconds until the demo is ready: it hashes a password for every account, with low priority
LAST_LINE = "  Mail  "
PASTED = re.compile(r"^  ((?:curl|TOKEN=).*)$", re.MULTILINE)


@dataclass(frozen=True)
class Running:
    """A `gamekeeper demo` in its own process."""

    printed: str
    address: str
    data: Path

    @property
    def commands(self) -> list[str]:
        return PASTED.findall(self.printed)

    def paste(self, command: str, token: str = "") -> httpx.Response:
        """Send the request of a curl command that the demo printed; it uses only -H and -d."""
        words = shlex.split(command.replace("$TOKEN", token))[1:]
        options = list(zip(words[:-1:2], words[1:-1:2], strict=True))
        headers = dict(value.split(": ", 1) for option, value in options if option == "-H")
        body = next((value for option, value in options if option == "-d"), None)
        return httpx.request(
            "GET" if body is None else "POST", words[-1], headers=headers, content=body, timeout=START_SECONDS
        )

    @property
    def token(self) -> str:
        return re.findall("gka_[A-Za-z0-9_-]+", self.printed)[0]


def wait_for(process: subprocess.Popen[bytes], printed: Path) -> str:
    give_up = time.monotonic() + START_SECONDS
    while LAST_LINE not in printed.read_text("utf-8") and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.05)
    return printed.read_text("utf-8")


@pytest.fixture
def running(tmp_path: Path) -> Generator[Running]:
    folder, port = tmp_path, free_port()
    said, wrong = folder / "said", bytearray()
    reader, terminal = os.openpty()  # standard error is a terminal, as for people
    watch = threading.Thread(target=_read_terminal, args=(reader, wrong))
    watch.start()
    arguments = ["demo", "--data", str(folder / "data"), "--port", str(port), "--players", "10"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GAMEKEEPER_")}
    with said.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "gamekeeper", *arguments], stdout=out, stderr=terminal, env=environment
        )
    os.close(terminal)
    try:
        yield Running(wait_for(process, said), f"http://127.0.0.1:{port}", folder / "data")
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(START_SECONDS)
        watch.join()
    assert code == 0
    lines = wrong.decode().splitlines()
    # nothing after the start: log lines would hide the password
    assert lines[-1].endswith("Starting the server."), lines


def _read_terminal(reader: int, read: bytearray) -> None:
    """Read what a process writes to a terminal until the process ends, which is an error on Linux."""
    with os.fdopen(reader, "rb", buffering=0) as screen, contextlib.suppress(OSError):
        while part := screen.read(65_536):
            read += part


@pytest.mark.long_only
def test_printed_commands_work_and_players_stay_online(running: Running) -> None:
    """All in one test, because the demo takes seconds to start."""
    ready = next(command for command in running.commands if "gka_" in command)
    answer = running.paste(ready)
    assert answer.status_code == 200
    assert answer.json()["Total"] == 48 + 10
    require_commands_after_login(running)
    if shutil.which("curl") and shutil.which("sed"):
        require_login_in_shell(running)
    [line] = [line for line in running.printed.splitlines() if "gamekeeper mail list" in line]
    command = shlex.split(line.split("(")[0])
    assert command[:4] == ["Mail", "gamekeeper", "mail", "list"]
    last = "\n".join(running.printed.splitlines()[-10:])
    assert all(each in last for each in ("/console", "Account", "Password", "requests are not logged here"))
    assert CliRunner().invoke(gamekeeper, command[2:]).exit_code == 0
    require_renewed_leases(running)


def require_commands_after_login(running: Running) -> None:
    words = shlex.split(next(line for line in running.commands if line.startswith("TOKEN=")).removeprefix("TOKEN=$("))
    form = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "-d")
    answer = httpx.post(f"{running.address}/api/oauth/token", data=form)
    lines = [command for command in running.commands if "$TOKEN" in command]
    answers = [running.paste(line, answer.json()["access_token"]) for line in lines]
    assert [each.status_code for each in answers] == [200] * 8
    assert answers[-1].json() == {"Message": "Password Correct"}


def require_login_in_shell(running: Running) -> None:
    log_in, online = running.commands[1:3]
    script = f"{log_in}\n{online}\n"
    answer = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True, timeout=START_SECONDS)
    assert b'"Total":12' in answer.stdout


def read_leases(running: Running) -> dict[str, int]:
    with contextlib.closing(apsw.Connection(str(running.data / FILE))) as database:
        return dict(database.execute("SELECT name, expires_at FROM servers"))


def require_renewed_leases(running: Running) -> None:
    first = read_leases(running)
    assert len(first) == 2
    give_up = time.monotonic() + START_SECONDS
    while any(now <= first[name] for name, now in read_leases(running).items()) and time.monotonic() < give_up:
        time.sleep(0.25)
    assert all(now > first[name] for name, now in read_leases(running).items())
    count = running.paste(
        f'curl -H "Authorization: Bearer {running.token}" {running.address}/api/v1/players/online/count'
    )
    assert count.json() == {"onlineCount": 12}


@pytest.fixture
def greeted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the demo's server by a function that only prints the greeting."""

    def run(_: Settings, build: object, greeting: str) -> None:
        assert build is game_servers.build
        click.echo(greeting)

    monkeypatch.setattr(serve, "run", run)


def called(*arguments: str) -> Result:
    return CliRunner(env={"GAMEKEEPER_DATABASE": None, "GAMEKEEPER_PORT": str(free_port())}).invoke(demo, arguments)


@pytest.mark.usefixtures("greeted")
@pytest.mark.both_engines
def test_demo_runs_on_each_engine(empty_database: str) -> None:
    result = called("--database", empty_database, "--password", "moss", "--players", "3")
    assert result.exit_code == 0, result.output
    assert f"SHA-256   {hash_for_wire('moss')}" in result.output
    assert "51  (28 accounts, 12 players online)" in result.output
    again = called("--database", empty_database, "--password", "fern")
    assert result.stderr.splitlines()[:2] == [
        "Creating the demo's data. The first start takes up to a minute.",
        "Hashing the passwords of 25 accounts.",
    ]
    assert again.stderr.splitlines() == [
        "Counting the players' activity.",
        "Counting the items.",
        "Starting the server.",
    ]
    assert "fern  (the players' accounts keep the password of the first run)" in again.output
    assert "/password/validate" not in again.output


@pytest.mark.usefixtures("greeted")
def test_password_is_random_by_default_and_printed_address_reachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = [called("--data", str(tmp_path / "new")).output]
    assert (tmp_path / "new" / "demo.db").exists()
    monkeypatch.setattr(serve, "require_servable", lambda _: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType] - takes anything: listens nowhere
    printed.append(called("--data", str(tmp_path / "new"), "--host", "0.0.0.0").output)  # noqa: S104 - nothing listens there
    passwords = [re.findall(r"Password +(\S+)", each)[0] for each in printed]
    assert passwords[0] != passwords[1]
    assert "http://127.0.0.1:" in printed[1]
    assert "http://0.0.0.0" not in printed[1]


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


@pytest.mark.long_only
@pytest.mark.usefixtures("greeted")
def test_load_of_used_name_or_beside_another_load_is_refused(demo_database: str) -> None:
    with loading(demo_database):
        result = called("--database", demo_database, "--players", "3")
    assert result.exit_code == 1
    assert "Another process may be loading data: wait until it ends, then run the same command again." in result.output
    name = make_numbered_name(1)
    arguments = ["users", "add", name, "--email", "stranger@example.test", "--password-stdin"]
    CommandLine(demo_database).run(*arguments, typed="moss and lanterns\n")
    result = called("--database", demo_database, "--players", "3")
    assert result.exit_code == 1
    assert f"Error: Cannot load the player {name}: " in result.output


@contextlib.contextmanager
def loading(url: str) -> Generator[None]:
    """Hold the locks that a bulk load holds while it writes a batch."""
    begun = Statement("begun", {"": "UPDATE lists SET loads = loads + 1"})
    held, ended = threading.Event(), threading.Event()

    async def hold(keeper: Keeper) -> None:
        async def load(tx: Writing) -> None:
            await tx.returning(begun)
            held.set()
            ended.wait(START_SECONDS)

        await keeper.store.write(load)

    holder = threading.Thread(target=lambda: terminal.run_with_keeper(Settings(database=url), hold))
    holder.start()
    assert held.wait(START_SECONDS)
    try:
        yield
    finally:
        ended.set()
        holder.join(START_SECONDS)
