"""Start and stop the compared servers on the CPU core reserved for servers, with their log in a file."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import installs, machine
from benchmarks.worlds import DATA, BenchWorld
from gamekeeper.ground.settings import PREFIX

ROOT = Path(__file__).parent.parent
PORT = "{port}"  # placeholder for the port in commands and environments
START_SECONDS = 60
STOP_SECONDS = 60
LOOK_AGAIN_SECONDS = 0.05


@dataclass(frozen=True)
class Program:
    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: Path = ROOT
    cluster: int = 0  # process id of the program's PostgreSQL server; 0: none


@dataclass(frozen=True)
class Server:
    port: int
    roots: tuple[int, ...]  # process ids of the server and its database, the roots of their process trees


def hello() -> Program:
    return Program("hello", (sys.executable, "-m", "benchmarks.hello", PORT))


def altered(world: BenchWorld, way: str) -> Program:
    """Return the program of Gamekeeper with one of the changes of altered.py."""
    command = (sys.executable, "scripts/built_server.py", "benchmarks.altered", world.url, PORT, way)
    return Program(f"{way}-{world.engine}", command, cluster=world.cluster)


def gamekeeper(world: BenchWorld, checkout: Path = ROOT) -> Program:
    """Return the program of Gamekeeper with default settings; its access log goes to standard error, a file here."""
    python = sys.executable if checkout == ROOT else str(checkout.resolve() / ".venv" / "bin" / "python")
    command = (python, "-m", "gamekeeper", "serve", "--database", world.url, "--port", PORT)
    name = "gamekeeper" if checkout == ROOT else "gamekeeper-before"
    return Program(f"{name}-{world.engine}", command, folder=checkout, cluster=world.cluster)


def fastapi_orm(world: BenchWorld) -> Program:
    """Return the program of the FastAPI peer without an access log, since uvicorn's is slower than ours."""
    command = (str(installs.fastapi_orm()), "-m", "uvicorn", "app:app", "--port", PORT, "--log-level", "warning")
    url = world.url.replace("postgresql:", "postgresql+psycopg:")
    folder = installs.PEERS / "fastapi_orm"
    return Program(f"fastapi-{world.engine}", command, {"PEER_DATABASE": url}, folder, world.cluster)


def fastify(world: BenchWorld) -> Program:
    environment = {"PEER_DATABASE": world.url.removeprefix("sqlite:///"), "PORT": PORT}
    return Program("fastify", ("node", "server.js"), environment, installs.fastify())


def flat(world: BenchWorld) -> Program:
    """Return the program of the flat peer: the server of `gamekeeper serve` with one function per operation."""
    command = (sys.executable, "-m", f"benchmarks.peers.flat.{world.engine}", PORT, world.url)
    return Program(f"flat-{world.engine}", command, cluster=world.cluster)


@contextmanager
def running(program: Program) -> Generator[Server]:
    port = _free_port()
    log = DATA / "logs" / f"{program.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as file:
        process = subprocess.Popen(
            ["taskset", "-c", str(machine.cores().server), *(_with(port, each) for each in program.command)],
            cwd=program.folder,
            env=_environment() | {name: _with(port, value) for name, value in program.environment.items()},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
        try:
            _wait(process, port, log)
            yield Server(port, tuple(each for each in (process.pid, program.cluster) if each))
        finally:
            _stop(process)


def _environment() -> dict[str, str]:
    """Return the environment variables without GAMEKEEPER_ settings, so that defaults are measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


def _with(port: int, text: str) -> str:
    return text.replace(PORT, str(port))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(LOOK_AGAIN_SECONDS)
        else:
            return
    raise machine.Stop(f"A server did not start; the end of {log}:\n{log.read_text(errors='replace')[-2000:]}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
