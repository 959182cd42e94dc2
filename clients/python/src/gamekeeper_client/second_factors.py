"""Second factors of accounts: list them, and reset lost ones."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class SecondFactor(Struct, rename="pascal"):
    """A second factor, without its secret; `kind` is totp or passkey."""

    kind: str
    name: str
    added_at: str
    last_used: str | None


class SecondFactorList(Struct, rename="pascal"):
    id: str
    name: str
    second_factors: list[SecondFactor]
    recovery_codes_left: int


class SecondFactors:
    @operation("GET", "/api/keeper/v1/users/{user}/second-factors")
    def get_second_factors(self, user: str) -> Payload[SecondFactorList]:
        """Get the second factors of an account. Needs the permissions users.query and staff.manage.

        Returns the factors, oldest first, and how many recovery codes are left.
        Raises NoSuchUser, RoleMissing, PermissionMissing.
        """
        return Payload(SecondFactorList)

    @operation("DELETE", "/api/keeper/v1/users/{user}/second-factors")
    def reset_second_factors(self, user: str, **options: Unpack[WriteOptions]) -> Payload[SecondFactorList]:
        """Remove all second factors and recovery codes of an account that lost them, and revoke its tokens.

        Needs the permissions users.query and staff.manage.

        Returns the account, without second factors.
        Raises NoSuchUser, OwnFactors, Outranked, RoleMissing, PermissionMissing.
        """
        return Payload(SecondFactorList)
