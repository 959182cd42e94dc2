"""JSON shapes that all rooms use: types of single values, error answers, and pages with their query parameters.

Of the types of values, `extra` is read by bodies.py and queries.py, and `extra_json_schema` by openapi.py.
"""

from collections.abc import Sequence
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.server.query_values import make_lenient_reader, read_lenient_direction

ZERO = "00000000-0000-0000-0000-000000000000"
STORABLE = {"pattern": "^[^\\x00-\\x1f\\x7f]*$"}
PRINTABLE = {"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}
Guid = Annotated[str, Meta(extra={"is": "guid"}, extra_json_schema={"format": "uuid"})]
Id = Annotated[Guid, Meta(extra={"problem": "must be an id", "blank": True})]  # an id in a query parameter
Text = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]  # a text that people write
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
# ISO 8601 time with a UTC offset, such as 2026-01-31T09:00:00Z
Instant = Annotated[str, Meta(extra={"is": "instant"}, extra_json_schema={"format": "date-time"})]
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
# Integers in answers: the format tells client generators the width; no range is checked.
PlainInt32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
PlainInt64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
PlainDouble = Annotated[float, Meta(extra_json_schema={"format": "double"})]
VitalPair = Annotated[list[Int32], Meta(min_length=2, max_length=2, description="Health, mana.")]
FiveNumbers = Annotated[list[Int32], Meta(min_length=5, max_length=5)]
Stats = Annotated[FiveNumbers, Meta(description="Attack, ability power, defense, magic resist, speed.")]
encode = msgspec.json.Encoder().encode
Printable = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]


class Error(Struct):
    Message: str
    Code: str
    RequestId: str


class LogInError(Error):
    """The error of a log-in, with the field that OAuth asks for. `encode_log_in_error` encodes it."""

    error: Literal["invalid_request", "invalid_grant", "unsupported_grant_type", "unauthorized_client", "mfa_required"]


class QuotaError(Error):
    """The refusal of a gift beyond a quota, with the end of the day. `encode_quota_error` encodes it."""

    EndsAt: Instant


class HeldError(Error):
    """The refusal of a change that waits for approval. `encode_held_error` encodes it."""

    ApprovalId: str


def describe_code(codes: Sequence[str]) -> dict[str, object]:
    """Return the schema of `Code`, with the codes that an operation can answer with."""
    return {"Code": {"type": "string", "enum": codes}}


def encode_log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})


def encode_quota_error(ends_at: str, error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "EndsAt": ends_at})


def encode_held_error(approval_id: str, error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "ApprovalId": approval_id})


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
