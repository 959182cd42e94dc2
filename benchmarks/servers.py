"""Start and stop the compared servers on the CPU core reserved for servers, with their log in a file."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import machine
from benchmarks.worlds import DATA, BenchWorld
from gamekeeper.ground.settings import PREFIX
from server import free_port

ROOT = Path(__file__).parent.parent
PEERS = Path(__file__).parent / "peers"
PORT = "{port}"  # placeholder for the port in commands and environments
START_SECONDS = STOP_SECONDS = 60
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


def hello(_: BenchWorld) -> Program:
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


def fastify(world: BenchWorld) -> Program:
    """Return the program of the fastify peer, whose packages are installed when package.json has changed."""
    source, folder = PEERS / "fastify", DATA / "fastify"
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    wanted, installed = (source / "package.json").read_bytes(), folder / "node_modules" / "package.json"
    if not installed.exists() or installed.read_bytes() != wanted:
        command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise machine.Stop(f"npm install failed:\n{done.stdout}{done.stderr}")
        installed.write_bytes(wanted)  # written last: this file marks a complete installation
    environment = {"PEER_DATABASE": world.url.removeprefix("sqlite:///"), "PORT": PORT}
    return Program("fastify", ("node", "server.js"), environment, folder)


def has_node() -> bool:
    return all(shutil.which(each) for each in ("node", "npm"))


def flat(world: BenchWorld) -> Program:
    """Return the program of the flat peer: granian with one function per operation."""
    command = (sys.executable, "-m", "benchmarks.peers.flat", PORT, world.url)
    return Program(f"flat-{world.engine}", command, cluster=world.cluster)


@contextmanager
def running(program: Program) -> Generator[Server]:
    port = free_port()
    log = DATA / "logs" / f"{program.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    # without GAMEKEEPER_ settings of this machine, so that defaults are measured
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with log.open("wb") as file:
        process = subprocess.Popen(
            ["taskset", "-c", str(machine.cores().server), *(_with(port, each) for each in program.command)],
            cwd=program.folder,
            env=environment | {name: _with(port, value) for name, value in program.environment.items()},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
        try:
            _wait(process, port, log)
            yield Server(port, tuple(each for each in (process.pid, program.cluster) if each))
        finally:
            _stop(process)


def _with(port: int, text: str) -> str:
    return text.replace(PORT, str(port))


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
