"""Invitations of staff by mail. Every method needs the permissions users.query and staff.manage."""

from collections.abc import Sequence
from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class Invited(Struct, rename="pascal"):
    """A new invitation; `warning` says that the mail cannot be sent yet."""

    id: str
    roles: list[str]
    expires_at: str
    warning: str | None


class OpenInvitation(Struct, rename="pascal"):
    """An invitation that was not accepted yet; `last_error` is what the mail server said at the last try."""

    id: str
    email: str
    roles: list[str]
    invited_by: str
    invited_at: str
    expires_at: str
    sent_at: str | None
    last_error: str | None


class InvitationList(Struct, rename="pascal"):
    invitations: list[OpenInvitation]


class Withdrawn(Struct, rename="pascal"):
    id: str


class Invitations:
    @operation("POST", "/api/keeper/v1/invitations")
    def invite(self, email: str, roles: Sequence[str], **options: Unpack[WriteOptions]) -> Payload[Invited]:
        """Invite a person by mail. An open invitation to the same address is replaced.

        email: address of the person, which no account has.
        roles: names of roles for the new account; you must be able to give them.
        Returns the invitation.
        Raises EmailTaken, UnknownRole, RoleOutOfReach, RoleBeyondQuota, OwnRole, NoPublicUrl, TooManyInvitations,
        BadField, RoleMissing, PermissionMissing.
        """
        return Payload(Invited, body={"email": email, "roles": list(roles)})

    @operation("GET", "/api/keeper/v1/invitations")
    def list_invitations(self) -> Payload[InvitationList]:
        """List the invitations that were not accepted yet.

        Returns the invitations, newest first.
        Raises RoleMissing, PermissionMissing.
        """
        return Payload(InvitationList)

    @operation("DELETE", "/api/keeper/v1/invitations/{invitation_id}")
    def withdraw_invitation(self, invitation_id: str, **options: Unpack[WriteOptions]) -> Payload[Withdrawn]:
        """Withdraw an invitation: its link does not work any more.

        invitation_id: id of the invitation.
        Returns the id.
        Raises NoSuchInvitation, BadField, RoleMissing, PermissionMissing.
        """
        return Payload(Withdrawn)
