"""A proxy to PostgreSQL that can drop all bytes without closing a connection."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

CHUNK = 65_536
CONNECT_SECONDS = 5  # shorter than in other tests, because connections that drop all bytes have to end


class Swallower:
    def __init__(self, database: str) -> None:
        parts = urlsplit(database)
        self._folder = parse_qs(parts.query).get("host", [""])[0]  # folder of PostgreSQL's Unix socket
        self._place = (parts.hostname or "", parts.port or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        user = f"{parts.username}:{parts.password or ''}"
        self.url = f"postgresql://{user}@127.0.0.1:{port}{parts.path}?sslmode=disable&connect_timeout={CONNECT_SECONDS}"
        self._hole = threading.Event()  # when set, the currently open connections drop all bytes
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.close()
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def swallow(self) -> None:
        self._hole.set()

    def heal(self) -> None:
        """Let new connections through the proxy work; existing ones keep dropping bytes."""
        self._hole = threading.Event()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                hole, server = self._hole, self._server()
                self._open += [caller, server]
                for one, other in ((caller, server), (server, caller)):
                    threading.Thread(target=_carry, args=(one, other, hole), daemon=True).start()

    def _server(self) -> socket.socket:
        if not self._folder:
            return socket.create_connection(self._place)
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self._folder}/.s.PGSQL.{self._place[1]}")
        return server


def _carry(one: socket.socket, other: socket.socket, hole: threading.Event) -> None:
    with suppress(OSError):
        while data := one.recv(CHUNK):
            if not hole.is_set():
                other.sendall(data)
        if not hole.is_set():
            other.shutdown(socket.SHUT_RDWR)
