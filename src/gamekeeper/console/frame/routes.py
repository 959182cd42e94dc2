"""Declarations of the console: pages and forms with their permissions, parts of pages, and confirmation dialogs.

Parts are shown on the pages of players and accounts, such as the timeline and the game's logs. A room registers its
routes in the tuple `PAGES` of a module, its parts in `PAGE_PARTS`, and the dialogs of its operations in `DIALOGS`.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import cache, wraps
from typing import Any, NamedTuple
from urllib.parse import urlencode

from msgspec.structs import replace

from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.menu import NO_PERMISSIONS, PageRoute
from gamekeeper.console.frame.refusals import FactorFirst, SignInFirst
from gamekeeper.console.frame.texts import use_language
from gamekeeper.game.access import api_keys
from gamekeeper.game.access.tokens import ACCESS_PREFIX
from gamekeeper.game.audit.timeline import Subjects
from gamekeeper.ground.rooms import collect
from gamekeeper.http.contract.operation import NO_STORE, NO_TOKEN, READ, REVALIDATED, WRITE, Access, Cache
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Reading

Handler = Callable[..., Coroutine[Any, Any, Response]]
ROOT = sessions.PATH
SET_UP = f"{ROOT}/me/second-factor"  # the page to set up a second factor
EXPLANATION = f"{ROOT}/search?pasted=address"  # the page about a secret that was in an address
SECRET_PREFIXES = (ACCESS_PREFIX, api_keys.PREFIX)
SIGN_OUT, OWN_PASSWORD = f"{ROOT}/sign-out", f"{ROOT}/me/password"
THIS_SESSION = ""  # what a sign-out ends, as a value of its form field `ends`
# reasons why a session ended: it expired before a page was requested, or before a form was sent; and a change of the
# password, or either that or the expiry
EXPIRED, EXPIRED_BEFORE_FORM = "lapsed", "unsent"
PASSWORD_CHANGED, PASSWORD_MAYBE_CHANGED = "password", "perhaps"


def open_route(
    method: str,
    path: str,
    access: Access,
    handler: Handler,
    *,
    body: type[bytes] | None = None,
    cache: Cache = NO_STORE,
) -> PageRoute:
    """Make a route that needs no session."""
    return PageRoute(
        method=method,
        path=ROOT + path,
        permissions=NO_TOKEN,
        access=access,
        handler=handler if cache is REVALIDATED else _in_language(handler),
        body=body,
        cache=cache,
    )


def page_route(
    path: str,
    show: Handler,
    needs: frozenset[str] = NO_PERMISSIONS,
    *,
    used: bool = True,
    before_set_up: bool = False,
) -> PageRoute:
    """Make the route of a page. It has no token check of the API: the console checks its session cookie itself.

    `used`: whether the request counts as use of the session, which delays its idle timeout. `before_set_up`: whether a
    session may open it before its account has set up the second factor that a role requires.
    """
    return PageRoute(
        method="GET",
        path=ROOT + path,
        permissions=NO_TOKEN,
        access=READ,
        handler=_in_language(_require_session(show, needs, used=used, before_set_up=before_set_up)),
        needs=needs,
    )


def form_route(
    path: str,
    act: Handler,
    needs: frozenset[str] = NO_PERMISSIONS,
    *,
    access: Access = WRITE,
    body_limit: int = 0,
    before_set_up: bool = False,
) -> PageRoute:
    """Make the route of a form, which needs a session as a page does."""
    page = page_route(path, act, needs, before_set_up=before_set_up)
    return replace(page, method="POST", access=access, body=bytes, body_limit=body_limit)


def _in_language(handler: Handler) -> Handler:
    """Wrap a handler so that its texts are in the language of the request."""

    @wraps(handler)
    async def handle_in_language(request: Request, *body: bytes) -> Response:
        use_language(request)
        return await handler(request, *body)

    return handle_in_language


def _require_session(
    handler: Handler, needs: frozenset[str], *, used: bool = True, before_set_up: bool = False
) -> Handler:
    """Wrap a handler so that it requires a session and these permissions."""

    @wraps(handler)
    async def handle_with_session(request: Request, *body: bytes) -> Response:
        try:
            await sessions.authenticate(request, used=used and pages.UPDATE not in request.headers)
        except SignInFirst:
            if pages.wants_json(request):
                raise
            if pages.wants_stream(request):  # status 204 ends an event stream; the browser does not reconnect
                return Response(status=pages.NO_CONTENT)
            return _redirect_to_sign_in(request)
        if request.caller.unmet_role and not before_set_up:
            return _redirect_to_set_up(request)
        request.caller.require(needs)
        # a refresh token looks like an id: only the database knows it
        if request.method == "GET" and any(text.strip().startswith(SECRET_PREFIXES) for text in request.query.values()):
            return pages.redirect(EXPLANATION)  # takes it out of the address
        return await handler(request, *body)

    return handle_with_session


def _redirect_to_sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, which leads back to the current page afterwards."""
    ended = _find_end_reason(request)
    query = {"next": pages.find_current_path(request)} | ({"ended": ended} if ended else {})
    return pages.redirect(f"{pages.SIGN_IN}?{urlencode(query)}")


def _find_end_reason(request: Request) -> str:
    """Return why the session ended, for a notice. A form that was not processed gets a warning, except a sign-out."""
    if request.method == "GET":
        return EXPIRED if sessions.has_cookie(request) else ""
    # perhaps the form was sent twice: the first one changed the password, which ended the session
    if request.route.path == OWN_PASSWORD:
        return PASSWORD_MAYBE_CHANGED
    ends = sessions.parse_form(request.raw_body).get("ends", THIS_SESSION)
    return EXPIRED if request.route.path == SIGN_OUT and ends == THIS_SESSION else EXPIRED_BEFORE_FORM


def _redirect_to_set_up(request: Request) -> Response:
    """Lead an account that must set up a second factor to the page for it; scripts get a refusal."""
    if pages.wants_stream(request):  # status 204 ends an event stream; the browser does not reconnect
        return Response(status=pages.NO_CONTENT)
    if pages.wants_json(request):
        raise FactorFirst(role=request.caller.unmet_role)
    return pages.redirect(SET_UP)


class ShownSubject(NamedTuple):
    """The player or account of a page."""

    subjects: Subjects
    has_history: bool = True  # whether the page shows what happened to it, or only the other parts
    is_past: bool = False
    deletion: HistoryChange | None = None  # of a deleted player
    address: str = ""
    query: Mapping[str, str] = {}  # what links to the same page repeat


class PagePart(NamedTuple):
    name: str  # of its value in the template
    load: Callable[[Reading, Request, ShownSubject], Awaitable[object]] | None = None  # in the snapshot of the page
    show: Callable[[Request, ShownSubject, Any], Awaitable[object]] | None = None  # after it, from what was loaded
    is_history: bool = False


@cache
def _list_parts() -> list[PagePart]:
    return collect("console", "PAGE_PARTS")


async def load_parts(tx: Reading, request: Request, subject: ShownSubject) -> dict[str, object]:
    return {
        each.name: await each.load(tx, request, subject) if each.load else None
        for each in _list_parts()
        if subject.has_history or not each.is_history
    }


async def show_parts(request: Request, subject: ShownSubject, loaded: Mapping[str, object]) -> dict[str, object]:
    return {
        each.name: await each.show(request, subject, loaded[each.name]) if each.show else loaded[each.name]
        for each in _list_parts()
        if each.name in loaded
    }


class Dialog(NamedTuple):
    """Texts of the confirmation dialog of an operation, in English, with placeholders for the names and values in it.

    An operation has several if its texts depend on a field of the body: the first that fits is shown.
    """

    operation: str
    title: str = ""
    button: str = ""  # empty: the same as the title
    told: bool = False  # whether the player is shown the reason of the operation
    secured: bool = False  # whether the security log records the operation, and not the audit log
    # shown only if the body has this field with this value; the name is in lower case
    sent: tuple[str, object] | None = None
