"""The outbox: what waits, what was sent, what was not and why. Trying again is the command line's."""

from gamekeeper.console import lists, marks, pages
from gamekeeper.console.marks import Mark
from gamekeeper.http.request import Request
from gamekeeper.store import mails

LIMIT = 50


async def show(request: Request) -> bytes:
    mark = marks.read(request.query.get("before", ""))
    found = await mails.newest(request.keeper.store, mark, LIMIT + 1)
    shown = found[:LIMIT]
    following = Mark(shown[-1].queued_at, shown[-1].id) if len(found) > LIMIT else None
    return pages.render(
        request,
        "mail.html",
        mails=shown,
        set_up=bool(request.keeper.settings.smtp_url),
        newest=lists.address(request, before="") if "before" in request.query else "",
        older=lists.address(request, before=str(following)) if following else "",
    )
