"""The outbox: list mails with their delivery state, and retry one."""

from functools import partial
from typing import Any

from gamekeeper.game.accounts import mails
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.writes import Decide
from gamekeeper.ground import log
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import codec
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import MANAGE, MOST_AT_ONCE, NO_STORE, READ, WRITE, Group
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

DUE = "The mail is due now."
NOT_SET_UP = "Mail is not set up on this server; the message waits in the outbox."

GROUP = Group("Mails", "The outbox: mails, their delivery state, and retries.")


@GROUP.operation(
    "GET /api/keeper/v1/mails",
    name="list_mails",
    permissions=MANAGE,
    access=READ,
    cache=NO_STORE,
    query=account_shapes.MailsQuery,
    answer=account_shapes.Mails,
    rows=MOST_AT_ONCE,
    refusals=(),
    example_answer=account_shapes.Mails([samples.MAIL], samples.MAIL_CURSOR),
)
async def list_mails(request: Request, query: account_shapes.MailsQuery) -> bytes:
    """List mails, newest first, with recipient and delivery state; never with their reset codes."""
    page = await mails.load_page(request.services.keeper.store, query.user or None, query.before, query.limit)
    told = [codec.make_mail(each, request.caller) for each in page.mails]
    return shapes.encode(account_shapes.Mails(told, str(MailCursor(*page.next)) if page.next else None))


@GROUP.operation(
    "POST /api/keeper/v1/mails/[mailId]/retry",
    name="retry_mail",
    permissions=MANAGE,
    access=WRITE,
    answer=account_shapes.Message,
    refusals=(no.NoSuchMail, no.MailNotRetriable),
    example_answer=account_shapes.Message(DUE),
)
async def retry(request: Request, mail_id: str) -> Response:
    """Retry a mail now."""
    decide = partial(mails.retry, mail_id=mail_id)
    return await change_and_warn(request, decide, DUE)


async def change_and_warn(request: Request, decide: Decide[Any], message: str) -> Response:
    """Make a change that queues a mail. Warn in the answer and in the log if no SMTP server is set."""
    warning = None if request.services.keeper.settings.smtp_url else NOT_SET_UP
    answer = shapes.encode(account_shapes.Message(message, warning))
    answered = await request.change(decide, lambda _: answer)
    if warning and not request.dry_run:
        log.problem(request.id, warning)
    return answered
