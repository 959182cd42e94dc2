"""The page of the mail outbox: queued, sent and failed mails with their errors, and a button to retry a mail."""

from collections.abc import Mapping

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import BeforeMark
from gamekeeper.console.frame.texts import PerLanguage, describe_refusal, gettext
from gamekeeper.game.accounts import mails
from gamekeeper.game.accounts.mails import MailPage
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchUser
from gamekeeper.http.server import queries
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

MAILS_PER_PAGE = 50
WORDS = PerLanguage[Mapping[str, str]](  # states and kinds of mails
    lambda: {
        "queued": gettext("queued"),
        "sending": gettext("sending"),
        "sent": gettext("sent"),
        "failed": gettext("failed"),
        "expired": gettext("expired"),
        "password_reset": gettext("password reset"),
    }
)


async def show(request: Request) -> Response:
    sought, refused, page = request.query.get("account", "").strip(), None, MailPage([], None)
    try:
        whose = await lookup.find_user(request.services.keeper.store, sought) if sought else None
        mark = queries.decode(BeforeMark, request.query).before
        page = await mails.load_page(request.services.keeper.store, whose.id if whose else None, mark, MAILS_PER_PAGE)
    except NoSuchUser as refusal:
        refused = refusal
    shown = pages.render(
        request,
        "accounts/mails.html",
        mails=[(each, mails.can_retry(each)) for each in page.mails],
        words=WORDS(),
        sought=sought,
        problem=describe_refusal(refused) if refused else "",
        set_up=bool(request.services.keeper.settings.smtp_url),
        newest=list_page.build_url(request, before="") if "before" in request.query else "",
        older=list_page.build_url(request, before=str(MailCursor(*page.next))) if page.next else "",
    )
    return pages.with_refusal(shown, refused)
