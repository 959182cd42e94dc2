"""JSON shapes of staff accounts."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.api_keys import WeakenedKey
from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.scalars import Guid, Instant, Natural, PlainInt32

Offset = Annotated[Natural, Meta(description="Number of accounts to skip: `Next` of the previous page.")]


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
