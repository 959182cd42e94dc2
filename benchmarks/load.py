"""The load generator: wrk on its own core, with random requests and tokens from files."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks import machine

SCRIPT = Path(__file__).with_name("requests.lua")
MANY, FEW = 32, 8  # numbers of connections; fewer for slow requests, whose queue would only add waiting time
TIMEOUT_SECONDS = 60  # seconds: timeout of one request; long, because a slow answer must be measured, not dropped


@dataclass(frozen=True)
class Load:
    requests: Path  # file with one request per line: "GET /path" or "POST /path {json}"
    tokens: Path
    connections: int = MANY
    expected: int = 0  # required HTTP status of every answer; 0: any 2xx
    keyed: bool = False  # whether every request has an Idempotency-Key of its own


class Outcome(msgspec.Struct, frozen=True):
    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    bad: int  # number of answers with a status other than 2xx and 3xx
    other: int  # number of answers with another status than the expected one
    broken: int  # number of requests without an answer

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def require_wrk() -> None:
    if not shutil.which("wrk"):
        raise machine.Stop("wrk is missing, which makes the load. Debian and Ubuntu have it: apt install wrk")


def start(port: int, load: Load, seconds: int) -> "subprocess.Popen[str]":
    command = ["taskset", "-c", str(machine.cores().generator), "wrk", "-t", "1", "-c", str(load.connections)]
    command += ["-d", str(seconds), "--timeout", str(TIMEOUT_SECONDS), "-s", str(SCRIPT), f"http://127.0.0.1:{port}/"]
    command += ["--", str(load.requests), str(load.tokens), str(load.expected), str(int(load.keyed))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def outcome(wrk: "subprocess.Popen[str]", load: Load) -> Outcome:
    """Wait for wrk to end. Stop the benchmark if any answer is not the expected one."""
    said, _ = wrk.communicate()
    if wrk.returncode:
        raise machine.Stop(f"wrk failed:\n{said}")
    found = msgspec.json.decode(said.strip().rpartition("\n")[2], type=Outcome)
    wrong = found.other if load.expected else found.bad
    if wrong or found.broken or not found.requests:
        raise machine.Stop(
            f"Not a measurement: of {found.requests} answers to {load.requests.name} "
            f"{wrong} had a wrong status, and {found.broken} requests got none."
        )
    return found


def drive(port: int, load: Load, seconds: int) -> Outcome:
    return outcome(start(port, load, seconds), load)
