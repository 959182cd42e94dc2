"""The callback of a sign-in with OpenID Connect: check what the provider sent, then sign in or link the identity."""

import hmac

from gamekeeper.console import linked_sign_ins, oidc, pages, second_step, sessions
from gamekeeper.console.refusals import SignInFirst
from gamekeeper.game import identities, tickets
from gamekeeper.game.changes import Intent
from gamekeeper.game.identities import ProvenIdentity
from gamekeeper.game.identity_refusals import ProviderUnreachable, SignInNotStarted
from gamekeeper.game.own_factor_refusals import TicketExpired
from gamekeeper.game.refusals import Denied, Refusal
from gamekeeper.game.tickets import Ticket
from gamekeeper.game.tokens import FirstStep
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.oidc.provider import Provider, make_authorization_request


async def finish(request: Request) -> Response:
    provider = oidc.find_provider(request)
    ticket = None
    try:
        ticket = await _read_ticket(request)
        proven = await _prove(request, provider, ticket)
        answer = await (_link if ticket.user_id else _sign_in)(request, ticket, proven)
    except Refusal as refusal:
        if not isinstance(refusal, ProviderUnreachable):  # an outage is no attack
            request.services.keeper.failed_guesses.add("oidc_refused", None, None, request.address)
        answer = await _render_refusal(request, ticket, refusal)
    return pages.add_headers(answer, oidc.delete_cookie(request))


async def _read_ticket(request: Request) -> Ticket:
    """Read the ticket of this browser's sign-in. The state in the callback's address must be the ticket's."""
    keeper = request.services.keeper
    console = keeper.settings.public_url.rstrip("/") + sessions.PATH
    refusal = SignInNotStarted(minutes=tickets.LIFE_MINUTES, console=console)
    try:
        ticket = await tickets.read(keeper, tickets.OIDC_SIGN_IN, oidc.read_cookie(request))
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
        return await second_step.show(request, opened, ticket.value)
    return pages.redirect(ticket.value, sessions.make_session_cookie(request, opened))


async def _link(request: Request, ticket: Ticket, proven: ProvenIdentity) -> Response:
    """Link the identity to the account whose session started this, if that session is still open."""
    await sessions.authenticate(request)
    if request.caller.account_id != ticket.user_id or request.caller.unmet_role:
        raise SignInFirst
    return await linked_sign_ins.add(request, proven, ticket.made_at)


async def _render_refusal(request: Request, ticket: Ticket | None, refusal: Refusal) -> Response:
    if ticket and ticket.user_id and not isinstance(refusal, Denied):
        await sessions.authenticate(request)
        return await linked_sign_ins.render(request, refusal)
    return oidc.render_sign_in(request, refusal, ticket.value if ticket else sessions.PATH)
