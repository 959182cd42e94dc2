"""Staff: suspend and resume accounts."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class Suspension(Struct, rename="pascal"):
    """An account, and whether it is suspended."""

    id: str
    name: str
    suspended: bool


class Staff:
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
