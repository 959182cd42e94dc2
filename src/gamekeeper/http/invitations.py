"""Invitations of staff: send, list and withdraw them. The console has the page that accepts one."""

from functools import partial

from gamekeeper import log
from gamekeeper.game import invitations
from gamekeeper.game import refusals as no
from gamekeeper.game import role_refusals as role_no
from gamekeeper.http import samples, wire
from gamekeeper.http.instants import format_instant
from gamekeeper.http.operation import NO_STORE, QUERY, READ, STAFF, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import invitations as rows
from gamekeeper.store.invitations import Invitation

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
    body=wire.invitations.Invite,
    answer=wire.invitations.Invited,
    refusals=(
        *(no.BadField, no.EmailTaken, role_no.UnknownRole, role_no.RoleOutOfReach, role_no.OwnRole),
        *(role_no.RoleBeyondQuota, role_no.NoPublicUrl, role_no.TooManyInvitations),
    ),
    example_body=wire.invitations.Invite("torhild@example.org", ["moderator"]),
    example_answer=wire.invitations.Invited(samples.MAIL_ID, ["moderator"], samples.LATER_TIME, None),
)
async def invite(request: Request, body: wire.invitations.Invite) -> Response:
    """Invite a person to the staff by mail, with roles that the caller could give."""
    settings = request.services.keeper.settings
    warning = None if settings.smtp_url else NO_MAIL
    decide = partial(
        invitations.invite, email=body.email, names=body.roles, actor=request.caller.actor, settings=settings
    )

    def encode(made: Invitation) -> bytes:
        expires_at = format_instant(made.expires_at)
        return wire.encode(wire.invitations.Invited(made.id, list(made.roles), expires_at, warning))

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
    answer=wire.invitations.InvitationList,
    rows=invitations.MOST_OPEN,
    refusals=(),
    example_answer=wire.invitations.InvitationList([samples.INVITATION]),
)
async def list_invitations(request: Request) -> bytes:
    """List the invitations that were not accepted yet, newest first."""
    found = await rows.read_open(request.services.keeper.store, invitations.MOST_OPEN)
    return wire.encode(wire.invitations.InvitationList([_make_record(each) for each in found]))


@GROUP.operation(
    "DELETE /api/keeper/v1/invitations/[invitationId]",
    name="withdraw_invitation",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.invitations.Withdrawn,
    refusals=(role_no.NoSuchInvitation,),
    example_answer=wire.invitations.Withdrawn(samples.MAIL_ID),
)
async def withdraw_invitation(request: Request, invitation_id: str) -> Response:
    """Withdraw an invitation: its link does not work any more."""
    decide = partial(invitations.withdraw, invitation_id=invitation_id)
    return await request.change(decide, lambda found: wire.encode(wire.invitations.Withdrawn(found.id)))


def _make_record(each: Invitation) -> wire.invitations.OpenInvitation:
    return wire.invitations.OpenInvitation(
        each.id,
        each.email,
        list(each.roles),
        each.inviter,
        format_instant(each.invited_at),
        format_instant(each.expires_at),
        None if each.sent_at is None else format_instant(each.sent_at),
        each.last_error,
    )
