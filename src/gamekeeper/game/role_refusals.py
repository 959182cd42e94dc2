"""Refusals of requests about roles and permissions. `refusals.py` has all others.

Malformed   UnknownRole  UnknownPermission
Forbidden   PermissionMissing  RoleOutOfReach  RoleBeyondQuota
NotFound    NoSuchRole  NoSuchInvitation
Conflict    OwnRole  HeldByRole  RoleExists  RoleInUse  BuiltinRole  LastManager
            NoPublicUrl  TooManyInvitations  InvitationVoid
LogInRefusal  AccountSuspended
"""

from gamekeeper.game.refusals import Conflict, Forbidden, LogInRefusal, Malformed, NotFound


class UnknownRole(Malformed):
    """There is no role '{role}'. Roles: {known}."""


class UnknownPermission(Malformed):
    """There is no permission '{permission}'. Permissions: {known}."""


class PermissionMissing(Forbidden):
    """This needs the permission {permission}. Ask an administrator for a role that has it."""


class RoleOutOfReach(Forbidden):
    """The role '{role}' has the permission {permission}, which you do not have."""


class RoleBeyondQuota(Forbidden):
    """'{role}' may give items, but your gifts have a limit, which would not hold for others. Ask an admin."""


class NoSuchRole(NotFound):
    """There is no role '{role}'."""


class OwnRole(Conflict):
    """{problem}"""


class HeldByRole(Conflict):
    """{name} has the permission {permission} by the role '{role}'; take the role away instead."""


class RoleExists(Conflict):
    """There already is a role '{role}'."""


class RoleInUse(Conflict):
    """Accounts or API keys have the role '{role}'; take it away from them first."""


class BuiltinRole(Conflict):
    """The role '{role}' is built in; it cannot be {act}."""


class LastManager(Conflict):
    """No other account could manage staff then; give one the permission staff.manage first. Nothing was changed."""


class AccountSuspended(LogInRefusal):
    """The account '{name}' is suspended; someone who manages staff can resume it."""

    error = "unauthorized_client"


class NoSuchInvitation(NotFound):
    """There is no open invitation with id '{id}'. It was accepted or withdrawn, or it expired."""


class NoPublicUrl(Conflict):
    """An invitation links to this server's console; set GAMEKEEPER_PUBLIC_URL, leave GAMEKEEPER_CONSOLE on."""


class TooManyInvitations(Conflict):
    """There are already {most} open invitations; withdraw some of them first."""


class InvitationVoid(Conflict):
    """This invitation was used or withdrawn, or is not valid any more; ask the person who sent it for another."""
