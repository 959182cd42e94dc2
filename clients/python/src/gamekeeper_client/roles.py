"""Roles: list, create, edit and delete them; give them to accounts and take them away."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class RoleQuota(Struct, rename="pascal"):
    """The most of an item that each account with the role may give on one UTC day; zeros: every other item."""

    item_id: str
    per_day: int


class RoleRecord(Struct, rename="pascal"):
    """A role; `read_only` says that accounts with only such roles cannot write."""

    name: str
    about: str
    permissions: list[str]
    read_only: bool
    built_in: bool
    quotas: list[RoleQuota] = []


class RoleList(Struct, rename="pascal"):
    roles: list[RoleRecord]


class WeakenedKey(Struct, rename="pascal"):
    """An API key that loses the permissions in `lost` with its owner."""

    id: str
    name: str
    lost: list[str]


class HeldRoles(Struct, rename="pascal"):
    """Roles of an account; `granted` has its directly granted permissions, `permissions` all of them."""

    id: str
    name: str
    roles: list[str]
    granted: list[str]
    permissions: list[str]
    weakened_keys: list[WeakenedKey] = []


class Roles:
    @operation("GET", "/api/keeper/v1/roles")
    def list_roles(self) -> Payload[RoleList]:
        """List all roles with their permissions. Needs the permission users.query.

        Returns the roles, in order of name.
        Raises RoleMissing, TooManyLongReads.
        """
        return Payload(RoleList)

    @operation("POST", "/api/keeper/v1/roles")
    def create_role(
        self,
        name: str,
        permissions: Sequence[str] = (),
        *,
        about: str = "",
        read_only: bool = False,
        quotas: Mapping[str, int] | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[RoleRecord]:
        """Create a role. Needs the permission staff.manage, and those that the role gets.

        name: name of the new role, in lower case.
        permissions: names of its permissions.
        about: what the role is for.
        read_only: accounts with only such roles cannot write.
        quotas: the most that an account may give per UTC day, by id of the item; zeros: every other item.
        Returns the role.
        Raises RoleExists, UnknownPermission, RoleOutOfReach, RoleBeyondQuota, BadField, PermissionMissing.
        """
        body = {"name": name, "permissions": list(permissions), "about": about, "readonly": read_only}
        return Payload(RoleRecord, body=body | _make_quotas(quotas))

    @operation("PUT", "/api/keeper/v1/roles/{role}")
    def save_role(
        self,
        role: str,
        permissions: Sequence[str] | None = None,
        *,
        about: str | None = None,
        read_only: bool | None = None,
        quotas: Mapping[str, int] | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[RoleRecord]:
        """Edit a role. What is None does not change. Needs the permission staff.manage.

        You need the role's permissions yourself, before and after, and you must not have the role.

        role: name of the role.
        permissions: names of its permissions.
        about: what the role is for.
        read_only: accounts with only such roles cannot write.
        quotas: the most that an account may give per UTC day, by id of the item; zeros: every other item.
        Returns the role.
        Raises NoSuchRole, UnknownPermission, RoleOutOfReach, RoleBeyondQuota, OwnRole, BuiltinRole, LastManager,
        BadField, PermissionMissing.
        """
        named = None if permissions is None else list(permissions)
        given = {"permissions": named, "about": about, "readonly": read_only}
        body = {name: value for name, value in given.items() if value is not None}
        return Payload(RoleRecord, body=body | _make_quotas(quotas))

    @operation("DELETE", "/api/keeper/v1/roles/{role}")
    def delete_role(self, role: str, **options: Unpack[WriteOptions]) -> Payload[RoleRecord]:
        """Delete a role that no account has. Needs the permission staff.manage.

        role: name of the role.
        Returns the deleted role.
        Raises NoSuchRole, RoleInUse, BuiltinRole, RoleOutOfReach, OwnRole, PermissionMissing.
        """
        return Payload(RoleRecord)

    @operation("GET", "/api/keeper/v1/users/{user}/roles")
    def get_user_roles(self, user: str) -> Payload[HeldRoles]:
        """Get the roles and the permissions of an account. Needs the permission users.query.

        Returns the roles and permissions.
        Raises NoSuchUser, RoleMissing, TooManyLongReads.
        """
        return Payload(HeldRoles)

    @operation("POST", "/api/keeper/v1/users/{user}/roles")
    def change_user_roles(
        self,
        user: str,
        *,
        give: Sequence[str] = (),
        take: Sequence[str] = (),
        grant: Sequence[str] = (),
        revoke: Sequence[str] = (),
        **options: Unpack[WriteOptions],
    ) -> Payload[HeldRoles]:
        """Give an account roles and take them away; grant and revoke permissions directly. Needs staff.manage.

        You need the permissions yourself, and you must not have the roles.

        give: names of roles to give.
        take: names of roles to take away.
        grant: names of permissions to grant directly.
        revoke: names of directly granted permissions to revoke.
        Returns the account's roles and permissions after the change.
        Raises NoSuchUser, UnknownRole, UnknownPermission, Outranked, OwnPowers, RoleOutOfReach, RoleBeyondQuota,
        OwnRole, HeldByRole, LastManager, RoleMissing, PermissionMissing.
        """
        given = {"give": give, "take": take, "grant": grant, "revoke": revoke}
        return Payload(HeldRoles, body={name: list(names) for name, names in given.items() if names})


def _make_quotas(quotas: Mapping[str, int] | None) -> dict[str, object]:
    if quotas is None:
        return {}
    return {"quotas": [{"ItemId": item_id, "PerDay": most} for item_id, most in quotas.items()]}
