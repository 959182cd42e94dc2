"""Filtered lists of accounts: the query, and a page."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.query_values import read_end, read_start
from gamekeeper.http.wire.history import END_DESCRIPTION, TIME
from gamekeeper.http.wire.lists import Direction, PageNumber, PageSize, Search
from gamekeeper.http.wire.scalars import PRINTABLE, Instant, PlainInt32
from gamekeeper.http.wire.staff import AccountWithRoles

NEEDS = "Needs `audit.read`."
AccountState = Annotated[
    Literal["banned", "muted", "powers"],
    Meta(description="Accounts that are banned, are muted, or have any permission."),
]
RoleFilter = Annotated[str, Meta(description="Accounts with this role.", extra_json_schema=PRINTABLE)]
SignedInFrom = Annotated[
    int,
    Meta(
        description=f"Accounts whose last sign-in was at this time or later. {NEEDS}",
        extra={"read": read_start, "schema": TIME},
    ),
]
SignedInTo = Annotated[
    int,
    Meta(
        description=f"Accounts whose last sign-in was at this time or before. {END_DESCRIPTION} {NEEDS}",
        extra={"read": read_end, "schema": TIME},
    ),
]
AccountSort = Annotated[
    Literal["newest", "name", "email"],
    Meta(
        description="Sort by; newest: by the start of the ban or mute, or by the last sign-in. Default: newest with a "
        "ban, a mute or a time, otherwise name.",
    ),
]


class AccountConditions(Struct, frozen=True):
    state: AccountState | UnsetType = UNSET
    role: RoleFilter = ""
    signedInFrom: SignedInFrom | UnsetType = UNSET  # noqa: N815 - the wire's spelling
    signedInTo: SignedInTo | UnsetType = UNSET  # noqa: N815 - as above


class FilteredUsersQuery(AccountConditions, frozen=True):
    search: Search = ""
    sortBy: AccountSort | UnsetType = UNSET  # noqa: N815 - as above
    sortDirection: Direction = "Ascending"  # noqa: N815 - as above
    page: PageNumber = 0
    pageSize: PageSize = 50  # noqa: N815 - as above


class FilteredUser(AccountWithRoles):
    """An account. `LastSignIn`: its last sign-in in the security log; null also for callers without `audit.read`."""

    IsBanned: bool
    IsMuted: bool
    RegistrationDate: Instant
    LastSignIn: Instant | None


class FilteredUsers(Struct):
    Total: Annotated[PlainInt32, Meta(description="Number of matches that were found.")]
    Complete: Annotated[bool, Meta(description="Whether these are all matches; false: there may be more.")]
    Values: list[FilteredUser]
