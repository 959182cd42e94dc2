"""Invitations of staff: send, list and withdraw them. The console has the page that accepts one."""

from functools import partial

from gamekeeper.game.access import refusals as role_no
from gamekeeper.game.accounts import registration
from gamekeeper.game.core import refusals as no
from gamekeeper.ground import log
from gamekeeper.http.access import role_shapes
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import NO_STORE, QUERY, READ, STAFF, WRITE, Group
from gamekeeper.http.server.instants import format_instant
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import invitations as rows
from gamekeeper.store.accounts.invitations import Invitation

NO_MAIL = (
    "Mail is not set up: the invitation is sent once GAMEKEEPER_SMTP_URL is set. Without mail, use: "
    "gamekeeper users add NAME --email ADDRESS --staff ROLE --generate-password"
)
GROUP = Group("Invitations", "Invitations of staff by mail.")


@GROUP.operation(
    "POST /api/keeper/v1/invitations",
    name="invite",
    permissions=QUERY | STAFF,
    access=WRITE,
    body=role_shapes.Invite,
    answer=role_shapes.Invited,
    refusals=(
        *(no.BadField, no.EmailTaken, role_no.UnknownRole, role_no.RoleOutOfReach, role_no.OwnRole),
        *(role_no.RoleBeyondQuota, role_no.NoPublicUrl, role_no.TooManyInvitations),
    ),
    example_body=role_shapes.Invite("torhild@example.org", ["moderator"]),
    example_answer=role_shapes.Invited(samples.MAIL_ID, ["moderator"], samples.LATER_TIME, None),
)
async def invite(request: Request, body: role_shapes.Invite) -> Response:
    """Invite a person to the staff by mail, with roles that the caller could give."""
    settings = request.services.keeper.settings
    warning = None if settings.smtp_url else NO_MAIL
    decide = partial(
        registration.invite, email=body.email, names=body.roles, actor=request.caller.actor, settings=settings
    )

    def encode(made: Invitation) -> bytes:
        expires_at = format_instant(made.expires_at)
        return shapes.encode(role_shapes.Invited(made.id, list(made.roles), expires_at, warning))

    answer = await request.change(decide, encode)
    if warning and not request.dry_run:
        log.problem(request.id, warning)
    return answer


@GROUP.operation(
    "GET /api/keeper/v1/invitations",
    name="list_invitations",
    permissions=QUERY | STAFF,
    access=READ,
    cache=NO_STORE,
    answer=role_shapes.InvitationList,
    rows=registration.MOST_OPEN,
    refusals=(),
    example_answer=role_shapes.InvitationList([samples.INVITATION]),
)
async def list_invitations(request: Request) -> bytes:
    """List the invitations that were not accepted yet, newest first."""
    found = await rows.read_open(request.services.keeper.store, registration.MOST_OPEN)
    return shapes.encode(role_shapes.InvitationList([_make_record(each) for each in found]))


@GROUP.operation(
    "DELETE /api/keeper/v1/invitations/[invitationId]",
    name="withdraw_invitation",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=role_shapes.Withdrawn,
    refusals=(role_no.NoSuchInvitation,),
    example_answer=role_shapes.Withdrawn(samples.MAIL_ID),
)
async def withdraw_invitation(request: Request, invitation_id: str) -> Response:
    """Withdraw an invitation: its link does not work any more."""
    decide = partial(registration.withdraw_invitation, invitation_id=invitation_id)
    return await request.change(decide, lambda found: shapes.encode(role_shapes.Withdrawn(found.id)))


def _make_record(each: Invitation) -> role_shapes.OpenInvitation:
    return role_shapes.OpenInvitation(
        each.id,
        each.email,
        list(each.roles),
        each.inviter,
        format_instant(each.invited_at),
        format_instant(each.expires_at),
        None if each.sent_at is None else format_instant(each.sent_at),
        each.last_error,
    )
