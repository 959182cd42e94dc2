"""JSON shapes of invitations of staff."""

from msgspec import Struct

from gamekeeper.http.wire.roles import RoleNames
from gamekeeper.http.wire.scalars import Email, Guid, Instant


class Invite(Struct):
    """A person to invite, and the roles that the new account gets."""

    email: Email
    roles: RoleNames


class Invited(Struct):
    """A new invitation. `Warning`: the mail cannot be sent yet."""

    Id: Guid
    Roles: list[str]
    ExpiresAt: Instant
    Warning: str | None


class OpenInvitation(Struct):
    """An invitation that was not accepted yet. `LastError`: what the mail server said at the last try."""

    Id: Guid
    Email: str
    Roles: list[str]
    InvitedBy: str
    InvitedAt: Instant
    ExpiresAt: Instant
    SentAt: Instant | None
    LastError: str | None


class InvitationList(Struct):
    Invitations: list[OpenInvitation]


class Withdrawn(Struct):
    Id: Guid
