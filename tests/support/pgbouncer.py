"""A real PgBouncer in transaction mode in front of a PostgreSQL database of the tests."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from server import free_port

START_SECONDS = 120
# PgBouncer opens one server connection: before version 1.21 a second one would lack our prepared statements.
CONFIGURATION = """
[databases]
{name} = host={host} port={port} dbname={name} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 1
ignore_startup_parameters = plan_cache_mode,jit,lock_timeout,statement_timeout,idle_in_transaction_session_timeout
"""


@contextmanager
def running(url: str) -> Generator[str]:
    """Start PgBouncer for this database and give the URL through it; skip the test where it is not installed."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if not program:
        pytest.skip("PgBouncer is missing; Debian has it in the package pgbouncer.")
    parts, listen = urlsplit(url), free_port()
    host = parts.hostname or parse_qs(parts.query)["host"][0]
    name, user = parts.path[1:], parts.username or "postgres"
    given = {"name": name, "host": host, "port": parts.port or 5432, "user": user, "listen": listen}
    # PgBouncer refuses to run as root, so another user is chosen
    owner = None if os.geteuid() else Path(host).owner() if host.startswith("/") else "nobody"
    with tempfile.TemporaryDirectory(prefix="gk-pgb-") as folder:
        file = Path(folder, "pgbouncer.ini")
        file.write_text(CONFIGURATION.format(**given), encoding="utf-8")
        if owner:
            shutil.chown(folder, owner)
        process = subprocess.Popen([program, str(file)], user=owner, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _wait(listen, process)
            yield f"postgresql://{user}@127.0.0.1:{listen}/{name}"
        finally:
            process.terminate()
            process.communicate()


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    process.terminate()
    raise RuntimeError(f"PgBouncer did not start: {process.communicate()[1].decode()}")
