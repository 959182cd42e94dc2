"""JSON shapes of roles, and of the roles and permissions of an account."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.permissions import PERMISSIONS
from gamekeeper.http.wire.api_keys import WeakenedKey
from gamekeeper.http.wire.scalars import Guid, Natural, Text

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

    name: Text
    about: Text = ""
    permissions: PermissionNames | UnsetType = UNSET
    readonly: bool = False
    quotas: RoleQuotas | UnsetType = UNSET


class SaveRole(Struct):
    """A role to edit. What a request body leaves out stays as it is."""

    about: Text | UnsetType = UNSET
    permissions: PermissionNames | UnsetType = UNSET
    readonly: bool | UnsetType = UNSET
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
