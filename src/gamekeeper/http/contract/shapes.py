"""JSON shapes that all rooms use: types of single values, error answers, and pages with their query parameters.

Of the types of values, `extra` is read by bodies.py and queries.py, and `extra_json_schema` by openapi.py.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.ground import wire
from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.ground.wire import PRINTABLE, Guid, Instant, PlainInt32, describe
from gamekeeper.http.server.query_values import (
    CHANGE_NUMBER,
    make_lenient_reader,
    read_end,
    read_lenient_direction,
    read_mail_cursor,
    read_start,
)

ZERO = "00000000-0000-0000-0000-000000000000"
STORABLE = {"pattern": "^[^\\x00-\\x1f\\x7f]*$"}
# a printable text that is read without the white space around it
STRIPPED = {"pattern": "^[\\s\\x1c-\\x1f\\x85]*[^\\x00-\\x1f\\x7f-\\x9f]*[\\s\\x1c-\\x1f\\x85]*$"}
Id = Annotated[Guid, Meta(extra={"problem": "must be an id", "blank": True})]  # an id in a query parameter
GameText = Annotated[
    str, Meta(max_length=255, extra={"is": "game_text"}, extra_json_schema=STORABLE)
]  # a text that a game server reports
# a new name of an account or player; its pattern is a setting
Name = Annotated[str, Meta(extra_json_schema={"format": "name"})]
Email = Annotated[str, Meta(extra_json_schema={"format": "email"})]
HIDDEN_SCHEMA = {"format": "password"}  # schema of passwords in the OpenAPI document: forms hide the typed value
PASSWORD_HASH_SCHEMA = {
    "pattern": "^[0-9A-Fa-f]{64}$",
    "description": "The SHA-256 of the password, in hex.",
    **HIDDEN_SCHEMA,
}
PasswordHash = Annotated[str, Meta(extra={"is": "password"}, extra_json_schema=PASSWORD_HASH_SCHEMA)]
Secret = Annotated[str, Meta(max_length=255, extra={"is": "secret"}, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)]
# a time as the engine's logs have it: UTC without an offset, and without a fraction that is zero
EngineTime = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?$"})
]
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
# An optional field that must not be null: null by mistake would mean a permanent ban, an empty slot or a report without
# AppliedSeq.
NEVER_NULL = Meta(extra={"never_null": True})
LongNatural = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Text = wire.Text
PlainInt64 = wire.PlainInt64
PlainDouble = wire.PlainDouble
VitalPair = Annotated[list[Int32], Meta(min_length=2, max_length=2, description="Health, mana.")]
FiveNumbers = Annotated[list[Int32], Meta(min_length=5, max_length=5)]
Stats = Annotated[FiveNumbers, describe("Attack, ability power, defense, magic resist, speed.")]
encode = msgspec.json.Encoder().encode
Printable = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]
Phrase = Annotated[str, Meta(extra={"strip": True}, extra_json_schema=STRIPPED)]
TIME = {"format": "date-time", "type": "string"}
END_DESCRIPTION = "A time without a fraction includes its whole second."

CURSOR_SCHEMA = {"pattern": f"^{CHANGE_NUMBER}-[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$", "type": "string"}


def describe_cursor(records: str) -> Meta:
    """Describe the position in a list at which the page before ended."""
    text = f"Older {records} than this position: `Next` of the previous page."
    return Meta(description=text, extra={"read": read_mail_cursor, "schema": CURSOR_SCHEMA})


def describe_start(text: str) -> Meta:
    """Describe the start of a time range, which is read as milliseconds."""
    return Meta(description=text, extra={"read": read_start, "schema": TIME})


def describe_end(text: str, more: str = "") -> Meta:
    """Describe the end of a time range, which is read as milliseconds. `more` follows the sentence about seconds."""
    return Meta(description=f"{text} {END_DESCRIPTION} {more}".rstrip(), extra={"read": read_end, "schema": TIME})


# format of a page of the audit log or security log → default limit and largest limit; larger values count as the latter
LIMITS = {"json": (50, 1_000), "csv": (1_000, 10_000)}


# Attributes of a shape say what its types cannot express. They are class variables of the shape:
# * TOGETHER: fields of which a body has all or none.
# * READ_ONLY: fields of our answers that strict bodies ignore, so that callers can send back a record they have read.
# * FURTHER: a body may have further fields, which are kept. Names nearly like those of the shape are still rejected,
#   except these.
# * MOST_ROWS: most records of a page.
# * SENT_TOO: bodies and answers have the shape.
# * CHOICE: the shapes of which a body has one, for the documents: name of a field, and its value → shape.


def list_together(shape: type[Struct]) -> Sequence[str]:
    return getattr(shape, "TOGETHER", ())


def list_read_only(shape: type[Struct]) -> Sequence[str]:
    return getattr(shape, "READ_ONLY", ())


def find_further(shape: type[Struct]) -> frozenset[str] | None:
    return getattr(shape, "FURTHER", None)


def is_sent_too(shape: type[Struct]) -> bool:
    return getattr(shape, "SENT_TOO", False)


def find_choice(shape: type[Struct]) -> tuple[str, Mapping[str, type[Struct]]] | None:
    return getattr(shape, "CHOICE", None)


def describe_together(shape: type[Struct]) -> dict[str, object]:
    """Return JSON Schema's `dependentRequired` for fields that a body has together; empty if the shape has none."""
    together = list_together(shape)
    optional = [each.name for each in msgspec.structs.fields(shape) if not each.required]
    needing = {field: [each for each in together if each != field] for field in optional}
    return {"dependentRequired": needing} if together else {}


class Error(Struct):
    Message: str
    Code: str
    RequestId: str


class LogInError(Error):
    """The error of a log-in, with the field that OAuth asks for. `encode_log_in_error` encodes it."""

    error: Literal["invalid_request", "invalid_grant", "unsupported_grant_type", "unauthorized_client", "mfa_required"]


class QuotaError(Error):
    """The refusal of a gift beyond a quota, with the end of the day."""

    EndsAt: Instant


class HeldError(Error):
    """The refusal of a change that waits for approval."""

    ApprovalId: str


class Held(Struct):
    """The answer instead of that of an operation whose change waits for approval."""

    Message: str
    Code: str
    ApprovalId: Guid


def encode_answer(answer: object) -> bytes:
    """Encode what a handler or a change answers, unless it is encoded already."""
    return answer if isinstance(answer, bytes) else encode(answer)


def describe_code(codes: Sequence[str]) -> dict[str, object]:
    """Return the schema of `Code`, with the codes that an operation can answer with."""
    return {"Code": {"type": "string", "enum": codes}}


def encode_log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})


R = TypeVar("R")
DEFAULT_SIZE = 5


class LegacyPage(Struct):
    page: Annotated[Natural, describe("Number of the page, from 0.")] = 0
    count: Annotated[Int32, describe(f"Records per page; 0 or less: {DEFAULT_SIZE}.")] = DEFAULT_SIZE


class SentPage(Struct):
    """The fields of `LegacyPage` that a body really has."""

    page: Natural | UnsetType = UNSET
    count: Int32 | UnsetType = UNSET


PageNumber = Annotated[Natural, describe("Number of the page, from 0. A page after the last one is empty.")]
PageSize = Annotated[Positive, describe("Records per page; larger values count as the server's maximum.")]
Limit = Annotated[Positive, describe("Largest number of records in the answer.")]
Direction = Annotated[Literal["Ascending", "Descending"], describe("Sort direction.")]
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


class SearchQuery(PageQuery, frozen=True):
    search: Search = ""
    sortBy: str = "name"  # noqa: N815 - the wire's spelling
    sortDirection: Direction = "Ascending"  # noqa: N815 - as above


class Paged(Struct, Generic[R]):
    """A page of records. `encode_paged` encodes it."""

    MOST_ROWS: ClassVar = MOST_PAGE_ROWS
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

    MOST_ROWS: ClassVar = MAX_ENGINE_RECORDS
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[R]
    Sort: str | None = None  # always null, but declared as nullable: client generators fail on null as the only type
    Extra: str | None = None


class SortedEnginePage(Struct, Generic[R]):
    """A page like EnginePage, of the list that says how it is sorted."""

    MOST_ROWS: ClassVar = MAX_ENGINE_RECORDS
    Total: PlainInt32
    Page: PlainInt32
    PageSize: PlainInt32
    Count: PlainInt32
    Values: list[R]
    Sort: list[SortKey]
    Extra: str | None = None


class Legacy(Struct, Generic[R]):
    """A page of records in the format of the POST lists. `encode_legacy` encodes it."""

    MOST_ROWS: ClassVar = MOST_PAGE_ROWS
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


def to_raw(stored: str | bytes | None) -> msgspec.Raw:
    return msgspec.Raw("null" if stored is None else stored)


def encode_array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"


class Sides(NamedTuple):
    """The types of `Before` and `After` of one kind of change.

    A side that is always null is declared as nullable: client generators fail on null as the only type.
    """

    before: object
    after: object


SIDES: dict[str, Sides] = {}  # kind of change → its sides; each room adds those of its kinds
