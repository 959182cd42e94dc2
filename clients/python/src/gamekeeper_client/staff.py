"""Staff: list the accounts with permissions, suspend and resume accounts, end their sessions."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.roles import WeakenedKey


class Suspension(Struct, rename="pascal"):
    """An account, and whether it is suspended; `weakened_keys` are its API keys that stop working by that."""

    id: str
    name: str
    suspended: bool
    weakened_keys: list[WeakenedKey] = []


class StaffMember(Struct, rename="pascal"):
    """An account with a role or a directly granted permission.

    `last_sign_in` is its last sign-in in the security log; `sessions` are its open sessions in the console.
    """

    id: str
    name: str
    email: str
    roles: list[str]
    granted: list[str]
    suspended: bool
    last_sign_in: str | None
    sessions: int
    second_factor: bool


class StaffList(Struct, rename="pascal"):
    staff: list[StaffMember]
    next: int | None


class EndedSessions(Struct, rename="pascal"):
    id: str
    name: str


class Staff:
    @operation("GET", "/api/keeper/v1/staff")
    def list_staff(self, offset: int | None = None, *, limit: int | None = None) -> Payload[StaffList]:
        """List accounts with roles or directly granted permissions once, by name. Needs staff.manage.

        offset: number of accounts to skip; `next` of the page before.
        limit: return at most this many accounts; default 50.
        Returns the accounts, and the offset of the next page; None at the end.
        Raises BadField, RoleMissing, PermissionMissing.
        """
        return Payload(StaffList, query={"offset": offset, "limit": limit})

    @operation("DELETE", "/api/keeper/v1/users/{user}/sessions")
    def end_sessions(self, user: str, **options: Unpack[WriteOptions]) -> Payload[EndedSessions]:
        """End all sessions of an account in the console; tokens of programs stay valid. Needs staff.manage.

        Returns the account.
        Raises NoSuchUser, Outranked, RoleMissing, PermissionMissing.
        """
        return Payload(EndedSessions)

    @operation("POST", "/api/keeper/v1/users/{user}/suspend")
    def suspend_user(self, user: str, **options: Unpack[WriteOptions]) -> Payload[Suspension]:
        """Suspend an account: it cannot log in, and its tokens are revoked. It can still play. Needs staff.manage.

        Returns the account's state.
        Raises NoSuchUser, Outranked, OwnAccount, LastManager, RoleMissing, PermissionMissing.
        """
        return Payload(Suspension)

    @operation("POST", "/api/keeper/v1/users/{user}/resume")
    def resume_user(self, user: str, **options: Unpack[WriteOptions]) -> Payload[Suspension]:
        """End the suspension of an account. Needs staff.manage.

        Returns the account's state.
        Raises NoSuchUser, Outranked, OwnAccount, RoleMissing, PermissionMissing.
        """
        return Payload(Suspension)
