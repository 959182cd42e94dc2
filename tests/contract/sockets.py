"""A running Gamekeeper server, and a client that sends raw bytes over a socket."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from hostile import Hostile

from server import free_port
from world import Answer

READY_SECONDS = 60
ANSWER_SECONDS = 60


class SocketServer(NamedTuple):
    port: int
    token: str


class Closed(Exception):
    """Raised when the server closed the connection without an answer."""


@contextmanager
def serve(database: str, token: str) -> Generator[SocketServer]:
    """Run `gamekeeper serve` on a free port for the duration of the block."""
    port = free_port()
    command = [sys.executable, "-m", "gamekeeper", "serve", "--database", database, "--port", str(port)]
    environment = {**os.environ, "GAMEKEEPER_ACCESS_LOG": "false", "GAMEKEEPER_RECEIVE_SECONDS": "60"}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout
        assert "ready" in server.stdout.readline()
        yield SocketServer(port, token)
    finally:
        server.terminate()
        server.communicate(timeout=READY_SECONDS)
        assert server.returncode == 0


class Connection:
    """One TCP connection to the server, which is reopened after the server has closed it."""

    def __init__(self, server: SocketServer) -> None:
        self._server = server
        self._socket: socket.socket | None = None
        self._rest = b""

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket, self._rest = None, b""

    def send(self, raw: bytes) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._server.port), timeout=ANSWER_SECONDS)
        # Sending failed, but the server may have sent an early answer, which can still be read
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(raw)

    def answer(self) -> Answer:
        head = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = self._exactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return Answer(int(head[0].split()[1]), headers, body)

    def more(self) -> bytes:
        """Read from the connection until the server closes it or pauses."""
        found, self._rest = self._rest, b""
        if self._socket is None:
            return found
        self._socket.settimeout(0.5)
        with suppress(TimeoutError, ConnectionResetError):
            while part := self._socket.recv(65_536):
                found += part
        self._socket.settimeout(ANSWER_SECONDS)
        return found

    def _until(self, end: bytes) -> bytes:
        while end not in self._rest:
            self._receive()
        found, _, self._rest = self._rest.partition(end)
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._rest) < size:
            self._receive()
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _receive(self) -> None:
        assert self._socket
        try:
            part = self._socket.recv(65_536)
        except ConnectionResetError:
            part = b""
        if not part:
            self.close()
            raise Closed
        self._rest += part


def request(
    server: SocketServer,
    method: str,
    path: bytes,
    headers: dict[bytes, bytes],
    body: bytes = b"",
    *,
    chunked: bool = False,
) -> bytes:
    """Build the bytes of a complete request; given headers replace the default ones."""
    usual = {b"host": b"127.0.0.1", b"authorization": b"Bearer " + server.token.encode()}
    if chunked:
        usual[b"transfer-encoding"] = b"chunked"
    elif b"content-length" not in headers:
        usual[b"content-length"] = str(len(body)).encode()
    lines = [name + b": " + value for name, value in {**usual, **headers}.items()]
    return b"\r\n".join(
        [b"%b %b HTTP/1.1" % (method.encode(), path), *lines, b"", in_chunks(body) if chunked else body]
    )


def in_chunks(body: bytes, size: int = 8192) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def ask(server: SocketServer, line: Connection, case: Hostile) -> Answer:
    headers = dict(case.headers)
    line.send(request(server, case.method, case.path, headers, case.body, chunked=case.chunked))
    return line.answer()
