"""Who is signed in: a cookie that only the browser sees, and a token in every form that only our own pages have."""

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl

from gamekeeper.console.refusals import ForgedForm, SignInFirst
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import Denied
from gamekeeper.game.tokens import log_in
from gamekeeper.http.request import Request
from gamekeeper.http.response import Header

PLAIN_COOKIE, TLS_COOKIE = "gamekeeper", "__Host-gamekeeper"  # what begins so is taken from this very host alone
PATH = "/console"
CSRF_FIELD = "csrf"
CSRF_HEADER = b"x-csrf"


async def sign_in(request: Request, name: str, password: str) -> Header:
    """Log in with what people type, and return the cookie; the same limits on guesses as everywhere."""
    pair = await log_in(request.services.keeper, name, hash_for_wire(password), request.address, session=True)
    return _make_cookie(request, pair.access, request.services.keeper.settings.console_hours * 3600)


def delete_cookie(request: Request) -> Header:
    return _make_cookie(request, "", 0)


async def authenticate(request: Request, *, used: bool = True) -> None:
    """The caller by the cookie; who is not signed in is sent to sign in."""
    try:
        caller = await request.services.callers.find_caller(make_authorization(request), used=used)
    except Denied:
        raise SignInFirst from None
    if not caller.is_session:  # a program's token, which does not end by rest
        raise SignInFirst
    request.caller = caller


def make_authorization(request: Request) -> bytes:
    """The cookie as a program would send it."""
    return b"Bearer " + _read_token(request).encode("latin-1", "replace")


def has_cookie(request: Request) -> bool:
    """The browser has a session's cookie, of one that may be over."""
    return bool(_read_token(request))


def make_csrf_token(request: Request) -> str:
    """Made of the cookie, which no other page can read: nothing to keep, and another for every session."""
    return hmac.new(_read_token(request).encode(), b"console form", hashlib.sha256).hexdigest()


def parse_form(raw: bytes) -> dict[str, str]:
    """What came with a form."""
    return dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))


def verify_form(request: Request, raw: bytes) -> dict[str, str]:
    """The same, from a page of ours, sent by a browser that shows it."""
    found = parse_form(raw)
    _require_csrf_token(request, found)
    require_same_origin(request)
    return found


def _require_csrf_token(request: Request, fields: Mapping[str, str]) -> None:
    sent = fields.get(CSRF_FIELD) or request.headers.get(CSRF_HEADER, b"").decode("latin-1")
    if not hmac.compare_digest(sent.encode(), make_csrf_token(request).encode()):
        raise ForgedForm


def require_same_origin(request: Request) -> None:
    """Alone only for the one form that is sent before there is a session."""
    if not _is_same_origin(request):
        raise ForgedForm


def _is_same_origin(request: Request) -> bool:
    """Browsers say where a form was; who says nothing is none, and has the token.

    Older ones say only the origin, which is held against a host that a proxy may have rewritten.
    """
    site = request.headers.get(b"sec-fetch-site")
    if site is not None:
        return site in {b"same-origin", b"none"}
    origin = request.headers.get(b"origin")
    return origin is None or origin.partition(b"://")[2] == request.headers.get(b"host", b"")


def find_duplicate_cookie(request: Request) -> str:
    """The cookie's name, when there are several of it."""
    return _cookie_name(request) if len(_read_tokens(request)) > 1 else ""


def _read_token(request: Request) -> str:
    """Of two one is not ours, and nobody can tell which."""
    found = _read_tokens(request)
    return found[0] if len(found) == 1 else ""


def _read_tokens(request: Request) -> list[str]:
    """Whatever else is among the cookies: other programs of this host may set odd ones."""
    pairs = (each.strip().partition("=") for each in request.headers.get(b"cookie", b"").decode("latin-1").split(";"))
    return [value for name, _, value in pairs if name == _cookie_name(request)]


def _cookie_name(request: Request) -> str:
    return TLS_COOKIE if request.over_tls else PLAIN_COOKIE


def _make_cookie(request: Request, value: str, seconds: int) -> Header:
    # Lax: a link from a chat or a ticket opens the page; forms of other sites still come without the cookie
    where = "/; Secure" if request.over_tls else PATH  # as browsers want it of one that is called so
    line = f"{_cookie_name(request)}={value}; Path={where}; Max-Age={seconds}; HttpOnly; SameSite=Lax"
    return b"set-cookie", line.encode()
