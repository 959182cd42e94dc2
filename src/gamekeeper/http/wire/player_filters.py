"""Filtered lists of players: the query, and a page."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.player_filters import Cursor
from gamekeeper.http import player_cursor
from gamekeeper.http.query_values import read_end, read_start
from gamekeeper.http.wire.history import END_DESCRIPTION, TIME
from gamekeeper.http.wire.lists import Direction, PageNumber, PageSize, encode_array
from gamekeeper.http.wire.players import PlayerRecord
from gamekeeper.http.wire.scalars import PRINTABLE, Id, PlainInt32, Positive, encode

ClassFilter = Annotated[Id, Meta(description="Players of this class, by id.")]
MapFilter = Annotated[Id, Meta(description="Players on this map, by id.")]
LowestLevel = Annotated[Positive, Meta(description="Players of this level or a higher one.")]
HighestLevel = Annotated[Positive, Meta(description="Players of this level or a lower one.")]
SeenFrom = Annotated[
    int,
    Meta(
        description="Players who were online at this time or later. Those who are online now count as seen now.",
        extra={"read": read_start, "schema": TIME},
    ),
]
SeenTo = Annotated[
    int,
    Meta(
        description=f"Players who were last online at this time or before. {END_DESCRIPTION}",
        extra={"read": read_end, "schema": TIME},
    ),
]
Banned = Annotated[bool, Meta(description="Players whose account is banned, or is not. Needs `users.query`.")]
Online = Annotated[bool, Meta(description="Players who are online, or are not.")]
HeldItem = Annotated[Id, Meta(description="Players who have this item, as of the last counted change.")]
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
FilterDirection = Annotated[Direction, Meta(description="Default: Descending for seen and quantity.")]
FilterCursor = Annotated[
    Cursor,
    Meta(
        description="`Next` of the previous page.",
        extra={"read": player_cursor.read, "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}},
    ),
]
FilterPage = Annotated[
    PageNumber, Meta(description="Number of the page, from 0. Only where `Total` is known; ignored with a cursor.")
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

    Total: Annotated[PlainInt32 | None, Meta(description="Number of matches; null: not known, there may be more.")]
    Searched: Annotated[PlainInt32, Meta(description="Players that were compared with the filter for this page.")]
    SortBy: str
    SortDirection: str
    Next: Annotated[str | None, Meta(description="Cursor of the next page; also after a page with few or no matches.")]
    Values: list[PlayerRecord]


def encode_filtered(page: FilteredPlayers, records: Sequence[bytes]) -> bytes:
    """Encode a page, whose own `Values` are ignored: the records are encoded already."""
    return encode(page)[: -len(b"[]}")] + encode_array(records) + b"}"
