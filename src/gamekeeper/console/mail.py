"""The page of the mail outbox: queued, sent and failed mails with their errors, and a button to retry a mail."""

from collections.abc import Mapping

from gamekeeper.console import lists, pages
from gamekeeper.console.queries import BeforeMark
from gamekeeper.console.server_texts import describe_refusal
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game import lookup, mails
from gamekeeper.game.mails import MailPage
from gamekeeper.game.refusals import NoSuchUser
from gamekeeper.http import queries
from gamekeeper.http.mail_cursor import MailCursor
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

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
        "mail.html",
        mails=[(each, mails.can_retry(each)) for each in page.mails],
        words=WORDS(),
        sought=sought,
        problem=describe_refusal(refused) if refused else "",
        set_up=bool(request.services.keeper.settings.smtp_url),
        newest=lists.build_url(request, before="") if "before" in request.query else "",
        older=lists.build_url(request, before=str(MailCursor(*page.next))) if page.next else "",
    )
    return pages.with_refusal(shown, refused)
