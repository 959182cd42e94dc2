"""JSON shapes of log-in and tokens, API keys, second factors without their secrets, and the security log."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.access.permissions import PERMISSIONS
from gamekeeper.game.access.security_log import KINDS
from gamekeeper.http.contract.shapes import (
    HIDDEN_SCHEMA,
    LIMITS,
    PRINTABLE,
    STRIPPED,
    Guid,
    Instant,
    PasswordHash,
    Phrase,
    PlainInt32,
    Positive,
    Secret,
    Text,
    describe,
    describe_cursor,
    describe_end,
    describe_start,
    encode,
)
from gamekeeper.http.server import query_values
from gamekeeper.store.audit.history import NEVER


class PasswordGrant(Struct):
    """A log-in by password, for the OpenAPI documents. Requests are decoded as `LogIn`, which allows OAuth's errors."""

    grant_type: Literal["password"]
    username: Annotated[str, Meta(min_length=1, extra_json_schema=PRINTABLE)]
    password: PasswordHash
    scope: Literal["", "read"] = ""
    otp: Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)] = ""


class RefreshGrant(Struct):
    """A log-in by refresh token, for the OpenAPI documents."""

    grant_type: Literal["refresh_token"]
    refresh_token: Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema=PRINTABLE | HIDDEN_SCHEMA)]


class LogIn(Struct):
    CHOICE: ClassVar = ("grant_type", {"password": PasswordGrant, "refresh_token": RefreshGrant})
    grant_type: str = ""
    username: str = ""
    password: Secret = ""
    refresh_token: Secret = ""
    scope: str = ""
    otp: Secret = ""


class Token(Struct, rename={"issued": ".issued", "expires": ".expires"}):
    """An access token, with a refresh token if it can be renewed."""

    access_token: str
    token_type: str
    expires_in: PlainInt32
    refresh_token: str | None
    issued: str
    expires: str


class Revoked(Struct, omit_defaults=True):
    username: str
    tokenId: str | None = None  # noqa: N815 - the wire's spelling


class RevokedAccount(Struct):
    """The answer for an account whose tokens were all revoked: `Revoked` without a token."""

    username: str


class RevokedToken(Struct):
    """The answer for one token that was revoked by its id alone. `encode_revoked_token` encodes it."""

    TokenId: str


def encode_revoked_token(token_id: str) -> bytes:
    """Encode the answer as the engine's 0.7.1 gives it, with `Username` null.

    The documents leave that field out: client generators fail on names that differ only in their case.
    """
    return encode({"TokenId": token_id, "Username": None})


def add_token_id(answer: bytes, token_id: str) -> bytes:
    """Add the id of the revoked token to the answer."""
    return encode({**msgspec.json.decode(answer, type=dict[str, msgspec.Raw]), "tokenId": token_id})


MAX_LISTED = 100
MAX_GRACE_MINUTES = 30 * 24 * 60
KeyPermissions = Annotated[
    list[Text], Meta(max_length=MAX_LISTED, description=f"Names of permissions: {', '.join(PERMISSIONS)}.")
]
Networks = Annotated[
    list[Text], Meta(max_length=MAX_LISTED, description="Addresses and networks, such as 192.0.2.0/24.")
]
ItemIds = Annotated[list[Guid], Meta(max_length=1000, description="Ids of the items that the key may give.")]
ServerNames = Annotated[
    list[Text], Meta(max_length=MAX_LISTED, description="Names of the game servers that the key may speak for.")
]
KeyText = Annotated[str, describe("The secret of the key; null in every answer after the first.")]
Minutes = Annotated[int, Meta(ge=0, le=MAX_GRACE_MINUTES, description="Minutes for which the old secret still works.")]


OwnerFilter = Annotated[
    str,
    Meta(
        description="Keys of this account, by name or id.",
        extra={"strip": True},
        extra_json_schema=STRIPPED,
    ),
]


class KeysQuery(Struct, frozen=True):
    owner: OwnerFilter | UnsetType = UNSET


class CreateKey(Struct):
    """A new API key, with a role or permissions. What is left out is not limited."""

    Name: Annotated[Text, describe("What the key is for.")]
    Permissions: KeyPermissions | UnsetType = UNSET
    Role: Annotated[Text, describe("Name of its role, instead of permissions.")] | UnsetType = UNSET
    ExpiresAt: Annotated[Instant, describe("Time at which it stops working.")] | UnsetType | None = UNSET
    Addresses: Networks | UnsetType | None = UNSET
    PerMinute: Annotated[Positive, describe("Requests per minute for each server process.")] | UnsetType | None = UNSET
    Items: ItemIds | UnsetType | None = UNSET
    MostPerRequest: Annotated[Positive, describe("Most of an item in one gift.")] | UnsetType | None = UNSET
    MostPerDay: Annotated[Positive, describe("Most of an item on one UTC day.")] | UnsetType | None = UNSET
    Servers: ServerNames | UnsetType | None = UNSET
    Replaces: (
        Annotated[Text, describe("Id of a key, or name or id of an account, whose idempotency keys it takes over.")]
        | UnsetType
        | None
    ) = UNSET
    Owner: Annotated[Text, describe("Name or id of its owner; default your account.")] | UnsetType | None = UNSET


class ChangeKey(Struct):
    """What to change about an API key. What a request body leaves out stays as it is."""

    Name: Annotated[Text, describe("What the key is for.")] | UnsetType = UNSET
    Owner: Annotated[Text, describe("Name or id of its new owner.")] | UnsetType = UNSET
    Suspended: Annotated[bool, describe("True: it stops working; false: it works again.")] | UnsetType = UNSET


class RotateKey(Struct):
    GraceMinutes: Minutes = 0


class LookUpKey(Struct):
    Key: Annotated[Secret, describe("Secret of the key.")]


class KeyRecord(Struct):
    """An API key without its secret. `Effective` has the permissions that it has now, limited by its owner's.

    `CreatedBy`: id of the account that created it; null: the command line. `RotatedBy`: id of the account that made its
    present secret; null: the key was not rotated, or the command line rotated it.
    """

    Id: Guid
    Name: str
    OwnerId: Guid
    Owner: str
    Role: str | None
    Permissions: list[str]
    Effective: list[str]
    ExpiresAt: Instant | None
    Addresses: list[str] | None
    PerMinute: PlainInt32 | None
    Items: list[Guid] | None
    MostPerRequest: PlainInt32 | None
    MostPerDay: PlainInt32 | None
    Servers: list[str] | None
    CreatedAt: Instant
    CreatedBy: Guid | None
    RotatedBy: Guid | None
    LastUsedAt: Instant | None
    LastUsedFrom: str | None
    OldTextEndsAt: Instant | None
    SuspendedAt: Instant | None
    RevokedAt: Instant | None
    Active: bool


class IssuedKey(KeyRecord):
    """A new or rotated API key. `Note` says what to do if `Key` is null."""

    Key: KeyText | None
    Note: str | None


class FoundKey(KeyRecord):
    """The API key that a secret belongs to; `TextActive` says whether the secret still works."""

    TextActive: bool


class KeyList(Struct):
    Keys: list[KeyRecord]


class SecondFactor(Struct):
    """A second factor of an account. `Kind`: totp or passkey."""

    Kind: str
    Name: str
    AddedAt: Instant
    LastUsed: Instant | None


class SecondFactorList(Struct):
    Id: Guid
    Name: str
    SecondFactors: list[SecondFactor]
    RecoveryCodesLeft: PlainInt32


EventsBefore = Annotated[query_values.MailCursor, describe_cursor("events")]
EventUser = Annotated[Phrase, describe("Events about this account, by name or id.")]
EventKind = Annotated[
    str,
    Meta(
        description="Events of this kind.",
        extra={"read": query_values.read_event_kind, "strip": True},
        extra_json_schema={"enum": list(KINDS)},
    ),
]
EventsSince = Annotated[int, describe_start("Events at or after this time.")]
EventsTo = Annotated[int, describe_end("Events up to this time.")]
EventFormat = Annotated[Literal["json", "csv"], describe("`csv`: a table in UTF-8; the header `X-Next` is its `Next`.")]


EventLimit = Annotated[
    Positive,
    Meta(
        description="Largest number of events: default {:,}, at most {:,}; with `format=csv` default {:,}, at most "
        "{:,}.".format(*LIMITS["json"], *LIMITS["csv"])
    ),
]


class SecurityQuery(Struct, frozen=True, rename={"since": "from"}):
    user: EventUser | UnsetType = UNSET
    kind: EventKind | UnsetType = UNSET
    since: EventsSince = 0
    to: EventsTo = NEVER
    before: EventsBefore = query_values.START
    limit: EventLimit | UnsetType = UNSET
    format: EventFormat = "json"


class EventDetails(Struct):
    """Details of an event; each kind has some of these fields."""

    Count: PlainInt32 | UnsetType = UNSET
    Session: bool | UnsetType = UNSET
    Sessions: bool | UnsetType = UNSET
    ReadOnly: bool | UnsetType = UNSET
    SecondFactor: bool | UnsetType = UNSET
    By: str | UnsetType = UNSET
    Given: list[str] | UnsetType = UNSET
    Taken: list[str] | UnsetType = UNSET
    Before: list[str] | UnsetType = UNSET
    After: list[str] | UnsetType = UNSET
    Role: str | UnsetType = UNSET
    Added: list[str] | UnsetType = UNSET
    Removed: list[str] | UnsetType = UNSET
    Deleted: bool | UnsetType = UNSET
    Changed: list[str] | UnsetType = UNSET
    ApprovalId: Guid | UnsetType = UNSET
    Rule: str | UnsetType = UNSET
    Kept: list[str] | UnsetType = UNSET


class SecurityEvent(Struct):
    Id: Guid
    At: Instant
    Kind: str
    UserId: Guid | None
    User: str | None
    ActorId: Guid | None
    By: str | None
    Address: str | None
    Browser: str | None
    CredentialId: Guid | None
    Details: EventDetails | None


class SecurityEvents(Struct):
    Events: list[SecurityEvent]
    Next: str | None
