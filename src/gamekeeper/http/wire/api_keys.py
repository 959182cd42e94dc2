"""JSON shapes of API keys."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.permissions import PERMISSIONS
from gamekeeper.http.wire.scalars import PRINTABLE, Guid, Instant, PlainInt32, Positive, Secret, Text

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
KeyText = Annotated[str, Meta(description="The secret of the key; null in every answer after the first.")]
Minutes = Annotated[int, Meta(ge=0, le=MAX_GRACE_MINUTES, description="Minutes for which the old secret still works.")]


OwnerFilter = Annotated[
    str,
    Meta(
        description="Keys of this account, by name or id.",
        extra={"strip": True},
        extra_json_schema=PRINTABLE,
    ),
]


class KeysQuery(Struct, frozen=True):
    owner: OwnerFilter | UnsetType = UNSET


class CreateKey(Struct):
    """A new API key, with a role or permissions. What is left out is not limited."""

    Name: Text
    Permissions: KeyPermissions | UnsetType = UNSET
    Role: Text | UnsetType = UNSET
    ExpiresAt: Instant | UnsetType | None = UNSET
    Addresses: Networks | UnsetType | None = UNSET
    PerMinute: Positive | UnsetType | None = UNSET
    Items: ItemIds | UnsetType | None = UNSET
    MostPerRequest: Positive | UnsetType | None = UNSET
    MostPerDay: Positive | UnsetType | None = UNSET
    Servers: ServerNames | UnsetType | None = UNSET
    Replaces: Text | UnsetType | None = UNSET
    Owner: Text | UnsetType | None = UNSET


class ChangeKey(Struct):
    """What to change about an API key. What a request body leaves out stays as it is."""

    Name: Text | UnsetType = UNSET
    Owner: Text | UnsetType = UNSET
    Suspended: bool | UnsetType = UNSET


class RotateKey(Struct):
    GraceMinutes: Minutes = 0


class LookUpKey(Struct):
    Key: Secret


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


class WeakenedKey(Struct):
    """An API key that loses the permissions in `Lost`, because its owner loses them or can no longer log in."""

    Id: Guid
    Name: str
    Lost: list[str]
