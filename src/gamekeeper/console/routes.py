"""THE TABLE of the console: one row per page and form, and who may see or send it."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from gamekeeper.console import (
    account,
    accounts,
    actions,
    bulk,
    catalogue,
    changes,
    characters,
    entrance,
    events,
    explorer,
    health,
    mail,
    online,
    overview,
    pages,
    password,
    player,
    ranking,
    search,
    sessions,
    suggestions,
    tokens,
)
from gamekeeper.console.menu import ANYBODY, MANAGE, QUERY
from gamekeeper.console.refusals import NoSuchPage, SignInFirst
from gamekeeper.http.request import Request
from gamekeeper.http.routes import CHECKED, NEVER, NOBODY, READ, WRITE, Route

Handler = Callable[..., Coroutine[Any, Any, bytes]]
ROOT = sessions.PATH


def page(path: str, show: Handler, needs: frozenset[str] = ANYBODY) -> Route:
    return Route(None, "GET", ROOT + path, NOBODY, READ, NEVER, _entered(show, needs), None, "text/html")


def form(path: str, act: Handler, needs: frozenset[str] = ANYBODY) -> Route:
    return Route(None, "POST", ROOT + path, NOBODY, WRITE, NEVER, _entered(act, needs), bytes, "text/html")


def _entered(handler: Handler, needs: frozenset[str], *, used: bool = True) -> Handler:
    """For those who are signed in and may."""

    @wraps(handler)
    async def entered(request: Request, *body: bytes) -> bytes:
        try:
            await sessions.enter(request, used=used)
        except SignInFirst:
            if pages.wants_json(request):
                raise
            if pages.wants_stream(request):  # a browser would complain of a page; of nothing it takes that it is over
                request.status = pages.NOTHING
                return b""
            return entrance.to_sign_in(request)
        request.caller.require(needs)
        return await handler(request, *body)

    return entered


async def file(request: Request) -> bytes:
    """A style sheet or a script."""
    name = request.params[0]
    if name not in pages.FILES:
        raise NoSuchPage
    request.content_type = f"{pages.KINDS['.' + name.rpartition('.')[2]]}; charset=utf-8".encode()
    request.policy = pages.POLICY
    return pages.FILES[name]


async def start(request: Request) -> bytes:
    """The address of the server alone leads people to the console."""
    return pages.redirect(request, ROOT)


FOLLOWED = _entered(events.follow, ANYBODY, used=False)  # watching is no use of a session

# fmt: off - one row is one line, so that the table can be read as one
PAGES: tuple[Route, ...] = (
    Route(None, "GET", "/", NOBODY, READ, NEVER, start, None, "text/html"),
    Route(None, "GET", f"{ROOT}/sign-in", NOBODY, READ, NEVER, entrance.show, None, "text/html"),
    Route(None, "POST", f"{ROOT}/sign-in", NOBODY, WRITE, NEVER, entrance.sign_in, bytes, "text/html"),
    Route(None, "GET", f"{ROOT}/static/[file]", NOBODY, READ, CHECKED, file, None, "text/*"),
    Route(None, "GET", f"{ROOT}/events", NOBODY, READ, NEVER, FOLLOWED, None, "text/event-stream"),
    page("", overview.show),
    page("/health", health.show),
    form("/health/examine", health.examine, MANAGE),
    page("/sign-out", entrance.ask),
    form("/sign-out", entrance.sign_out),
    form("/act", actions.act),
    page("/done/[requestId]", actions.done),
    page("/players/[lookupKey]", player.show),
    page("/suggest/[kind]", suggestions.show),
    page("/changes", changes.show),
    page("/changes/file", changes.file),
    page("/changes/[seq]", changes.one),
    page("/search", search.show),
    page("/suggest", search.suggest),
    page("/characters", characters.show),
    page("/ranking", ranking.show),
    page("/online", online.show),
    page("/accounts", accounts.show, QUERY),
    page("/catalogue", catalogue.show),
    page("/bulk", bulk.show),
    page("/bulk/given", bulk.given),
    page("/bulk/done", bulk.done),
    page("/me", account.me),
    page("/me/password", password.show),
    form("/me/password", password.change),
    page("/accounts/[lookupKey]", account.show, QUERY),
    page("/tokens", tokens.show, MANAGE),
    page("/mail", mail.show, MANAGE),
    page("/explorer", explorer.show),
    form("/explorer/run", explorer.run),
)
# fmt: on
