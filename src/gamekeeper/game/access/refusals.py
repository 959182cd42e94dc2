"""Refusals about API keys, gifts beyond a limit, roles, permissions, invitations and second factors.

`console_refusals.py` has those that only pages of the console can cause.
"""

from gamekeeper.game.core.refusals import Conflict, Forbidden, LogInRefusal, Malformed, NotFound, TooManyRequests


class BadAddressRange(Malformed):
    """'{range}' is not an address range. Write an address or a network, such as 192.0.2.7 or 192.0.2.0/24."""


class KeyOutOfReach(Forbidden):
    """The API key has the permission {permission}, which you do not have."""


class KeyBeyondQuota(Forbidden):
    """
    The API key '{name}' of another account gives items, or may by its role, but your gifts have a daily limit. Ask an
    admin.
    """


class KeyManagesNoKeys(Forbidden):
    """An API key cannot create, rotate or change API keys. Log in, or run: gamekeeper keys"""


class AddressNotAllowed(Forbidden):
    """The API key '{name}' may not be used from the address {address}. Create a key with this address in Addresses."""


class ServerNotAllowed(Forbidden):
    """The API key '{name}' may not speak for the game server '{server}', only for: {known}."""


class PlayerOnOtherServer(Forbidden):
    """Player '{player}' is online on the game server '{server}', for which the API key '{name}' may not speak."""


class NoSuchKey(NotFound):
    """There is no such API key. GET /api/keeper/v1/keys lists all."""


class KeyRevoked(Conflict):
    """The API key '{name}' was revoked. Create a new one."""


def name_item(item_id: str, name: str) -> str:
    """Name an item in a message for people and programs: by its name, if the catalogue has it, and by its id."""
    return f"{name} ({item_id})" if name else item_id


class ItemNotAllowed(Conflict):
    """The API key may not give the item '{item}'. Nothing was given."""


class GiftTooLarge(Conflict):
    """The API key may give at most {most} of an item in one request. Nothing was given."""


class QuotaReached(Conflict):
    """At most {most} of item '{item}' may be given per UTC day, and {given} were given today. Nothing was given."""

    def __init__(self, *, most: int, item: str, given: int, ends_at: int, name: str = "") -> None:
        super().__init__(most=most, item=name_item(item, name), given=given)
        self.most, self.item, self.given = most, item, given
        self.name = name  # of the item; empty: the catalogue does not have it
        self.ends_at = ends_at  # end of the day, in milliseconds since 1970


class TooManyKeyRequests(TooManyRequests):
    """The API key has sent its number of requests of this minute to this server process; wait {seconds} seconds."""


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


class MfaRequired(LogInRefusal):
    """{problem}"""


class WrongOtp(LogInRefusal):
    """The code of the second factor is wrong, or was used already. Send the next code, or a recovery code."""

    error = "invalid_grant"


class KeyFileUnusable(Conflict):
    """The key file cannot be used now: {problem}."""


class OwnFactors(Conflict):
    """These are your own second factors: remove them on your page in the console, with a code."""
