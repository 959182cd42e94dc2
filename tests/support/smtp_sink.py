"""Local SMTP servers: a real one that stores received mails, and a faulty one that misbehaves as told."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from server import free_port

HERE = "127.0.0.1"
USER, PASSWORD = "game keeper", "p@ss:word/%"
PHASES = ("greeting", "EHLO", "MAIL", "RCPT", "DATA", "dot")
SECONDS = 60  # seconds for which the faulty SMTP server hangs; also the timeout of tests that wait for it


class Received(NamedTuple):
    sender: str
    recipients: list[str]
    raw: bytes
    tls: bool
    user: str | None

    @property
    def message(self) -> EmailMessage:
        return message_from_bytes(self.raw, policy=policy.default)


class Keeping:
    """An aiosmtpd handler that stores mails; a set `refusal` is the answer to every recipient."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.refusal: str | None = None

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802 - aiosmtpd's name
        del server, session, options
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        user = session.auth_data.login.decode() if session.auth_data else None
        tls = server.transport.get_extra_info("ssl_object") is not None
        self.received.append(Received(envelope.mail_from, envelope.rcpt_tos, envelope.content, tls, user))
        return "250 OK"


class Sink:
    """aiosmtpd in its own thread: plain, STARTTLS or SMTPS, and with `auth` only for authenticated clients."""

    def __init__(self, *, starttls: bool = False, smtps: bool = False, auth: bool = False, port: int = 0) -> None:
        self.handler, self.port = Keeping(), port or free_port()
        self._starttls, self._smtps, self._auth = starttls, smtps, auth

    @property
    def received(self) -> list[Received]:
        return self.handler.received

    @contextmanager
    def running(self, certificate: "Certificate | None" = None) -> Generator["Sink"]:
        context = certificate.context() if certificate else None
        auth: dict[str, Any] = {"authenticator": _right, "auth_require_tls": False} if self._auth else {}
        controller = Controller(
            self.handler,
            hostname=HERE,
            port=self.port,
            server_hostname="sink.test",
            ssl_context=context if self._smtps else None,
            tls_context=context if self._starttls else None,
            require_starttls=self._starttls,
            enable_SMTPUTF8=True,
            ready_timeout=SECONDS,
            **auth,
        )
        controller.start()
        try:
            yield self
        finally:
            controller.stop()


def _right(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
    right = data == LoginPassword(USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=False, auth_data=data)


class Certificate(NamedTuple):
    """A self-signed TLS certificate for this machine."""

    file: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path) -> Certificate:
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(made.key)]
    command = ["openssl", "req", "-x509", "-days", "2", *key, "-out", str(made.file), *names]
    subprocess.run(command, check=True, capture_output=True)
    return made


class Rude:
    """A faulty SMTP server: in one phase it hangs (`hang`), disconnects (`cut`) or sends a given answer.

    With manners {"dot": "250 OK, cut"} it accepts the message and then disconnects.
    """

    def __init__(self, manners: Mapping[str, str]) -> None:
        self.manners = dict(manners)
        self.received: list[bytes] = []
        self.asked = threading.Event()  # set when an SMTP client has connected
        self.hangs = threading.Event()  # set when an SMTP client is kept waiting
        self._stopping = threading.Event()

    @contextmanager
    def running(self) -> Generator["Rude"]:
        with socket.create_server((HERE, 0)) as listener:
            self.port = listener.getsockname()[1]
            thread = threading.Thread(target=self._listen, args=(listener,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                self._stopping.set()
                listener.shutdown(socket.SHUT_RDWR)
                thread.join(SECONDS)

    def hang_up(self) -> None:
        """Disconnect the SMTP clients that are kept waiting."""
        self._stopping.set()

    def _listen(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.asked.set()
                threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines, suppress(OSError):
            going = self._answer(connection, "greeting", "220 rude.test")
            while going and (line := lines.readline()):
                word = line[:4].decode("latin-1").upper().strip()
                going = self._answer(connection, word, "354 go on" if word == "DATA" else "250 OK")
                if word == "DATA" and going and self.manners.get(word, "354").startswith("354"):
                    content = b"".join(iter(lines.readline, b".\r\n"))
                    self.received.append(content)
                    going = self._answer(connection, "dot", "250 OK")

    def _answer(self, connection: socket.socket, phase: str, usual: str) -> bool:
        manner = self.manners.get(phase, usual)
        answer, _, then = manner.partition(", ")
        if answer == "hang":
            self.hangs.set()
            self._stopping.wait(SECONDS)
            return False
        if answer == "cut":
            return False
        connection.sendall(f"{answer}\r\n".encode())
        return then != "cut" and phase != "QUIT"
