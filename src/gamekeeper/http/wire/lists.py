"""Pages of records, and the query parameters that select a page."""

from collections.abc import Sequence
from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.query_values import make_lenient_reader, read_lenient_direction
from gamekeeper.http.wire.scalars import PRINTABLE, Int32, Natural, PlainInt32, Positive, encode

R = TypeVar("R")
DEFAULT_SIZE = 5


class LegacyPage(Struct):
    page: Natural = 0
    count: Annotated[Int32, Meta(description=f"Records per page; 0 or less: {DEFAULT_SIZE}.")] = DEFAULT_SIZE


class SentPage(Struct):
    """The fields of `LegacyPage` that a body really has."""

    page: Natural | UnsetType = UNSET
    count: Int32 | UnsetType = UNSET


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


DEFAULT_VARIABLES = 10  # variables of the server per page, as in the engine's newest version
MAX_ENGINE_RECORDS = 100  # records per page of the engine's lists of guilds and logs, at most
# Query parameters of the engine's lists of guilds and logs. Like the engine, they accept any text: a number that is out
# of range counts as the nearest one, and a text that is no number as the default.
LenientPage = Annotated[
    Natural, Meta(description="Number of the page, from 0.", extra={"read": make_lenient_reader(0, 0, 2**31 - 1)})
]
LenientSize = Annotated[
    Natural,
    Meta(
        description=f"Records per page, from {DEFAULT_SIZE} to {MAX_ENGINE_RECORDS}.",
        extra={"read": make_lenient_reader(DEFAULT_SIZE, DEFAULT_SIZE, MAX_ENGINE_RECORDS)},
    ),
]
LenientLimit = Annotated[
    Natural,
    Meta(
        description="Largest number of records in the answer.",
        extra={"read": make_lenient_reader(MAX_ENGINE_RECORDS, 1, MAX_ENGINE_RECORDS)},
    ),
]
LenientDirection = Annotated[
    Literal["Ascending", "Descending"],
    Meta(description="Sort direction; 1 is `Descending`.", extra={"read": read_lenient_direction}),
]


class EngineQuery(Struct, frozen=True):
    page: LenientPage = 0
    pageSize: LenientSize = DEFAULT_SIZE  # noqa: N815 - the wire's spelling
    limit: LenientLimit = MAX_ENGINE_RECORDS


class VariableQuery(EngineQuery, frozen=True):
    pageSize: Annotated[  # noqa: N815 - the wire's spelling
        Natural,
        Meta(
            description=f"Records per page, from {DEFAULT_SIZE} to {MAX_ENGINE_RECORDS}.",
            extra={"read": make_lenient_reader(DEFAULT_VARIABLES, DEFAULT_SIZE, MAX_ENGINE_RECORDS)},
        ),
    ] = DEFAULT_VARIABLES


class LegacyQuery(Struct, frozen=True):
    """The fields of `LegacyPage` as query parameters, for lists that clients also read with GET."""

    page: LenientPage = 0
    count: Annotated[
        Natural,
        Meta(
            description=f"Records per page; 0: {DEFAULT_SIZE}.",
            extra={"read": make_lenient_reader(DEFAULT_SIZE, 0, 2**31 - 1)},
        ),
    ] = DEFAULT_SIZE


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


class SortKey(Struct):
    By: str
    Direction: PlainInt32


class EnginePage(Struct, Generic[R]):
    """A page of records of the engine's lists of guilds and logs. `encode_engine_page` encodes it."""

    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[R]
    Sort: str | None = None  # always null, but declared as nullable: client generators fail on null as the only type
    Extra: str | None = None


class SortedEnginePage(Struct, Generic[R]):
    """A page like EnginePage, of the list that says how it is sorted."""

    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[R]
    Sort: list[SortKey]
    Extra: str | None = None


class Legacy(Struct, Generic[R]):
    """A page of records in the format of the POST lists. `encode_legacy` encodes it."""

    total: PlainInt32
    Page: PlainInt32
    count: PlainInt32
    entries: list[R]


def encode_paged(total: int, page: int, size: int, records: Sequence[bytes]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(records))
    return b"".join((head, b",".join(records), b"]}"))


def encode_engine_page(
    total: int, page: int, size: int, records: Sequence[bytes], sort: Sequence[SortKey] | None = None
) -> bytes:
    ending = b',"Sort":%b,"Extra":null}' % encode(sort)
    return encode_paged(total, page, size, records)[:-1] + ending


def encode_legacy(total: int, page: int, records: Sequence[bytes]) -> bytes:
    head = b'{"total":%d,"Page":%d,"count":%d,"entries":[' % (total, page, len(records))
    return b"".join((head, b",".join(records), b"]}"))


def encode_array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"
