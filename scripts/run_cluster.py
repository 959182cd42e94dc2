"""Run the set-up of docs/deploy.md on one machine: a PostgreSQL pair, two instances and HAProxy, all on loopback.

    .venv/bin/python scripts/run_cluster.py

Prints all addresses, and stops everything on Ctrl-C. The data is deleted.
"""

import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from pair import Pair
from server import Server, free_port, wait_until_ready

CONFIGURATION = Path(__file__).parent.parent / "deploy" / "haproxy.cfg"
INSTANCES = ("10.0.0.11:5400", "10.0.0.12:5400")  # addresses of the instances in deploy/haproxy.cfg
ADMIN_SOCKET = "/run/haproxy/admin.sock"
PLACES = "maxconn 128"  # HAProxy's connection limit per instance in deploy/haproxy.cfg
SECOND_TRY = re.compile("retries 3|option redispatch 1|retry-on .*")
START_SECONDS = 120


class Instance(Server):
    stderr = subprocess.DEVNULL  # no log: an unreachable database causes many log lines


class Proxy:
    """HAProxy with the deployed configuration, except for addresses and, if given, connection limits and retries."""

    def __init__(
        self, folder: Path, instances: list[int], *, second_try: bool = True, places: int | None = None
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.file = folder / "haproxy.cfg"
        text = configuration(folder, self.port, [f"127.0.0.1:{port}" for port in instances], places)
        self.file.write_text(text if second_try else SECOND_TRY.sub("retries 0", text))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        with self.file.with_suffix(".log").open("wb") as log:
            command = [haproxy() or "haproxy", "-f", str(self.file)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        wait_until_ready(self.url, self._process, START_SECONDS)

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


class Cluster:
    """Two Gamekeeper instances on one database, behind HAProxy."""

    def __init__(self, database: Pair, *, second_try: bool = True) -> None:
        self._database = database
        self.instances = [Instance(database.url, trusted_proxies="127.0.0.1") for _ in INSTANCES]
        self.proxy = Proxy(database.folder, [each.port for each in self.instances], second_try=second_try)

    def __enter__(self) -> Self:
        try:
            self._database.start()
            with ThreadPoolExecutor() as several:
                list(several.map(Server.start, self.instances))
            self.proxy.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def roll(self) -> None:
        """Restart the Gamekeeper instances one after the other, like a rolling upgrade."""
        for instance in self.instances:
            instance.stop()
            instance.start()
            time.sleep(1)  # wait a second: HAProxy's health checks, every 200 ms, must notice the restart

    def close(self) -> None:
        """Stop HAProxy, instances and database, even if one step fails."""
        with ExitStack() as stack:
            stack.callback(self._database.close)
            for instance in self.instances:
                stack.callback(instance.kill)
            stack.callback(self.proxy.stop)


def haproxy() -> str | None:
    """Find HAProxy, which Debian installs in a folder that is only on root's PATH."""
    return shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")


def configuration(folder: Path, port: int, instances: list[str], places: int | None = None) -> str:
    text = CONFIGURATION.read_text()
    changed = [*zip(INSTANCES, instances, strict=True), (ADMIN_SOCKET, str(folder / "haproxy.sock"))]
    if places is not None:
        changed.append((PLACES, f"maxconn {places}"))
    for known, ours in changed:
        if known not in text:
            raise RuntimeError(f"{CONFIGURATION} no longer names {known}.")
        text = text.replace(known, ours)
    return re.sub(r"bind :443 .*", f"bind 127.0.0.1:{port}", text)


def main() -> None:
    if not haproxy():
        raise SystemExit("There is no haproxy here; Debian has it in the package haproxy.")
    told = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        told.set()

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
    pair = Pair()
    with Cluster(pair) as cluster:
        print(f"HAProxy      {cluster.proxy.url}   ({cluster.proxy.file})")
        for instance in cluster.instances:
            print(f"instance     {instance.url}")
        print(f"primary      {pair.primary.url}")
        print(f"standby      {pair.standby.url}   (synchronous)")
        print(f"database     {pair.url}")
        print("An account:  gamekeeper users add root --email root@example.com --api --database <database>")
        print("Stop with Ctrl-C.", flush=True)
        told.wait()


if __name__ == "__main__":
    main()
