"""Pages of records, and the query parameters that select one."""

from collections.abc import Sequence
from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.scalars import PRINTABLE, Int32, Natural, PlainInt32, Positive

R = TypeVar("R")
DEFAULT_SIZE = 5


class LegacyPage(Struct):
    page: Natural = 0
    count: Annotated[Int32, Meta(description=f"0 and less mean {DEFAULT_SIZE}, as for the engine.")] = DEFAULT_SIZE


Number = Annotated[Natural, Meta(description="Which page, from 0; one past the end has no records.")]
Size = Annotated[Positive, Meta(description="Records per page; more than the server's greatest is cut to it.")]
Limit = Annotated[Positive, Meta(description="At most so many of what would be answered.")]
Direction = Annotated[Literal["Ascending", "Descending"], Meta(description="Of the order.")]
Search = Annotated[
    str,
    Meta(
        description="A part of the name, or of an account's email; less than 3 characters are ignored. At most 1000 "
        "matches are put into order (among those online: those of these that are), and `Total` is never more.",
        extra_json_schema=PRINTABLE,
    ),
]


class PageQuery(Struct, frozen=True):
    page: Number = 0
    pageSize: Size = DEFAULT_SIZE  # noqa: N815 - the wire's spelling
    limit: Limit | UnsetType = UNSET


class Paged(Struct, Generic[R]):
    """A page of records. `paged` encodes it."""

    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[R]


class Legacy(Struct, Generic[R]):
    """A page of records in the envelope of the POST lists. `legacy` encodes it."""

    total: PlainInt32
    Page: PlainInt32
    count: PlainInt32
    entries: list[R]


def paged(total: int, page: int, size: int, records: Sequence[bytes]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(records))
    return head + b",".join(records) + b"]}"


def legacy(total: int, page: int, records: Sequence[bytes]) -> bytes:
    head = b'{"total":%d,"Page":%d,"count":%d,"entries":[' % (total, page, len(records))
    return head + b",".join(records) + b"]}"


def array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"
