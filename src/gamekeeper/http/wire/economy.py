"""JSON shapes of the economy: items, their days, holders, and gifts of staff and keys."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.query_values import read_end, read_start
from gamekeeper.http.wire.history import TIME
from gamekeeper.http.wire.lists import PageQuery
from gamekeeper.http.wire.scalars import Guid, Id, Instant, PlainInt32, PlainInt64

Date = Annotated[str, Meta(extra_json_schema={"format": "date"})]
FirstDay = Annotated[
    int,
    Meta(
        description="A time on the first UTC day; default six days before the last one.",
        extra={"read": read_start, "schema": TIME},
    ),
]
LastDay = Annotated[
    int,
    Meta(
        description="A time on the last UTC day; default today.",
        extra={"read": read_end, "schema": TIME},
    ),
]
GivenItem = Annotated[Id, Meta(description="Gifts of this item.")]

GiverId = Annotated[Id, Meta(description="Gifts of this account or API key; all zeros: the command line.")]


class DaysQuery(Struct, frozen=True, rename={"since": "from"}):
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class EconomyQuery(PageQuery, frozen=True, rename={"since": "from"}):
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class GiftsQuery(PageQuery, frozen=True, rename={"since": "from"}):
    item: GivenItem | UnsetType = UNSET
    giver: GiverId | UnsetType = UNSET
    since: FirstDay | UnsetType = UNSET
    to: LastDay | UnsetType = UNSET


class UpTo(Struct):
    """What is counted: all changes up to a number. Before `Since` the flows are not known."""

    Seq: PlainInt64
    At: Instant | None
    Since: Instant
    Complete: Annotated[bool, Meta(description="False: totals and holders are still being counted for some players.")]


class Sources(Struct):
    """Quantities by source. A report over the link is the game's, an undo stands for itself."""

    Game: PlainInt64 = 0
    Key: PlainInt64 = 0
    Staff: PlainInt64 = 0
    Undo: PlainInt64 = 0
    Import: PlainInt64 = 0


class EconomyItem(Struct):
    ItemId: Guid
    Name: Annotated[str | None, Meta(description="Null: the item is not in the catalogue.")]
    Quantity: Annotated[PlainInt64, Meta(description="In circulation: in all slots of all players.")]
    Holders: PlainInt64
    Created: Sources
    Destroyed: Sources


class EconomyPage(Struct):
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    From: Date
    To: Date
    UpTo: UpTo
    Values: list[EconomyItem]


class ItemDay(Struct):
    Day: Date
    Quantity: Annotated[PlainInt64 | None, Meta(description="At the end of the day; null: not known.")]
    Holders: PlainInt64 | None
    Created: Sources
    Destroyed: Sources


class ItemEconomy(Struct):
    ItemId: Guid
    Name: str | None
    Quantity: PlainInt64
    Holders: PlainInt64
    UpTo: UpTo
    Days: list[ItemDay]


class Holder(Struct):
    Rank: PlainInt32
    PlayerId: Guid
    Name: Annotated[str | None, Meta(description="Null: the player has just been deleted.")]
    Quantity: Annotated[PlainInt64, Meta(description="How many of the item, or the value of the variable.")]


class HoldersPage(Struct):
    Total: Annotated[PlainInt32, Meta(description="Holders that can be listed.")]
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Ranked: Annotated[
        bool,
        Meta(description="False: the setting `ranked` does not name it; an item then has its first 100."),
    ]
    Holders: Annotated[PlainInt64 | None, Meta(description="All players who have it; null: not known.")]
    UpTo: UpTo
    Values: list[Holder]


class GiftSum(Struct):
    Source: Literal["staff", "key"]
    GiverId: Annotated[Guid | None, Meta(description="An account or an API key; null: the command line.")]
    Name: Annotated[str | None, Meta(description="Null: the command line, or a deleted account.")]
    Owner: Annotated[str | None, Meta(description="The account of an API key.")]
    ItemId: Guid
    ItemName: str | None
    Given: PlainInt64
    Taken: PlainInt64


class GiftsPage(Struct):
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    From: Date
    To: Date
    UpTo: UpTo
    Values: list[GiftSum]
