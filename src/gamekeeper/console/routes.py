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
from gamekeeper.http.operation import NO_STORE, NO_TOKEN, READ, REVALIDATED, WRITE, Access, Cache, Route
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

Handler = Callable[..., Coroutine[Any, Any, Response]]
ROOT = sessions.PATH


def _route(
    method: str,
    path: str,
    access: Access,
    handler: Handler,
    *,
    body: type[bytes] | None = None,
    cache: Cache = NO_STORE,
) -> Route:
    """The console signs people in by itself: none of its routes needs a token."""
    return Route(method=method, path=path, permissions=NO_TOKEN, access=access, handler=handler, body=body, cache=cache)


def page(path: str, show: Handler, needs: frozenset[str] = ANYBODY) -> Route:
    return _route("GET", ROOT + path, READ, _entered(show, needs))


def form(path: str, act: Handler, needs: frozenset[str] = ANYBODY) -> Route:
    return _route("POST", ROOT + path, WRITE, _entered(act, needs), body=bytes)


def _entered(handler: Handler, needs: frozenset[str], *, used: bool = True) -> Handler:
    """For those who are signed in and may."""

    @wraps(handler)
    async def entered(request: Request, *body: bytes) -> Response:
        try:
            await sessions.enter(request, used=used)
        except SignInFirst:
            if pages.wants_json(request):
                raise
            if pages.wants_stream(request):  # a browser would complain of a page; of nothing it takes that it is over
                return Response(status=pages.NOTHING)
            return entrance.to_sign_in(request)
        request.caller.require(needs)
        return await handler(request, *body)

    return entered


async def file(request: Request) -> Response:
    """A style sheet or a script."""
    name = request.params[0]
    if name not in pages.FILES:
        raise NoSuchPage
    kind = f"{pages.KINDS['.' + name.rpartition('.')[2]]}; charset=utf-8".encode()
    return Response(pages.FILES[name], content_type=kind, policy=pages.POLICY)


async def start(_: Request) -> Response:
    """The address of the server alone leads people to the console."""
    return pages.redirect(ROOT)


FOLLOWED = _entered(events.follow, ANYBODY, used=False)  # watching is no use of a session

# fmt: off - one row is one line, so that the table can be read as one
PAGES: tuple[Route, ...] = (
    _route("GET", "/", READ, start),
    _route("GET", f"{ROOT}/sign-in", READ, entrance.show),
    _route("POST", f"{ROOT}/sign-in", WRITE, entrance.sign_in, body=bytes),
    _route("GET", f"{ROOT}/static/[file]", READ, file, cache=REVALIDATED),
    _route("GET", f"{ROOT}/events", READ, FOLLOWED),
    page("", overview.show),
    page("/health", health.show),
    form("/health/examine", health.examine, MANAGE),
    page("/sign-out", entrance.ask),
    form("/sign-out", entrance.sign_out),
    form("/act", actions.act),
    page("/done/[requestId]", actions.show_done),
    page("/players/[lookupKey]", player.show),
    page("/suggest/[kind]", suggestions.show),
    page("/changes", changes.show),
    page("/changes/file", changes.export),
    page("/changes/[seq]", changes.show_change),
    page("/search", search.show),
    page("/suggest", search.suggest),
    page("/characters", characters.show),
    page("/ranking", ranking.show),
    page("/online", online.show),
    page("/accounts", accounts.show, QUERY),
    page("/catalogue", catalogue.show),
    page("/bulk", bulk.show),
    page("/bulk/given", bulk.find_change),
    page("/bulk/done", bulk.list_run),
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
