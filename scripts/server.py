"""A real `gamekeeper serve` in its own process group, for tests that call, stop and kill it."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from types import TracebackType
from typing import Self

import httpx

READY_SECONDS = 120  # seconds: timeout of starting and stopping the server, long enough for a busy machine
KEPT_MOST = 100
_kept: deque[int] = deque()  # file descriptors of the sockets that reserve ports


def free_port() -> int:
    """Return a free port and keep it reserved: SO_REUSEPORT still lets the server listen on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        if sys.platform == "linux":  # only on Linux: on other systems the server could not listen on a reserved port
            _kept.append(probe.detach())
            if len(_kept) > KEPT_MOST:
                os.close(_kept.popleft())
        return port


class Server:
    stderr: int | None = None  # target of the server's log; None: this program's standard error

    def __init__(self, database: str, port: int | None = None, **settings: object) -> None:
        self.database = database
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._settings = {f"GAMEKEEPER_{name.upper()}": str(value) for name, value in settings.items()}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Return the process id of the parent process of the server's workers."""
        if self._process is None:
            raise RuntimeError("the server is not running")
        return self._process.pid

    def start(self) -> None:
        environment = {**os.environ, "GAMEKEEPER_ACCESS_LOG": "false", **self._settings}
        self._process = subprocess.Popen(
            self._command(), env=environment, stdout=subprocess.DEVNULL, stderr=self.stderr, start_new_session=True
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> int:
        """Stop the server with SIGTERM and return its exit code."""
        if self._process is None:
            return 0
        self._process.terminate()
        try:
            code = self._process.wait(timeout=READY_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._process = None
        return code

    def kill(self) -> None:
        """Kill the server's whole process group with SIGKILL."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):  # ignored: the process group has ended already
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    async def restart(self) -> None:
        await asyncio.to_thread(self.start)

    def _command(self) -> list[str]:
        """Return the command that starts the server; subclasses run another program."""
        return [sys.executable, "-m", "gamekeeper", "serve", "--database", self.database, "--port", str(self.port)]

    def _wait_until_ready(self) -> None:
        if self._process is not None:
            wait_until_ready(self.url, self._process, self._ready_seconds())

    def _ready_seconds(self) -> float:
        """Return the server's start timeout in seconds; subclasses may need longer."""
        return READY_SECONDS


def wait_until_ready(url: str, process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait until the server at this address, which may be a proxy's, reports readiness."""
    deadline = time.monotonic() + seconds
    # Certificates are not verified on loopback: loading the trust store takes longer than the request.
    with httpx.Client(verify=False, headers={"Connection": "close"}) as client:  # noqa: S501 - see above
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError("the server ended before it was ready")
            with contextlib.suppress(httpx.TransportError):
                if client.get(f"{url}/health/ready").is_success:
                    return
            time.sleep(0.05)
    raise RuntimeError(f"the server was not ready within {seconds} seconds")
