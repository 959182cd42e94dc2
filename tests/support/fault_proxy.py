"""A TCP proxy that can lose answers, answer instead of the server, and close connections."""

import socket
import threading
from contextlib import suppress

from listener import CHUNK, Listener


class FaultProxy(Listener):
    def __init__(self, port: int) -> None:
        super().__init__()
        self._server = ("127.0.0.1", port)
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: list[bytes] = []  # request lines that the proxy has received
        self.lose = 0  # number of the server's answers to drop
        self.answers: list[bytes] = []  # answers that the proxy sends instead of the server's
        self.away = False
        self.cuts = 0  # number of connections that the proxy closes before it sends any byte

    def count(self, start: bytes) -> int:
        return sum(each.startswith(start) for each in self.requests)

    def handle_loss(self) -> None:
        """Do what belongs to a lost answer; a subclass does."""

    def serve(self, caller: socket.socket) -> None:
        with socket.create_connection(self._server) as server:
            if self.away:
                return
            if self.cuts:
                self.cuts -= 1
                return
            self._open |= {caller, server}
            threading.Thread(target=self._answer, args=(server, caller), daemon=True).start()
            while data := caller.recv(CHUNK):
                if data.split(b" ")[0] in {b"GET", b"POST", b"PUT", b"DELETE"}:
                    self.requests.append(data.split(b"\r\n")[0])
                    if self.answers:
                        caller.sendall(self.answers.pop(0))
                        break
                server.sendall(data)
            self._open -= {caller, server}

    def _answer(self, server: socket.socket, caller: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(CHUNK):
                if self.lose:
                    self.lose -= 1
                    self.handle_loss()
                    break
                caller.sendall(data)
        with suppress(OSError):
            caller.shutdown(socket.SHUT_RDWR)


def refusal(status: str, code: str, *headers: str) -> bytes:
    body = f'{{"Message": "No.", "Code": "{code}", "RequestId": "proxy"}}'
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", body]).encode()
