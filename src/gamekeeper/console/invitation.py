"""The page behind the link of an invitation: the invited person chooses a name and a password."""

from functools import partial

from gamekeeper.console import pages, password, sessions
from gamekeeper.console.refusals import UnusablePassword
from gamekeeper.console.server_texts import describe_refusal
from gamekeeper.game import invitations
from gamekeeper.game.changes import Intent
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import BadField, EmailTaken, Refusal, ReservedName, UsernameTaken
from gamekeeper.game.role_refusals import InvitationVoid
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import invitations as rows
from gamekeeper.store.invitations import Invitation

NEW = "new"  # name of the password's form fields


async def show(request: Request) -> Response:
    return await _render(request, request.query.get("code", ""))


async def accept(request: Request, raw: bytes) -> Response:
    """Make the account. The secret of the link stands in for the CSRF token: other sites do not know it."""
    sessions.require_same_origin(request)
    fields, keeper = sessions.parse_form(raw), request.services.keeper
    code, name = fields.get("code", ""), fields.get("name", "").strip()
    try:
        found = await _find(request, code)
        chosen = password.choose(request, fields, NEW, (name, found.email))
        stored = await keeper.passwords.hash_password(hash_for_wire(chosen))
        decide = partial(invitations.accept, secret=code, name=name, password=stored, settings=keeper.settings)
        # the change is the inviter's: the roles are theirs to give
        intent = Intent(request_id=request.id, actor_id=found.inviter_id, reason=invitations.ACCEPTED.format(found.id))
        await keeper.changes.apply(intent, decide, lambda _: b"")
    except (UnusablePassword, BadField, ReservedName, UsernameTaken, EmailTaken, InvitationVoid) as refusal:
        return await _render(request, code, name, refusal)
    return pages.redirect("/console/sign-in?ended=invited")


async def _find(request: Request, code: str) -> Invitation:
    found = await rows.find_by_secret(request.services.keeper.store, code)
    if found is None:
        raise InvitationVoid
    return found


async def _render(request: Request, code: str, name: str = "", refusal: Refusal | None = None) -> Response:
    found = await rows.find_by_secret(request.services.keeper.store, code)
    refusal = refusal or (None if found else InvitationVoid())
    page = pages.render(
        request,
        "invitation.html",
        invitation=found,
        code=code,
        name=name,
        problem=describe_refusal(refusal) if refusal else "",
        **password.list_choices(request),
    )
    return pages.with_refusal(page, refusal)
