"""An HTTP server that sends prepared answers, whatever the request."""

import re
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

CHUNK = 65_536


class ScriptedServer:
    """Sends prepared answers one after the other, and repeats the last one. None: disconnect without an answer."""

    def __init__(self, *answers: bytes | None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._answers = answers
        self.requests: list[str] = []  # received request lines, without the HTTP version
        self.reasons: list[str] = []
        self.keys: list[str] = []  # received Idempotency-Keys, in order

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # shutting the socket down wakes the accepting thread
        self._listener.close()

    def say(self, *answers: bytes | None) -> None:
        """Replace the answers that the scripted server will send."""
        self._answers = answers

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                with caller, suppress(OSError):
                    self._serve(caller)

    def _serve(self, caller: socket.socket) -> None:
        head = _read(caller)
        if not head:
            return
        self.requests.append(head.split(" HTTP/")[0])
        self.reasons += re.findall(r"(?i)^x-reason: (.*)\r", head, re.MULTILINE)
        self.keys += re.findall(r"(?i)^idempotency-key: (\S+)", head, re.MULTILINE)
        answer, self._answers = self._answers[0], self._answers[1:] or self._answers
        if answer is not None:
            caller.sendall(answer)


def _read(caller: socket.socket) -> str:
    """Read a whole request, so that the client's connection is not reset, and return its head."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := caller.recv(CHUNK)):
            return ""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)^content-length: (\d+)", head, re.MULTILINE)
    missing = int(length[1]) - len(body) if length else 0
    while missing > 0 and (more := caller.recv(CHUNK)):
        missing -= len(more)
    return head.decode()


def answer(status: str, body: bytes, *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body
