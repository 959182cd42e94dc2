"""The outbox: list mails with their delivery state, retry one, and send those that are due.

A sender leases a mail, delivers it to the SMTP server, and records the outcome.
"""

import asyncio
import contextlib
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from email.message import EmailMessage
from functools import partial
from typing import Any, NoReturn
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from msgspec import Struct

from gamekeeper.game.accounts import mails
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.background_jobs import Job, Run
from gamekeeper.game.core.writes import Decide
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import log
from gamekeeper.ground.instants import DAY_MS
from gamekeeper.ground.settings import BadSetting, Settings, show_value, variable
from gamekeeper.http.access.oidc_settings import is_loopback
from gamekeeper.http.accounts import account_shapes, mail_messages
from gamekeeper.http.accounts.mail_messages import BadAddress, MailFacts, join_lines
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import MANAGE, MOST_AT_ONCE, Group
from gamekeeper.http.contract.path_parameters import declare_id
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server.caller import Caller
from gamekeeper.http.server.metrics import GAUGE, MetricFamily, RoomMetrics, Sample, format_sample
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request, Services
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import invitations
from gamekeeper.store.accounts import mails as rows
from gamekeeper.store.accounts.mails import LeasedMail, OutboxMail
from gamekeeper.store.engine.interface import DatabaseUnavailable, Store, Writing

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


class SmtpServer(Struct, frozen=True):
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
    from aiosmtplib import SMTP  # noqa: PLC0415 - imported with the first mail, so that the server starts fast

    sender, recipient = (message[each].addresses[0] for each in ("From", "To"))
    client = SMTP(
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
    from aiosmtplib import SMTPRecipientsRefused, SMTPResponseException  # noqa: PLC0415 - imported with the first mail

    if isinstance(error, SMTPRecipientsRefused):
        first = error.recipients[0]
        return first.code, first.message
    if isinstance(error, SMTPResponseException):
        return error.code, error.message
    return None, str(error) or "timed out"


def _is_permanent(error: BaseException) -> bool:
    """Whether the recipient or the message was rejected with 5xx. A rejected log-in or sender is retried:
    the operator can correct the settings.
    """
    from aiosmtplib import SMTPDataError, SMTPRecipientsRefused  # noqa: PLC0415 - imported with the first mail

    while True:
        if isinstance(error, SMTPRecipientsRefused | SMTPDataError):
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
    default = "required" if url.username and not is_loopback(url.hostname or "") else "offered"
    return STARTTLS[options.get("starttls", default)]


def _load_context(settings: Settings, ca: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        _reject_url(settings, f"the certificates in {ca} cannot be read: {error.strerror or error}")


def _reject_url(settings: Settings, problem: str) -> NoReturn:
    raise BadSetting(f"{variable('smtp_url')} is '{show_value(settings, 'smtp_url')}'; {problem}.") from None


DUE = "The mail is due now."
NOT_SET_UP = "Mail is not set up on this server; the message waits in the outbox."

GROUP = Group("Mails", "The outbox: mails, their delivery state, and retries.", place=370, permissions=MANAGE)
GROUPS = (GROUP,)


declare_id("mailId", "The mail's id.", examples.MAIL_ID, "mail_id")


@GROUP.operation("GET /api/keeper/v1/mails", rows=MOST_AT_ONCE)
async def list_mails(request: Request, query: account_shapes.MailsQuery) -> account_shapes.Mails:
    """List mails, newest first, with recipient and delivery state; never with their reset codes."""
    page = await mails.load_page(request.services.keeper.store, query.user or None, query.before, query.limit)
    told = [_make_mail(each, request.caller) for each in page.mails]
    return account_shapes.Mails(told, str(MailCursor(*page.next)) if page.next else None)


@GROUP.operation(
    "POST /api/keeper/v1/mails/[mailId]/retry",
    answer=account_shapes.Message,
    refusals=(no.NoSuchMail, no.MailNotRetriable),
    example_answer=account_shapes.Message(DUE),
)
async def retry_mail(request: Request, mail_id: str) -> Response:
    """Retry a mail now."""
    decide = partial(mails.retry, mail_id=mail_id)
    return await change_and_warn(request, decide, DUE)


async def change_and_warn(request: Request, decide: Decide[Any], message: str) -> Response:
    """Make a change that queues a mail. Warn in the answer and in the log if no SMTP server is set."""
    warning = None if request.services.keeper.settings.smtp_url else NOT_SET_UP
    answered = await request.change(decide, lambda _: account_shapes.Message(message, warning))
    if warning and not request.dry_run:
        log.problem(request.id, warning)
    return answered


def _make_mail(each: OutboxMail, caller: Caller) -> account_shapes.Mail:
    """Convert a mail of the outbox to its wire shape. `Retriable` depends on the caller's token."""
    may = mails.can_retry(each) and not caller.read_only
    return make_record(account_shapes.Mail, each, User=each.name, Email=each.address, Retriable=may)


Lease = Callable[[Writing, int], Coroutine[Any, Any, LeasedMail | None]]
POLL_SECONDS = 1.0  # interval between two searches for due mails
# mails that one process sends at the same time, so that one slow delivery does not block the others
CONCURRENT_SENDERS = 4
# delay in ms after a mail's first, second … failed delivery; the last value repeats
BACKOFF_MS = (1_000, 5_000, 30_000, 120_000, 300_000)
RECORD_SECONDS = 30.0  # how long to retry recording a delivery's outcome while the database is unreachable
SHUTDOWN_SECONDS = 1.0  # time for a mail in delivery to finish at shutdown
# kind of a leased mail → the module of its table
OUTBOXES = {rows.RESET: rows, invitations.KIND: invitations}
STOPPED = MailFailure("The server was shut down during delivery.", "stopped")


def check(settings: Settings) -> None:
    """Raise BadSetting if the mail settings are invalid."""
    if settings.smtp_url:
        Sender(settings)


class Sender:
    def __init__(self, settings: Settings) -> None:
        self._templates = mail_messages.load_templates(settings)
        self._server = parse_server(settings)
        self._lease_ms = int(1000 * (self._server.total_timeout + 2 * RECORD_SECONDS))

    async def send_due(self, store: Store) -> None:
        """Send due mails one by one until no mail is due that is not leased by another sender."""
        for box in OUTBOXES.values():
            while await store.value(box.SQL.any_due) and await _finish_on_cancel(self._send_next(store, box.lease)):
                pass

    async def _send_next(self, store: Store, lease: Lease) -> bool:
        taken = await store.write(lambda tx: lease(tx, self._lease_ms))
        if taken is None:
            return False
        try:
            failed = await self.attempt(store, taken)
        except asyncio.CancelledError:
            await _record_outcome(store, taken, STOPPED, 0)
            raise
        await _record_outcome(store, taken, failed, RECORD_SECONDS)
        return True

    async def attempt(self, store: Store, taken: LeasedMail) -> MailFailure | None:
        try:
            message = self._build(taken)
            wanted = partial(store.value, OUTBOXES[taken.kind].SQL.is_wanted, taken.id)
            sent = await deliver(self._server, message, wanted, taken.left_ms / 1000)
        except BadAddress as bad:
            return PermanentMailFailure(str(bad), "invalid address")
        except MailFailure as failed:
            return failed
        except Exception as error:  # noqa: BLE001 - any error: the mail is retried; its text may contain personal data
            return MailFailure(f"{type(error).__name__}: {error}", type(error).__name__)
        return None if sent else MailFailure("The mail is no longer needed.", "no longer needed")

    def _build(self, taken: LeasedMail) -> EmailMessage:
        facts = MailFacts(taken.id, taken.name, taken.address, taken.code, taken.queued_at)
        is_invitation = taken.kind == invitations.KIND
        return self._templates.build_invitation(facts) if is_invitation else self._templates.build_reset(facts)


async def _finish_on_cancel(sending: Coroutine[Any, Any, bool]) -> bool:
    """At shutdown, give a mail in delivery SHUTDOWN_SECONDS to be sent and recorded, then cancel it."""
    under_way = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(under_way)
    except asyncio.CancelledError:
        await asyncio.wait({under_way}, timeout=SHUTDOWN_SECONDS)
        under_way.cancel()
        await asyncio.gather(under_way, return_exceptions=True)
        raise


async def _record_outcome(store: Store, taken: LeasedMail, failed: MailFailure | None, patience: float) -> None:
    """Record a delivery's outcome. Retry while the database is unreachable: an unrecorded mail would be sent twice."""
    give_up = time.monotonic() + patience
    while True:
        try:
            await store.write(partial(_write_outcome, taken=taken, failed=failed))
        except DatabaseUnavailable:
            if time.monotonic() >= give_up:
                raise
            await asyncio.sleep(POLL_SECONDS)
        else:
            break
    if failed:
        fate = "rejected permanently" if isinstance(failed, PermanentMailFailure) else "not sent"
        log.problem("mail", f"mail {taken.id} was {fate} on try {taken.tries}: {failed.brief}")


async def _write_outcome(tx: Writing, taken: LeasedMail, failed: MailFailure | None) -> None:
    sql = OUTBOXES[taken.kind].SQL
    if failed is None:
        tx.defer(sql.note_sent, taken.id)
        return
    said = failed.said.replace(taken.code, "…")  # mask the secret: an SMTP server may quote the mail in its reply
    if isinstance(failed, PermanentMailFailure):
        tx.defer(sql.note_refusal, taken.id, taken.taken_until, said)
    else:
        again_ms = BACKOFF_MS[min(taken.tries, len(BACKOFF_MS)) - 1]
        tx.defer(sql.note_failure, taken.id, taken.taken_until, again_ms, said)


def _start_sender(services: Services) -> Run | None:
    keeper = services.keeper
    return partial(Sender(keeper.settings).send_due, keeper.store) if keeper.settings.smtp_url else None


JOBS = (Job("mail", POLL_SECONDS, _start_sender),) * CONCURRENT_SENDERS


async def _count_mails(keeper: Keeper) -> Sequence[Sample]:
    waiting, failed = await rows.count_open(keeper.store, DAY_MS)
    states = {"waiting": waiting, "failed": failed}
    return [format_sample("gamekeeper_outbox", {"state": state}, count) for state, count in states.items()]


OUTBOX = MetricFamily(GAUGE, "Mails waiting to be sent, and failed permanently in the last day.")
METRICS = (RoomMetrics({"gamekeeper_outbox": OUTBOX}, _count_mails),)
