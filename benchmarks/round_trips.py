"""Count the round trips to PostgreSQL of one request, with a proxy between server and database."""

import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

HEAD = 4  # bytes of a message's length, which counts itself; all messages but the first ones have a type before it
STARTUP = b"\x00\x03\x00\x00"  # protocol version in the first message; other first messages ask for encryption
AWAITED = b"QS"  # Query and Sync: messages that a client sends and then waits
CHUNK = 65_536
PORT = 5432


class Counter:
    """A proxy for one database on a port of its own, and the number of round trips through it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._folder = parse_qs(parts.query)["host"][0]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql://{parts.username}@127.0.0.1:{self._listener.getsockname()[1]}{parts.path}"
        self.count = 0
        _start(self._accept)

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # the proxy was closed
            while True:
                client, _ = self._listener.accept()
                database = socket.socket(socket.AF_UNIX)
                database.connect(f"{self._folder}/.s.PGSQL.{PORT}")
                _start(self._forward, client, database)
                _start(_copy, database, client)

    def _forward(self, client: socket.socket, database: socket.socket) -> None:
        """Forward whole messages of the client, and count those after which it waits."""
        with suppress(OSError), client.makefile("rb") as sent:
            started = False
            while head := sent.read(HEAD + started):
                body = sent.read(int.from_bytes(head[-HEAD:], "big") - HEAD)
                self.count += started and head[:1] in AWAITED
                started = started or body.startswith(STARTUP)
                database.sendall(head + body)
        database.close()


@contextmanager
def counting(url: str) -> Generator[Counter]:
    counter = Counter(url)
    try:
        yield counter
    finally:
        counter.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(CHUNK):
            target.sendall(chunk)


def _start(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()
