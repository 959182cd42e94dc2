"""One conversation with an SMTP server, and what came of it."""

import asyncio
import contextlib
import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.message import EmailMessage
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import aiosmtplib

from gamekeeper.mail.letter import one_line
from gamekeeper.settings import BadSetting, Settings, shown, variable

PORTS = {"smtp": 25, "smtps": 465}
STARTTLS = {"offered": None, "required": True, "never": False}  # as aiosmtplib has it
LONGEST_SAID = 300
PERMANENT = 5  # the first digit of a refusal for good
GOODBYE_SECONDS = 0.3  # well within what a stop leaves us: the mail is sent, and must be noted as sent


class Failed(Exception):
    """Not this time; `said` is for the operator's eyes, `brief` for the log: it names no person."""

    def __init__(self, said: str, brief: str) -> None:
        super().__init__(brief)
        self.said, self.brief = said, brief


class Refused(Failed):
    """Never: trying again would be refused again."""


@dataclass(frozen=True, slots=True)
class Server:
    host: str
    port: int
    username: str | None
    password: str | None
    tls: bool  # from the first byte
    starttls: bool | None  # None: if it is offered
    context: ssl.SSLContext
    timeout: int

    @property
    def longest(self) -> int:
        """Seconds that a whole conversation may take."""
        return 4 * self.timeout


def server(settings: Settings) -> Server:
    try:
        url = urlsplit(settings.smtp_url)
        options, port = dict(parse_qsl(url.query)), url.port
    except ValueError:
        _bad(settings, "its port is not a number from 1 to 65535")
    _check(settings, url, options)
    return Server(
        host=url.hostname or "",
        port=port or PORTS[url.scheme],
        username=unquote(url.username) if url.username else None,
        password=unquote(url.password or "") if url.username else None,
        tls=url.scheme == "smtps",
        starttls=None if url.scheme == "smtps" else _starttls(url, options),
        context=_context(settings, options.get("ca")),
        timeout=settings.smtp_timeout,
    )


async def deliver(to: Server, message: EmailMessage, wanted: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Whether the server took the message; False when nobody wants it any more by the time it would listen."""
    sender, recipient = (message[each].addresses[0] for each in ("From", "To"))
    client = aiosmtplib.SMTP(
        hostname=to.host,
        port=to.port,
        username=to.username,
        password=to.password,
        use_tls=to.tls,
        start_tls=to.starttls,
        tls_context=to.context,
        timeout=to.timeout,
        local_hostname=sender.domain,  # the default asks the resolver, which may hang
    )
    try:
        async with asyncio.timeout(min(seconds, to.longest)):
            await client.connect()
            if not await wanted():
                return False
            await client.send_message(message, sender=sender.addr_spec, recipients=[recipient.addr_spec])
        with contextlib.suppress(Exception):  # the message is theirs already; a rude end changes nothing
            await client.quit(timeout=GOODBYE_SECONDS)
    except Exception as error:  # noqa: BLE001 - a server can fail in any way it likes, and no way may lose the mail
        raise _failed(error) from None
    finally:
        client.close()
    return True


def _failed(error: Exception) -> Failed:
    code, said = _answer(error)
    brief = f"{type(error).__name__}{f' {code}' if code else ''}"
    text = one_line(f"{code} {said}" if code else f"{type(error).__name__}: {said}")[:LONGEST_SAID]
    return Refused(text, brief) if _for_good(error) else Failed(text, brief)


def _answer(error: BaseException) -> tuple[int | None, str]:
    """What the server said, with its number, or what happened instead."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        first = error.recipients[0]
        return first.code, first.message
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return error.code, error.message
    return None, str(error) or "it took too long"


def _for_good(error: BaseException) -> bool:
    """The person's address or the message is refused; a refused log-in or sender is for the operator to mend."""
    while True:
        if isinstance(error, aiosmtplib.SMTPRecipientsRefused | aiosmtplib.SMTPDataError):
            return (_answer(error)[0] or 0) // 100 == PERMANENT
        if error.__context__ is None:
            return False
        error = error.__context__  # a server that hangs after it refused has refused all the same


def _check(settings: Settings, url: SplitResult, options: dict[str, str]) -> None:
    if url.scheme not in PORTS or not url.hostname or url.path.strip("/"):
        _bad(settings, "it must be smtp://user:password@host:port or smtps://user:password@host:port")
    if set(options) - {"starttls", "ca"} or options.get("starttls", "offered") not in STARTTLS:
        _bad(settings, "after the ? there can be starttls=offered, =required or =never, and ca=FILE")


def _starttls(url: SplitResult, options: dict[str, str]) -> bool | None:
    """A password leaves this machine in the clear only where the operator says so."""
    default = "required" if url.username and not _here(url.hostname or "") else "offered"
    return STARTTLS[options.get("starttls", default)]


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _context(settings: Settings, ca: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        _bad(settings, f"the certificates in {ca} cannot be read: {error.strerror or error}")


def _bad(settings: Settings, problem: str) -> NoReturn:
    raise BadSetting(f"{variable('smtp_url')} is '{shown(settings, 'smtp_url')}'; {problem}.") from None
