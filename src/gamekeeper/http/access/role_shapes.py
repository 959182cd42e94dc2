"""JSON shapes of roles, permissions, staff and invitations, with the API keys that a change weakens."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.access.api_keys import WeakenedKey
from gamekeeper.game.access.permissions import PERMISSIONS
from gamekeeper.http.contract.shapes import Email, Guid, Instant, Limit, Natural, PlainInt32, Text, describe

RoleNames = Annotated[list[Text], Meta(max_length=100, description="Names of roles.")]
PermissionNames = Annotated[
    list[Text], Meta(max_length=100, description=f"Names of permissions: {', '.join(PERMISSIONS)}.")
]


class RoleQuota(Struct):
    """The most of an item that each account with the role may give on one UTC day; zeros: every other item."""

    ItemId: Guid
    PerDay: Natural


RoleQuotas = Annotated[list[RoleQuota], Meta(max_length=1000, description="Most of items to give per UTC day.")]


class RoleRecord(Struct):
    """A role. `ReadOnly`: accounts with only such roles cannot write."""

    Name: str
    About: str
    Permissions: list[str]
    ReadOnly: bool
    BuiltIn: bool
    Quotas: list[RoleQuota] = []


class RoleList(Struct):
    Roles: list[RoleRecord]


class CreateRole(Struct):
    """A new role. `readonly`: accounts with only such roles cannot write."""

    name: Annotated[Text, describe("Name of the new role, in lower case.")]
    about: Annotated[Text, describe("What the role is for.")] = ""
    permissions: PermissionNames | UnsetType = UNSET
    readonly: Annotated[bool, describe("Accounts with only such roles cannot write.")] = False
    quotas: RoleQuotas | UnsetType = UNSET


class SaveRole(Struct):
    """A role to edit. What a request body leaves out stays as it is."""

    READ_ONLY: ClassVar = ("Name", "BuiltIn")

    about: Annotated[Text, describe("What the role is for.")] | UnsetType = UNSET
    permissions: PermissionNames | UnsetType = UNSET
    readonly: Annotated[bool, describe("Accounts with only such roles cannot write.")] | UnsetType = UNSET
    quotas: RoleQuotas | UnsetType = UNSET


class ChangeRoles(Struct):
    """Roles to give an account and to take from it, and permissions to grant and revoke directly."""

    give: RoleNames | UnsetType = UNSET
    take: RoleNames | UnsetType = UNSET
    grant: PermissionNames | UnsetType = UNSET
    revoke: PermissionNames | UnsetType = UNSET


class HeldRoles(Struct):
    """Roles of an account, its directly granted permissions, and all its permissions.

    `WeakenedKeys`: API keys of the account that lose permissions by the change.
    """

    Id: Guid
    Name: str
    Roles: list[str]
    Granted: list[str]
    Permissions: list[str]
    WeakenedKeys: list[WeakenedKey] = []


_QUERY = Meta(extra={"or": "users.query"}, description="Permission users.query. Also accepted as `users.query`.")
_MANAGE = Meta(extra={"or": "users.manage"}, description="Permission users.manage. Also accepted as `users.manage`.")
_LINK = Meta(extra={"or": "game.link"}, description="Permission game.link. Also accepted as `game.link`.")


class ChangePowers(Struct):
    """Permissions of an account to change. Those that a request body leaves out stay as they are."""

    READ_ONLY: ClassVar = ("Id", "Name", "WeakenedKeys")

    editor: Annotated[bool, describe("May use the game's editor.")] | UnsetType = UNSET
    ban: Annotated[bool, describe("May ban accounts.")] | UnsetType = UNSET
    kick: Annotated[bool, describe("May kick players.")] | UnsetType = UNSET
    mute: Annotated[bool, describe("May mute accounts.")] | UnsetType = UNSET
    api: Annotated[bool, describe("May log in to the API.")] | UnsetType = UNSET
    usersquery: Annotated[bool | UnsetType, _QUERY] = UNSET
    usersmanage: Annotated[bool | UnsetType, _MANAGE] = UNSET
    gamelink: Annotated[bool | UnsetType, _LINK] = UNSET


class HeldPowers(Struct):
    """All permissions of an account; the spec's `Power` has some of them.

    `WeakenedKeys`: API keys of the account that lose permissions by the change.
    """

    Id: str
    Name: str
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    UsersQuery: bool
    UsersManage: bool
    GameLink: bool
    WeakenedKeys: list[WeakenedKey] = []


RIGHTS = {  # field of the request body → name of the permission, where the two differ
    "usersquery": "users.query",
    "usersmanage": "users.manage",
    "gamelink": "game.link",
}


Offset = Annotated[Natural, describe("Number of accounts to skip: `Next` of the previous page.")]


class StaffQuery(Struct, frozen=True):
    offset: Offset = 0
    limit: Annotated[Limit, Meta(extra={"cut": 200})] = 50


class AccountWithRoles(Struct):
    Id: Guid
    Name: str
    Email: str
    Roles: list[str]
    Granted: list[str]
    Suspended: bool


class StaffMember(AccountWithRoles):
    """An account with a role or a directly granted permission.

    `LastSignIn`: its last sign-in in the security log. `Sessions`: its open sessions in the console.
    """

    LastSignIn: Instant | None
    Sessions: PlainInt32
    SecondFactor: bool


class StaffList(Struct):
    Staff: list[StaffMember]
    Next: PlainInt32 | None


class Suspension(Struct):
    """An account, and whether it is suspended. `WeakenedKeys`: API keys of the account that stop working by that."""

    Id: Guid
    Name: str
    Suspended: bool
    WeakenedKeys: list[WeakenedKey] = []


class EndedSessions(Struct):
    """An account whose sessions in the console have ended."""

    Id: Guid
    Name: str


class Invite(Struct):
    """A person to invite, and the roles that the new account gets."""

    email: Annotated[Email, describe("Address of the person, which no account has.")]
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
