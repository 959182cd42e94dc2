"""Sign in with OpenID Connect: the redirect to the provider. `oidc_callback.py` handles what comes back.

The state of a sign-in is in a cookie, encrypted with the key file. So it is bound to the browser, and the callback can
reach another instance.
"""

from gamekeeper.console import pages, sessions
from gamekeeper.console.refusals import NoSuchPage
from gamekeeper.console.server_texts import describe_refusal
from gamekeeper.console.state import get_state
from gamekeeper.game import tickets
from gamekeeper.game.refusals import Refusal
from gamekeeper.http.request import Request
from gamekeeper.http.response import Header, Response
from gamekeeper.oidc.provider import Provider, make_authorization_request

PLAIN_COOKIE, TLS_COOKIE = "gamekeeper-oidc", "__Host-gamekeeper-oidc"
MOST_NEXT = 1500  # characters of the next page's path; browsers refuse cookies over 4096 bytes, and it is in one


async def start(request: Request) -> Response:
    """Redirect to the provider to sign in. A browser that has a session signs in again, so the provider must ask."""
    find_provider(request)
    asked = request.query.get("next", "")
    to = pages.keep_console_path(asked if len(asked) <= MOST_NEXT else "")
    try:
        return await redirect_to_provider(request, "", to, again=sessions.has_cookie(request))
    except Refusal as refusal:
        return render_sign_in(request, refusal, to)


async def redirect_to_provider(request: Request, user_id: str, to: str, *, again: bool = False) -> Response:
    """Start a sign-in at the provider. `user_id`: the account to link it to; empty: none. `to`: the next page.

    `again`: the provider must ask the person to sign in, even if it has a session.
    """
    provider, keeper = find_provider(request), request.services.keeper
    ticket, sealed = await tickets.make(keeper, tickets.OIDC_SIGN_IN, user_id, to)
    address = await provider.make_address(make_authorization_request(ticket), again=again)
    return pages.redirect(address, _make_cookie(request, sealed, tickets.LIFE_MINUTES * 60))


def find_provider(request: Request) -> Provider:
    found = get_state(request).provider
    if found is None:
        raise NoSuchPage
    return found


def render_sign_in(request: Request, refusal: Refusal, to: str) -> Response:
    page = pages.render_sign_in(request, "sign_in.html", to, name="", notices=[(describe_refusal(refusal), "bad")])
    return pages.with_refusal(page, refusal)


def read_cookie(request: Request) -> str:
    """Return the encrypted state of this browser's sign-in; empty: there is none."""
    found = sessions.read_cookies(request, _choose_cookie_name(request))
    return found[0] if len(found) == 1 else ""


def delete_cookie(request: Request) -> Header:
    return _make_cookie(request, "", 0)


def _choose_cookie_name(request: Request) -> str:
    return TLS_COOKIE if request.over_tls else PLAIN_COOKIE


def _make_cookie(request: Request, value: str, seconds: int) -> Header:
    return sessions.make_cookie(request, _choose_cookie_name(request), value, seconds)
