"""The page of the caller's own sign-ins with OpenID Connect: link one to the account, remove one."""

from functools import partial

from gamekeeper.console import oidc, pages, sessions
from gamekeeper.console.refusals import SessionTooOld
from gamekeeper.console.server_texts import describe_refusal
from gamekeeper.game import identities, tickets
from gamekeeper.game.identities import ProvenIdentity
from gamekeeper.game.refusals import Refusal
from gamekeeper.game.role_mapping import is_removable
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import identities as rows

PATH = "/me/sign-ins"
HOME = sessions.PATH + PATH


async def show(request: Request) -> Response:
    return await render(request)


async def start(request: Request) -> Response:
    """Redirect to the provider, to link an identity there.

    This is a link and not a form, because browsers forbid a form of the console to lead to another site. The ticket in
    it stands in for the CSRF token: other sites cannot make one for this account.
    """
    ticket = await tickets.read(request.services.keeper, tickets.OIDC_LINK, request.query.get("ticket", ""))
    if ticket.user_id != request.caller.account_id or not await sessions.is_fresh(request):
        raise SessionTooOld
    try:
        return await oidc.redirect_to_provider(request, ticket.user_id, HOME)
    except Refusal as refusal:
        return await render(request, refusal)


async def add(request: Request, proven: ProvenIdentity, started_at: int) -> Response:
    """Link an identity that the provider has just proven."""
    me = request.caller.account_id
    await request.change(partial(identities.link, user_id=me, proven=proven, started_at=started_at), lambda _: b"")
    return pages.redirect(HOME)


async def remove(request: Request, raw: bytes) -> Response:
    sessions.verify_form(request, raw)
    me, identity, settings = request.caller.account_id, request.params[0], request.services.keeper.settings
    await request.change(partial(identities.remove, user_id=me, identity_id=identity, settings=settings), lambda _: b"")
    return pages.redirect(HOME)


async def render(request: Request, refusal: Refusal | None = None) -> Response:
    oidc.find_provider(request)
    keeper, me = request.services.keeper, request.caller.account_id
    held = await rows.read_of_user(keeper.store, me)
    _, sealed = await tickets.make(keeper, tickets.OIDC_LINK, me)
    page = pages.render(
        request,
        "linked_sign_ins.html",
        identities=held,
        removable={each.id for each in held if is_removable(each, keeper.settings)},
        ticket=sealed,
        fresh=await sessions.is_fresh(request),
        problem=describe_refusal(refusal) if refusal else "",
    )
    return pages.with_refusal(page, refusal)
