"""JSON shapes of the search and of filtered lists of players and accounts: the query, its cursor, and a page.

A cursor is an order and a key in it, in URL-safe Base64.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.lists.player_filters import Cursor
from gamekeeper.game.lists.player_walks import ACCOUNT, LEVEL, NAME, QUANTITY, SEEN, Order
from gamekeeper.http.access.role_shapes import AccountWithRoles
from gamekeeper.http.contract.shapes import (
    PRINTABLE,
    Direction,
    Id,
    Instant,
    Limit,
    PageNumber,
    PageSize,
    PlainInt32,
    Positive,
    Printable,
    Search,
    describe,
    describe_end,
    describe_start,
    encode,
    encode_array,
)
from gamekeeper.http.players.player_shapes import PlayerRecord

Int32 = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-1, le=2**63 - 1)]
# keys of the orders; an id of 36 characters is checked below
KEYS: Mapping[str, type[tuple[int | str, ...]]] = {
    NAME: tuple[Annotated[str, Meta(max_length=400)]],
    LEVEL: tuple[Int32, Int64, str],
    SEEN: tuple[Annotated[int, Meta(ge=0, le=2)], Int64, str],
    QUANTITY: tuple[Int64, str],
    ACCOUNT: tuple[str, str],
}
LONGEST = 2000  # characters


def encode_cursor(cursor: Cursor) -> str:
    order = ("-" if cursor.order.descending else "") + cursor.order.by
    return base64.urlsafe_b64encode(msgspec.json.encode([order, *cursor.key])).decode().rstrip("=")


def read_cursor(text: str, name: str) -> Cursor:
    try:
        return _decode(text)
    except (LookupError, ValueError, binascii.Error, msgspec.MsgspecError):
        raise BadField(field=name, problem="must be the Next of the previous page") from None


def _decode(text: str) -> Cursor:
    raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    order, *key = msgspec.json.decode(raw, type=list[int | str])
    by = str(order).removeprefix("-")
    found: tuple[int | str, ...] = msgspec.convert(key, KEYS[by])
    ids = [each for each in found if isinstance(each, str) and by != NAME]
    if len(text) > LONGEST or any(lookup.parse_guid(each) != each for each in ids) or "\x00" in str(found[0]):
        raise ValueError
    return Cursor(Order(by, descending=str(order).startswith("-")), tuple(found))


SEARCH_DESCRIPTION = "An id, also of a deleted player or account, or a part of a name or email."
SearchText = Annotated[Printable, Meta(description=SEARCH_DESCRIPTION)]


class FindQuery(Struct, frozen=True):
    q: SearchText = ""
    limit: Annotated[Limit, Meta(extra={"cut": 50})] = 20


class Found(Struct):
    Kind: str
    Id: str
    Name: str
    Detail: str
    Match: str  # how the search text matched: id, exact, prefix, part or near


class Finds(Struct):
    Query: str
    Found: list[Found]


ClassFilter = Annotated[Id, describe("Players of this class, by id.")]
MapFilter = Annotated[Id, describe("Players on this map, by id.")]
LowestLevel = Annotated[Positive, describe("Players of this level or a higher one.")]
HighestLevel = Annotated[Positive, describe("Players of this level or a lower one.")]
SeenFrom = Annotated[
    int, describe_start("Players who were online at this time or later. Those who are online now count as seen now.")
]
SeenTo = Annotated[int, describe_end("Players who were last online at this time or before.")]
Banned = Annotated[bool, describe("Players whose account is banned, or is not. Needs `users.query`.")]
Online = Annotated[bool, describe("Players who are online, or are not.")]
HeldItem = Annotated[Id, describe("Players who have this item, as of the last counted change.")]
NamePart = Annotated[
    str,
    Meta(
        description="A part of the name; ignored if shorter than 3 characters. At most 1000 matches are compared.",
        extra_json_schema=PRINTABLE,
    ),
]
FilterSort = Annotated[
    Literal["name", "level", "seen", "quantity"],
    Meta(
        description="Sort by; quantity: of the item. Default: quantity with an item, otherwise name. More than 2000 "
        "banned accounts are sorted by account.",
    ),
]
FilterDirection = Annotated[Direction, describe("Default: Descending for seen and quantity.")]
FilterCursor = Annotated[
    Cursor,
    Meta(
        description="`Next` of the previous page.",
        extra={"read": read_cursor, "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}},
    ),
]
FilterPage = Annotated[
    PageNumber, describe("Number of the page, from 0. Only where `Total` is known; ignored with a cursor.")
]


class PlayerConditions(Struct, frozen=True):
    classId: ClassFilter | UnsetType = UNSET  # noqa: N815 - the wire's spelling
    mapId: MapFilter | UnsetType = UNSET  # noqa: N815 - as above
    levelFrom: LowestLevel | UnsetType = UNSET  # noqa: N815 - as above
    levelTo: HighestLevel | UnsetType = UNSET  # noqa: N815 - as above
    seenFrom: SeenFrom | UnsetType = UNSET  # noqa: N815 - as above
    seenTo: SeenTo | UnsetType = UNSET  # noqa: N815 - as above
    banned: Banned | UnsetType = UNSET
    online: Online | UnsetType = UNSET
    itemId: HeldItem | UnsetType = UNSET  # noqa: N815 - as above
    search: NamePart = ""


class FilteredPlayersQuery(PlayerConditions, frozen=True):
    sortBy: FilterSort | UnsetType = UNSET  # noqa: N815 - the wire's spelling
    sortDirection: FilterDirection | UnsetType = UNSET  # noqa: N815 - as above
    page: FilterPage = 0
    pageSize: PageSize = 50  # noqa: N815 - as above
    cursor: FilterCursor | UnsetType = UNSET


class FilteredPlayers(Struct):
    """A page of players. `encode_filtered` encodes it."""

    Total: Annotated[PlainInt32 | None, describe("Number of matches; null: not known, there may be more.")]
    Searched: Annotated[PlainInt32, describe("Players that were compared with the filter for this page.")]
    SortBy: str
    SortDirection: str
    Next: Annotated[str | None, describe("Cursor of the next page; also after a page with few or no matches.")]
    Values: list[PlayerRecord]


def encode_filtered(page: FilteredPlayers, records: Sequence[bytes]) -> bytes:
    """Encode a page, whose own `Values` are ignored: the records are encoded already."""
    return encode(page)[: -len(b"[]}")] + encode_array(records) + b"}"


NEEDS = "Needs `audit.read`."
AccountState = Annotated[
    Literal["banned", "muted", "powers"],
    describe("Accounts that are banned, are muted, or have any permission."),
]
RoleFilter = Annotated[str, Meta(description="Accounts with this role.", extra_json_schema=PRINTABLE)]
SignedInFrom = Annotated[int, describe_start(f"Accounts whose last sign-in was at this time or later. {NEEDS}")]
SignedInTo = Annotated[int, describe_end("Accounts whose last sign-in was at this time or before.", NEEDS)]
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
    """A page of accounts that match a filter. If not `Complete`, there may be more matches than `Total`."""

    Total: Annotated[PlainInt32, describe("Number of matches that were found.")]
    Complete: Annotated[bool, describe("Whether these are all matches; false: there may be more.")]
    Values: list[FilteredUser]
