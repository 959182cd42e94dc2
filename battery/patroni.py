"""Test b, long form: the primary's machine dies and Patroni fails over, with deploy/patroni.yml."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil

from battery import realm
from battery.cases import NO_HAPROXY, Figure, NotRun, Run, Timed
from battery.givers import Givers
from gamekeeper.store.engine.postgres_url import CONNECT_SECONDS
from pair import kill_tree, programs, tail
from run_cluster import Cluster, haproxy
from server import free_port

CONFIGURATION = Path(__file__).parent.parent / "deploy" / "patroni.yml"
ENVIRONMENT = Path(sys.prefix)
# Patroni from PyPI: Debian 12's package (3.0.2) never chooses a synchronous standby with PostgreSQL 18
PATRONI = ENVIRONMENT / "patroni" / "bin" / "patroni"
# Etcd 3.4 starts on ARM only with ETCD_UNSUPPORTED_ARCH set
ARM = {"aarch64": "arm64", "arm64": "arm64", "armv7l": "arm"}
START_SECONDS, DEATH_BAR, SWITCH_BAR = 180, 25.0, 5.0
FROZEN_SECONDS = 1.5
LOST_GIVES = 10  # acknowledged gives that a primary with a disconnected standby loses (the seeded fault)
# Differences of the test from deploy/patroni.yml: loopback addresses, no certificates
HERE = {
    "hostssl": "host",
    "10.0.0.0/24 scram-sha-256": "127.0.0.1/32 trust",
    "gamekeeper gamekeeper 127": "all all 127",
    "postgres peer": "postgres trust",
    "10.0.0.21:2379,10.0.0.22:2379,10.0.0.23:2379": "127.0.0.1:{etcd}",
    "10.0.0.21:8008": "127.0.0.1:{rest}",
    "10.0.0.21:5432": "127.0.0.1:{port}",
    "name: one": "name: {name}",
    "/var/lib/postgresql/18/gamekeeper": "{data}",
    "/usr/lib/postgresql/18/bin": "{programs}",
    "shared_buffers: 8GB": "shared_buffers: 64MB",
    "effective_cache_size: 24GB": "effective_cache_size: 256MB",
}


class Machine:
    """One machine of the cluster: Patroni and its PostgreSQL."""

    def __init__(self, name: str, folder: Path, etcd: int, *, synchronous: bool) -> None:
        where, self._user = programs()
        self.name, self.port, self._rest = name, free_port(), free_port()
        self._folder, self._data, self._file = folder, folder / name, folder / f"{name}.yml"
        values = {"etcd": etcd, "rest": self._rest, "port": self.port, "name": name}
        text = CONFIGURATION.read_text()
        for known, ours in HERE.items():
            text = text.replace(known, ours.format(**values, data=self._data, programs=where))
        text = re.sub(r"parameters:\n    ssl(.*\n){3}", f"parameters:\n    unix_socket_directories: {folder}\n", text)
        mode = f"synchronous_mode: {str(synchronous).lower()}"
        self._file.write_text(text.replace("synchronous_mode: true", mode))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        given = {"HOME": str(self._folder)}
        given |= {f"PATRONI_{each}_PASSWORD": "none" for each in ("SUPERUSER", "REPLICATION")}
        self._process = _start([str(PATRONI), str(self._file)], self._file.with_suffix(".log"), given, self._user)

    def ask(self, path: str) -> dict[str, Any]:
        try:
            return httpx.get(f"http://127.0.0.1:{self._rest}{path}", timeout=2).json()
        except (httpx.HTTPError, ValueError):
            return {}

    def is_primary(self) -> bool:
        state = self.ask("/patroni")
        return state.get("role") in {"primary", "master"} and state.get("state") == "running"

    def has_standby(self, role: str) -> bool:
        members = self.ask("/cluster").get("members", [])
        return any(each["role"] == role and each["state"] == "streaming" for each in members)

    def hand_over(self, to: str) -> None:
        wish = {"leader": self.name, "candidate": to}
        httpx.post(f"http://127.0.0.1:{self._rest}/switchover", json=wish, timeout=60).raise_for_status()

    def freeze_sender(self) -> None:
        for each in psutil.Process(self._find_postgres()).children():
            if "walsender" in " ".join(each.cmdline()):
                each.suspend()

    def kill(self) -> None:
        """Kill Patroni, PostgreSQL, which is not its child process, and all their processes."""
        if self._process:
            kill_tree(self._process.pid)
            self._process.wait()
        kill_tree(self._find_postgres())

    def _find_postgres(self) -> int:
        """Return the process id of PostgreSQL; 0: it was never started."""
        file = self._data / "postmaster.pid"
        return int(file.read_text().split()[0]) if file.exists() else 0


class PatroniPair:
    """Two machines with Patroni and one etcd; etcd never fails in this test."""

    def __init__(self, *, synchronous: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gk-patroni-"))
        self.folder.chmod(0o755)
        user = programs()[1]
        if user:
            shutil.chown(self.folder, user)
        self._etcd, self._peers = free_port(), free_port()
        self._standby_role = "sync_standby" if synchronous else "replica"
        self.machines = [Machine(each, self.folder, self._etcd, synchronous=synchronous) for each in ("one", "two")]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.machines)
        return f"postgresql://postgres@{hosts}/postgres?connect_timeout={CONNECT_SECONDS}"

    @property
    def primary(self) -> Machine:
        return next(each for each in self.machines if each.is_primary())

    def start(self) -> None:
        ours, peers = f"http://127.0.0.1:{self._etcd}", f"http://127.0.0.1:{self._peers}"
        command = [find_etcd() or "etcd", "--data-dir", str(self.folder / "etcd"), "--listen-client-urls", ours]
        command += ["--advertise-client-urls", ours, "--listen-peer-urls", peers]
        command += ["--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"]
        architecture = ARM.get(platform.machine())
        given = {"ETCD_UNSUPPORTED_ARCH": architecture} if architecture else {}
        self._process = _start(command, self.folder / "etcd.log", given)
        self.machines[0].start()
        self.wait_for_primary()
        self.machines[1].start()
        self.wait_for_standby()

    def wait_for_standby(self) -> None:
        self._wait(lambda: any(each.has_standby(self._standby_role) for each in self.machines), "no standby")

    def wait_for_primary(self) -> None:
        self._wait(lambda: any(each.is_primary() for each in self.machines), "no machine became primary")

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            for machine in self.machines:
                stack.callback(machine.kill)
            if self._process:
                self._process.kill()
                self._process.wait()

    def _wait(self, until: Callable[[], bool], failure: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not until():
            if time.monotonic() > deadline:
                logs = "\n".join(tail(each) for each in sorted(self.folder.glob("*.log")))
                raise RuntimeError(f"Patroni: {failure} within {START_SECONDS} seconds.\n{logs}")
            time.sleep(0.2)


def _start(command: list[str], log: Path, given: dict[str, str], user: str | None = None) -> "subprocess.Popen[bytes]":
    with log.open("ab") as out:
        return subprocess.Popen(
            command, stdout=out, stderr=out, env=os.environ | given, user=user, cwd=log.parent, start_new_session=True
        )


def _require_programs() -> None:
    for program, found in (("patroni", PATRONI.exists()), ("etcd", find_etcd())):
        if not found:
            raise NotRun(f"{program} is missing: run `make patroni`.")
    user = programs()[1]
    try:
        subprocess.run([PATRONI, "--version"], check=True, capture_output=True, user=user, cwd="/")
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotRun(f"Patroni cannot be run as the user {user}: {error}") from error


def find_etcd() -> str | None:
    return shutil.which("etcd") or shutil.which("etcd", path=str(ENVIRONMENT / "bin"))


def run(run: Run) -> list[Figure]:
    if run.seconds is None:
        raise NotRun("Patroni takes 20 seconds to notice a death: only in the long form, make battery ONLY=b LONG=120.")
    if not haproxy():
        raise NotRun(NO_HAPROXY)
    _require_programs()
    pair = PatroniPair(synchronous=not run.fault)
    gaps: list[float] = []
    switches: list[float] = []
    with Cluster(pair) as cluster:
        givers = Givers([cluster.proxy.url], realm.prepare(pair.url), run.seed)
        with givers.at_work():
            for _ in range(1) if run.fault else run.rounds():
                if not run.fault:
                    switches.append(_switch(pair, givers))
                gaps.append(_kill_primary(pair, givers, asynchronous=bool(run.fault)))
        return [
            *givers.figures("Patroni: "),
            Timed.within("Patroni: primary dies, time until service is back", max(gaps), DEATH_BAR),
            Timed.within("Patroni: switchover", max(switches, default=0.0), SWITCH_BAR),
            givers.statuses("Patroni: "),
        ]


def _switch(pair: PatroniPair, givers: Givers) -> float:
    began, old = time.monotonic(), pair.primary
    old.hand_over(next(each.name for each in pair.machines if each is not old))
    pair.wait_for_primary()
    pair.wait_for_standby()
    return givers.longest_gap(since=began)


def _kill_primary(pair: PatroniPair, givers: Givers, *, asynchronous: bool) -> float:
    began, old = time.monotonic(), pair.primary
    old.freeze_sender()
    if asynchronous:
        # these gives do not reach the standby: they exist only on the primary's machine, which is killed below
        givers.wait_for_gives(LOST_GIVES, since=time.monotonic())
    else:
        time.sleep(FROZEN_SECONDS)
    old.kill()
    pair.wait_for_primary()
    old.start()
    pair.wait_for_standby()
    return givers.longest_gap(since=began)
