"""Deliver one mail to an SMTP server."""

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

from gamekeeper.ground.settings import BadSetting, Settings, show_value, variable
from gamekeeper.http.accounts.mail_messages import join_lines

PORTS = {"smtp": 25, "smtps": 465}
STARTTLS = {"offered": None, "required": True, "never": False}  # option in the SMTP URL → aiosmtplib's `start_tls`
MAX_DETAIL = 300  # characters of an SMTP reply that are stored
PERMANENT_CLASS = 5  # first digit of SMTP codes for permanent failures
QUIT_SECONDS = 0.3  # time limit of SMTP's QUIT; short, so that the delivery's outcome is still recorded at shutdown


class MailFailure(Exception):
    """Temporary delivery failure. `said` is shown to operators only; `brief` is for the log, without personal data."""

    def __init__(self, said: str, brief: str) -> None:
        super().__init__(brief)
        self.said, self.brief = said, brief


class PermanentMailFailure(MailFailure):
    """Permanent failure (SMTP 5xx): do not retry."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    host: str
    port: int
    username: str | None
    password: str | None
    tls: bool  # whether the connection to the SMTP server uses implicit TLS (smtps)
    starttls: bool | None  # whether to use STARTTLS; None: if the SMTP server offers it
    context: ssl.SSLContext
    timeout: int

    @property
    def total_timeout(self) -> int:
        """Longest duration of one mail delivery, in seconds."""
        return 4 * self.timeout


def parse_server(settings: Settings) -> SmtpServer:
    try:
        url = urlsplit(settings.smtp_url)
        options, port = dict(parse_qsl(url.query)), url.port
    except ValueError:
        _reject_url(settings, "its port must be a number from 1 to 65535")
    _check(settings, url, options)
    return SmtpServer(
        host=url.hostname or "",
        port=port or PORTS[url.scheme],
        username=unquote(url.username) if url.username else None,
        password=unquote(url.password or "") if url.username else None,
        tls=url.scheme == "smtps",
        starttls=None if url.scheme == "smtps" else _choose_starttls(url, options),
        context=_load_context(settings, options.get("ca")),
        timeout=settings.smtp_timeout,
    )


async def deliver(to: SmtpServer, message: EmailMessage, wanted: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Send a mail. Return False, without sending, if `wanted` says that it is no longer needed."""
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
        local_hostname=sender.domain,  # set the host name: aiosmtplib's default does a DNS lookup, which may hang
    )
    try:
        async with asyncio.timeout(min(seconds, to.total_timeout)):
            await client.connect()
            if not await wanted():
                return False
            await client.send_message(message, sender=sender.addr_spec, recipients=[recipient.addr_spec])
        with contextlib.suppress(Exception):  # the mail is already accepted; errors after that do not matter
            await client.quit(timeout=QUIT_SECONDS)
    except Exception as error:  # noqa: BLE001 - no failure of a server may lose the mail
        raise _to_failure(error) from None
    finally:
        client.close()
    return True


def _to_failure(error: Exception) -> MailFailure:
    code, said = _read_reply(error)
    brief = f"{type(error).__name__}{f' {code}' if code else ''}"
    text = join_lines(f"{code} {said}" if code else f"{type(error).__name__}: {said}")[:MAX_DETAIL]
    return PermanentMailFailure(text, brief) if _is_permanent(error) else MailFailure(text, brief)


def _read_reply(error: BaseException) -> tuple[int | None, str]:
    """Return the SMTP reply's code and text, or None and a description of the error."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        first = error.recipients[0]
        return first.code, first.message
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return error.code, error.message
    return None, str(error) or "timed out"


def _is_permanent(error: BaseException) -> bool:
    """Whether the recipient or the message was rejected with 5xx. A rejected log-in or sender is retried:
    the operator can correct the settings.
    """
    while True:
        if isinstance(error, aiosmtplib.SMTPRecipientsRefused | aiosmtplib.SMTPDataError):
            return (_read_reply(error)[0] or 0) // 100 == PERMANENT_CLASS
        if error.__context__ is None:
            return False
        error = error.__context__  # a timeout after a rejected mail is still a rejection


def _check(settings: Settings, url: SplitResult, options: dict[str, str]) -> None:
    if url.scheme not in PORTS or not url.hostname or url.path.strip("/"):
        _reject_url(settings, "it must be smtp://user:password@host:port or smtps://user:password@host:port")
    if set(options) - {"starttls", "ca"} or options.get("starttls", "offered") not in STARTTLS:
        _reject_url(settings, "the options after ? are starttls=offered, starttls=required, starttls=never and ca=FILE")


def _choose_starttls(url: SplitResult, options: dict[str, str]) -> bool | None:
    """Require STARTTLS by default if a password is sent to another machine."""
    default = "required" if url.username and not _is_loopback(url.hostname or "") else "offered"
    return STARTTLS[options.get("starttls", default)]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _load_context(settings: Settings, ca: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        _reject_url(settings, f"the certificates in {ca} cannot be read: {error.strerror or error}")


def _reject_url(settings: Settings, problem: str) -> NoReturn:
    raise BadSetting(f"{variable('smtp_url')} is '{show_value(settings, 'smtp_url')}'; {problem}.") from None
