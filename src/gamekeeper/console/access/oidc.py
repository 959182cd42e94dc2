"""Sign in with OpenID Connect, and the page of the caller's own linked sign-ins: link one, remove one.

`start` redirects to the provider; `finish` checks what the provider sent back, then signs in or links the identity. The
state of a sign-in is in a cookie, encrypted with the key file. So it is bound to the browser, and the callback can
reach another instance.
"""

import hmac
from functools import partial

from gamekeeper.console.access import sign_in
from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.refusals import SessionTooOld, SignInFirst
from gamekeeper.console.frame.routes import form_route, open_route, page_route
from gamekeeper.game.access import credentials, identities
from gamekeeper.game.access.console_refusals import ProviderUnreachable, SignInNotStarted, TicketExpired
from gamekeeper.game.access.credentials import Ticket
from gamekeeper.game.access.identities import ProvenIdentity
from gamekeeper.game.access.permissions import is_removable_identity
from gamekeeper.game.access.tokens import FirstStep
from gamekeeper.game.core.refusals import Denied, Refusal
from gamekeeper.game.core.writes import Intent
from gamekeeper.http.access import oidc_settings
from gamekeeper.http.access.oidc_provider import Provider, make_authorization_request
from gamekeeper.http.contract.operation import READ, WRITE
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import credentials as rows

COOKIE = "gamekeeper-oidc"
MOST_NEXT = 1500  # characters of the next page's path; browsers refuse cookies over 4096 bytes, and it is in one


async def start(request: Request) -> Response:
    """Redirect to the provider to sign in. A browser that has a session signs in again, so the provider must ask."""
    find_provider(request)
    asked = request.query.get("next", "")
    to = pages.keep_console_path(asked if len(asked) <= MOST_NEXT else "")
    try:
        return await redirect_to_provider(request, "", to, again=sessions.has_cookie(request))
    except Refusal as refusal:
        return sign_in.refuse(request, refusal, to)


async def redirect_to_provider(request: Request, user_id: str, to: str, *, again: bool = False) -> Response:
    """Start a sign-in at the provider. `user_id`: the account to link it to; empty: none. `to`: the next page.

    `again`: the provider must ask the person to sign in, even if it has a session.
    """
    provider, keeper = find_provider(request), request.services.keeper
    ticket, sealed = await credentials.make_ticket(keeper, credentials.OIDC_SIGN_IN, user_id, to)
    address = await provider.make_address(make_authorization_request(ticket), again=again)
    return pages.redirect(address, sessions.make_cookie(request, COOKIE, sealed, credentials.LIFE_MINUTES * 60))


def find_provider(request: Request) -> Provider:
    return pages.get_shared(request, Provider)


PATH = "/me/sign-ins"
HOME = sessions.PATH + PATH


async def start_linking(request: Request) -> Response:
    """Redirect to the provider, to link an identity there.

    This is a link and not a form, because browsers forbid a form of the console to lead to another site. The ticket in
    it stands in for the CSRF token: other sites cannot make one for this account.
    """
    ticket = await credentials.read_ticket(
        request.services.keeper, credentials.OIDC_LINK, request.query.get("ticket", "")
    )
    if ticket.user_id != request.caller.account_id or not await sessions.is_fresh(request):
        raise SessionTooOld
    try:
        return await redirect_to_provider(request, ticket.user_id, HOME)
    except Refusal as refusal:
        return await render_linked(request, refusal)


async def remove_identity(request: Request, raw: bytes) -> Response:
    sessions.verify_form(request, raw)
    me, identity, settings = request.caller.account_id, request.params[0], request.services.keeper.settings
    await request.change(partial(identities.remove, user_id=me, identity_id=identity, settings=settings), lambda _: b"")
    return pages.redirect(HOME)


async def render_linked(request: Request, refusal: Refusal | None = None) -> Response:
    find_provider(request)
    keeper, me = request.services.keeper, request.caller.account_id
    held = await rows.read_identities(keeper.store, me)
    _, sealed = await credentials.make_ticket(keeper, credentials.OIDC_LINK, me)
    return pages.render(
        request,
        "access/linked_sign_ins.html",
        refusal,
        identities=held,
        removable={each.id for each in held if is_removable_identity(each, keeper.settings)},
        ticket=sealed,
        fresh=await sessions.is_fresh(request),
    )


async def finish(request: Request) -> Response:
    provider = find_provider(request)
    ticket = None
    try:
        ticket = await _read_ticket(request)
        proven = await _prove(request, provider, ticket)
        answer = await (_link if ticket.user_id else _sign_in)(request, ticket, proven)
    except Refusal as refusal:
        if not isinstance(refusal, ProviderUnreachable):  # an outage is no attack
            request.services.keeper.failed_guesses.add("oidc_refused", None, None, request.address)
        answer = await _render_refusal(request, ticket, refusal)
    return pages.add_headers(answer, sessions.make_cookie(request, COOKIE, "", 0))


async def _read_ticket(request: Request) -> Ticket:
    """Read the ticket of this browser's sign-in. The state in the callback's address must be the ticket's."""
    keeper = request.services.keeper
    console = keeper.settings.public_url.rstrip("/") + sessions.PATH
    refusal = SignInNotStarted(minutes=credentials.LIFE_MINUTES, console=console)
    try:
        sealed = sessions.read_cookies(request, COOKIE)
        ticket = await credentials.read_ticket(keeper, credentials.OIDC_SIGN_IN, sealed[0] if len(sealed) == 1 else "")
    except TicketExpired:
        raise refusal from None
    if not hmac.compare_digest(
        make_authorization_request(ticket).state.encode(), request.query.get("state", "").encode()
    ):
        raise refusal
    return ticket


async def _prove(request: Request, provider: Provider, ticket: Ticket) -> ProvenIdentity:
    """Let the provider prove who signed in. Its errors, such as access_denied, come in the address."""
    sent, issuer = request.query, provider.configuration.issuer
    if error := sent.get("error") or ("" if sent.get("code") else "missing_code"):
        raise provider.refuse(error)
    if sent.get("iss", issuer) != issuer:  # RFC 9207: the answer of another provider
        raise provider.refuse("wrong_issuer")
    return await provider.prove(make_authorization_request(ticket), sent["code"])


async def _sign_in(request: Request, ticket: Ticket, proven: ProvenIdentity) -> Response:
    intent = Intent(request.id, find_origin=request.find_origin)
    opened = await identities.sign_in(request.services.keeper, proven, ticket.made_at, intent)
    request.services.callers.clear_cache()  # the roles may have changed
    if isinstance(opened, FirstStep):
        return await sign_in.show_second_step(request, opened, ticket.value)
    return pages.redirect(ticket.value, sessions.make_session_cookie(request, opened))


async def _link(request: Request, ticket: Ticket, proven: ProvenIdentity) -> Response:
    """Link the identity to the account whose session started this, if that session is still open."""
    await sessions.authenticate(request)
    if request.caller.account_id != ticket.user_id or request.caller.unmet_role:
        raise SignInFirst
    decide = partial(identities.link, user_id=ticket.user_id, proven=proven, started_at=ticket.made_at)
    await request.change(decide, lambda _: b"")
    return pages.redirect(HOME)


async def _render_refusal(request: Request, ticket: Ticket | None, refusal: Refusal) -> Response:
    if ticket and ticket.user_id and not isinstance(refusal, Denied):
        await sessions.authenticate(request)
        return await render_linked(request, refusal)
    return sign_in.refuse(request, refusal, ticket.value if ticket else sessions.PATH)


PAGES = (
    open_route("GET", "/sign-in/oidc", READ, start),
    open_route("GET", oidc_settings.CALLBACK.removeprefix(sessions.PATH), WRITE, finish),
    page_route(PATH, render_linked),
    page_route(f"{PATH}/link", start_linking),
    form_route(f"{PATH}/[identityId]/remove", remove_identity),
)
