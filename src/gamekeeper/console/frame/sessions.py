"""Sessions of the console: an HttpOnly cookie with the session's token, and a CSRF token in every form."""

import hashlib
import hmac
from urllib.parse import parse_qsl

from gamekeeper.console.frame.refusals import ForgedForm, SignInFirst
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.second_factors import UseFactor
from gamekeeper.game.access.tokens import FirstStep, Grant, TokenPair, begin_log_in, finish_log_in
from gamekeeper.game.core.refusals import Denied
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Header
from gamekeeper.store.access import tokens

PLAIN_COOKIE = "gamekeeper"
TLS_PREFIX = "__Host-"  # of the names of cookies over TLS: other subdomains cannot set such cookies
PATH = "/console"
SESSION = Grant(session=True)
FRESH_MS = 15 * 60_000  # largest age in ms of a session in which a way to sign in can be added
CSRF_FIELD = "csrf"
CSRF_HEADER = b"x-csrf"


async def sign_in(request: Request, name: str, password: str) -> Header | FirstStep:
    """Log in with a name and a plain-text password. The API's rate limits for log-ins apply.

    Return the cookie, or what is needed to finish the log-in if the account has a second factor.
    """
    begun = await begin_log_in(request.services.keeper, name, hash_for_wire(password), request.find_origin(), SESSION)
    return begun if isinstance(begun, FirstStep) else make_session_cookie(request, begun)


async def finish_sign_in(request: Request, step: FirstStep, use_factor: UseFactor) -> Header:
    """Check the second factor, and return the cookie."""
    pair = await finish_log_in(request.services.keeper, step, use_factor, request.find_origin(), SESSION)
    return make_session_cookie(request, pair)


def make_session_cookie(request: Request, pair: TokenPair) -> Header:
    seconds = request.services.keeper.settings.console_hours * 3600
    return make_cookie(request, PLAIN_COOKIE, pair.access, seconds)


def delete_cookie(request: Request) -> Header:
    return make_cookie(request, PLAIN_COOKIE, "", 0)


async def authenticate(request: Request, *, used: bool = True) -> None:
    """Set the request's caller from the session cookie. Without a valid session, raise SignInFirst."""
    try:
        caller = await request.services.callers.find_caller(make_authorization(request), request if used else None)
    except Denied:
        raise SignInFirst from None
    if not caller.is_session:  # a program's token in the cookie is rejected: it has no idle timeout
        raise SignInFirst
    request.caller = caller


async def is_fresh(request: Request) -> bool:
    """Tell whether the session began recently. A browser that was left open is not enough to add a way to sign in."""
    age = await request.services.keeper.store.value(tokens.SQL.age, request.caller.token_id)
    return age is not None and age <= FRESH_MS


def make_authorization(request: Request) -> bytes:
    """Return the session's token as a value of the Authorization header."""
    return b"Bearer " + _read_token(request).encode("latin-1", "replace")


def has_cookie(request: Request) -> bool:
    """Return whether the browser sent a session cookie. The session itself may have expired."""
    return bool(_read_token(request))


def make_csrf_token(request: Request) -> str:
    """Derive the CSRF token from the session cookie, which other sites cannot read. So it needs no storage."""
    return hmac.new(_read_token(request).encode(), b"console form", hashlib.sha256).hexdigest()


def parse_form(raw: bytes) -> dict[str, str]:
    """Parse the fields of a form, without a check of its CSRF token or origin."""
    return dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))


def verify_form(request: Request, raw: bytes) -> dict[str, str]:
    """Parse the fields of a form, and reject it if its CSRF token or its origin is wrong."""
    found = parse_form(raw)
    sent = found.get(CSRF_FIELD) or request.headers.get(CSRF_HEADER, b"").decode("latin-1")
    if not hmac.compare_digest(sent.encode(), make_csrf_token(request).encode()):
        raise ForgedForm
    require_same_origin(request)
    return found


def require_same_origin(request: Request) -> None:
    """Reject a form from another site. The sign-in form needs this check: it has no session, so no CSRF token."""
    if not _is_same_origin(request):
        raise ForgedForm


def _is_same_origin(request: Request) -> bool:
    """Return whether a form comes from the console's own site, by the header Sec-Fetch-Site.

    Older browsers send only Origin, which is compared with Host. A client that sends neither header is no browser.
    """
    site = request.headers.get(b"sec-fetch-site")
    if site is not None:
        return site in {b"same-origin", b"none"}
    origin = request.headers.get(b"origin")
    return origin is None or origin.partition(b"://")[2] == request.headers.get(b"host", b"")


def find_duplicate_cookie(request: Request) -> str:
    """Return the session cookie's name if the browser sent it more than once, else an empty text."""
    return _complete_name(request, PLAIN_COOKIE) if len(read_cookies(request, PLAIN_COOKIE)) > 1 else ""


def _read_token(request: Request) -> str:
    """Return the session's token; empty if there are several cookies, because one of them is from another program."""
    found = read_cookies(request, PLAIN_COOKIE)
    return found[0] if len(found) == 1 else ""


def read_cookies(request: Request, name: str) -> list[str]:
    """Return the values of all cookies with this name. Malformed cookies of other programs are ignored."""
    wanted = _complete_name(request, name)
    pairs = (each.strip().partition("=") for each in request.headers.get(b"cookie", b"").decode("latin-1").split(";"))
    return [value for each, _, value in pairs if each == wanted]


def _complete_name(request: Request, name: str) -> str:
    return TLS_PREFIX + name if request.over_tls else name


def make_cookie(request: Request, name: str, value: str, seconds: int) -> Header:
    name = _complete_name(request, name)
    # SameSite=Lax: links from other sites work, but browsers send forms of other sites without the cookie.
    where = "/; Secure" if request.over_tls else PATH  # browsers accept a __Host- cookie only with Path=/ and Secure
    return b"set-cookie", f"{name}={value}; Path={where}; Max-Age={seconds}; HttpOnly; SameSite=Lax".encode()
