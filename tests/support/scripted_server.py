"""An HTTP server that sends prepared answers, whatever the request."""

import re
import socket

from listener import CHUNK, Listener


class ScriptedServer(Listener):
    """Sends prepared answers one after the other, and repeats the last one. None: disconnect without an answer."""

    def __init__(self, *answers: bytes | None) -> None:
        super().__init__()
        self.url = f"http://127.0.0.1:{self.port}"
        self._answers = answers
        self.requests: list[str] = []  # received request lines, without the HTTP version
        self.reasons: list[str] = []
        self.keys: list[str] = []  # received Idempotency-Keys, in order

    def say(self, *answers: bytes | None) -> None:
        """Replace the answers that the scripted server will send."""
        self._answers = answers

    def serve(self, caller: socket.socket) -> None:
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
