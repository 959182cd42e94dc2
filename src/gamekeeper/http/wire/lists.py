"""Pages of records, and the query parameters that select a page."""

from collections.abc import Sequence
from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.scalars import PRINTABLE, Int32, Natural, PlainInt32, Positive

R = TypeVar("R")
DEFAULT_SIZE = 5


class LegacyPage(Struct):
    page: Natural = 0
    count: Annotated[Int32, Meta(description=f"Records per page; 0 or less: {DEFAULT_SIZE}.")] = DEFAULT_SIZE


PageNumber = Annotated[Natural, Meta(description="Number of the page, from 0. A page after the last one is empty.")]
PageSize = Annotated[Positive, Meta(description="Records per page; larger values count as the server's maximum.")]
Limit = Annotated[Positive, Meta(description="Largest number of records in the answer.")]
Direction = Annotated[Literal["Ascending", "Descending"], Meta(description="Sort direction.")]
Search = Annotated[
    str,
    Meta(
        description="A part of the name, or of an account's email; ignored if shorter than 3 characters. At most 1000 "
        "matches are sorted and counted in `Total`. For online players: the online ones of these 1000.",
        extra_json_schema=PRINTABLE,
    ),
]


class PageQuery(Struct, frozen=True):
    page: PageNumber = 0
    pageSize: PageSize = DEFAULT_SIZE  # noqa: N815 - the wire's spelling
    limit: Limit | UnsetType = UNSET


class Paged(Struct, Generic[R]):
    """A page of records. `encode_paged` encodes it."""

    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[R]


class Legacy(Struct, Generic[R]):
    """A page of records in the format of the POST lists. `encode_legacy` encodes it."""

    total: PlainInt32
    Page: PlainInt32
    count: PlainInt32
    entries: list[R]


def encode_paged(total: int, page: int, size: int, records: Sequence[bytes]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(records))
    return b"".join((head, b",".join(records), b"]}"))


def encode_legacy(total: int, page: int, records: Sequence[bytes]) -> bytes:
    head = b'{"total":%d,"Page":%d,"count":%d,"entries":[' % (total, page, len(records))
    return b"".join((head, b",".join(records), b"]}"))


def encode_array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"
