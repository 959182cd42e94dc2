"""JSON shapes of the public side. They have no ids: a page that anybody can read must not lead to accounts."""

from msgspec import UNSET, Raw, Struct, UnsetType

from gamekeeper.http.wire.boards import Ranks, SeasonNumber, SeasonRecord
from gamekeeper.http.wire.lists import PageNumber, PageSize
from gamekeeper.http.wire.scalars import PlainInt32, PlainInt64


class PublicQuery(Struct, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    page: PageNumber = 0
    pageSize: PageSize = 10  # noqa: N815 - the wire's spelling


class PublicPlace(Struct):
    Rank: PlainInt32
    Name: str | None  # null: the player was deleted
    Value: PlainInt64


class PublicBoard(Struct):
    Name: str
    Title: str
    Ranks: Ranks
    Thing: str | None
    Gain: bool
    Season: SeasonRecord
    Seasons: list[SeasonRecord]
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[PublicPlace]


class BoardPlace(Struct):
    """The place of a player in the running or last season of a public board."""

    Board: str
    Title: str
    Rank: PlainInt32
    Value: PlainInt64


class PublicPlayer(Struct):
    """A player, as in its record. The fields of the record that the setting `public_fields` names follow."""

    Name: Raw
    Level: Raw
    Class: Raw
    Rank: PlainInt32
    Boards: list[BoardPlace]
