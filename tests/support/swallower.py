"""A proxy to PostgreSQL that can drop all bytes without closing a connection."""

import socket
import threading
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

from listener import CHUNK, Listener

CONNECT_SECONDS = 5  # shorter than in other tests, because connections that drop all bytes have to end


class Swallower(Listener):
    def __init__(self, database: str) -> None:
        super().__init__()
        parts = urlsplit(database)
        self._folder = parse_qs(parts.query).get("host", [""])[0]  # folder of PostgreSQL's Unix socket
        self._place = (parts.hostname or "", parts.port or 5432)
        user = f"{parts.username}:{parts.password or ''}"
        self.url = (
            f"postgresql://{user}@127.0.0.1:{self.port}{parts.path}?sslmode=disable&connect_timeout={CONNECT_SECONDS}"
        )
        self._hole = threading.Event()  # when set, the currently open connections drop all bytes

    def swallow(self) -> None:
        self._hole.set()

    def heal(self) -> None:
        """Let new connections through the proxy work; existing ones keep dropping bytes."""
        self._hole = threading.Event()

    def serve(self, caller: socket.socket) -> None:
        hole = self._hole
        with self._connect() as server:
            self._open |= {caller, server}
            back = threading.Thread(target=_carry, args=(server, caller, hole), daemon=True)
            back.start()
            _carry(caller, server, hole)
            back.join()

    def _connect(self) -> socket.socket:
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
