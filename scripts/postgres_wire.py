"""A TCP proxy in front of PostgreSQL's Unix socket: counts round trips, and can lose the answer to a COMMIT."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

CHUNK = 65_536
COMMIT = b"COMMIT\0"


class PostgresWire:
    def __init__(self, database: str) -> None:
        url = urlsplit(database)
        self._socket = f"{parse_qs(url.query)['host'][0]}/.s.PGSQL.{url.port or 5432}"
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.database = f"postgresql://{url.username}@127.0.0.1:{port}{url.path}"  # URL of the database, through here
        self.round_trips = 0
        self.lost_commits = 0  # number of COMMITs whose answers are to be lost, with their connections

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._socket)
                _Turns(self, client, server).start()


class _Turns:
    """One connection: client and server take turns, and each turn of the client is a round trip."""

    def __init__(self, wire: PostgresWire, client: socket.socket, server: socket.socket) -> None:
        self._wire, self._client, self._server = wire, client, server
        self._answered = True
        self._lost = False

    def start(self) -> None:
        for forward in (self._forward_requests, self._forward_answers):
            threading.Thread(target=forward, daemon=True).start()

    def _forward_requests(self) -> None:
        with suppress(OSError), self._server:
            while data := self._client.recv(CHUNK):
                self._wire.round_trips += self._answered
                self._answered = False
                if self._wire.lost_commits and COMMIT in data:
                    self._wire.lost_commits -= 1
                    self._lost = True
                self._server.sendall(data)

    def _forward_answers(self) -> None:
        with suppress(OSError), self._client:
            while data := self._server.recv(CHUNK):
                if self._lost:
                    self._client.shutdown(socket.SHUT_RDWR)
                    return
                self._answered = True
                self._client.sendall(data)
