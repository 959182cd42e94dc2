"""The page of the mail outbox: queued, sent and failed mails with their errors, and a button to retry a mail."""

from collections.abc import Mapping

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import BeforeMark
from gamekeeper.console.frame.menu import MANAGE, SUPPORT
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.accounts import mails
from gamekeeper.game.accounts.mails import MailPage
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchUser
from gamekeeper.http.server import queries
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
    return pages.render(
        request,
        "accounts/mails.html",
        refused,
        mails=[(each, mails.can_retry(each)) for each in page.mails],
        words=WORDS(),
        sought=sought,
        set_up=bool(request.services.keeper.settings.smtp_url),
        **list_page.link_by_time(request, page.next),
    )


DIALOGS = (Dialog("retry_mail", "Send the mail to %(name)s again"),)
PAGES = (
    page_route("/mail", show, MANAGE)
    .in_menu("Mail", SUPPORT, 60, "mail")
    .with_help("Mails that wait, were sent or have failed, with the reason.", "mail"),
)
