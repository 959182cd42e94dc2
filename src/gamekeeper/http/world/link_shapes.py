"""JSON shapes of what game servers send and get: reports, the change feed, commands and deliveries."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.contract.shapes import (
    NEVER_NULL,
    PRINTABLE,
    Error,
    GameText,
    Guid,
    Instant,
    Int32,
    Limit,
    Long,
    LongNatural,
    Natural,
    PlainInt32,
    PlainInt64,
    Positive,
    Stats,
    Text,
    VitalPair,
    describe,
)
from gamekeeper.http.players.player_shapes import Bag, EquipmentSlots, ItemSlot, KnownSpell
from gamekeeper.http.players.variable_shapes import Variable
from gamekeeper.http.server.query_values import SERVER, read_server

APPLIED = describe("The game server has applied all changes of the feed up to this number.")
Receipt = Annotated[Annotated[LongNatural, APPLIED] | UnsetType, NEVER_NULL]


class Lease(Struct):
    Lease: Annotated[int, Meta(ge=1, le=3600), describe("Seconds from now until the game server counts as away.")]
    AppliedSeq: Receipt = UNSET


class Players(Struct):
    Players: Annotated[list[Guid], Meta(max_length=10_000), describe("Ids of the players.")]


class PutPlayer(Struct):
    """Fields of a player that a game server reports. One that is left out keeps its value."""

    READ_ONLY: ClassVar = ("Id", "ClassName", "MapName", "Online", "Rank")
    Name: GameText | UnsetType = UNSET
    InBank: bool | UnsetType = UNSET
    UserId: Guid | UnsetType = UNSET
    MaxVitals: VitalPair | UnsetType = UNSET
    Level: Positive | UnsetType = UNSET
    Exp: LongNatural | UnsetType = UNSET
    ExperienceToNextLevel: Long | UnsetType = UNSET
    ClassId: Guid | UnsetType = UNSET
    Gender: Annotated[int, Meta(ge=0, le=1)] | UnsetType = UNSET
    Vitals: VitalPair | UnsetType = UNSET
    BaseStats: Stats | UnsetType = UNSET
    StatPointAllocations: Stats | UnsetType = UNSET
    StatPoints: Int32 | UnsetType = UNSET
    Equipment: EquipmentSlots | UnsetType = UNSET
    MapId: Guid | UnsetType = UNSET
    X: Int32 | UnsetType = UNSET
    Y: Int32 | UnsetType = UNSET
    Z: Int32 | UnsetType = UNSET
    Dir: Int32 | UnsetType = UNSET
    Sprite: GameText | UnsetType = UNSET
    Face: GameText | UnsetType = UNSET
    Dead: bool | UnsetType = UNSET
    LastOnline: Instant | UnsetType | None = UNSET
    CreationDate: Instant | UnsetType = UNSET
    PlayTimeSeconds: LongNatural | UnsetType = UNSET
    Items: list[ItemSlot] | UnsetType = UNSET
    Bank: list[ItemSlot] | UnsetType = UNSET
    Bags: list[Bag] | UnsetType = UNSET
    Spells: list[KnownSpell] | UnsetType = UNSET
    Variables: Annotated[list[Variable], Meta(max_length=10_000)] | UnsetType = UNSET
    AppliedSeq: Receipt = UNSET


class PutPicture(Struct):
    Picture: Annotated[
        str,
        Meta(min_length=1, max_length=87_384),
        describe("A PNG or WebP file of at most 64 KiB and 512 x 512 pixels, without animation, as base64."),
    ]


class ItemPicture(Struct):
    """The picture of an item; `Hash` is null if it has none."""

    ItemId: Guid
    Hash: str | None


class Count(Struct):
    Count: PlainInt32


class ServerState(Struct):
    """The lease of a game server, and how many players are on it."""

    Server: str
    ExpiresAt: Instant
    Online: PlainInt32


class Online(Struct):
    Online: PlainInt32


Byte = Annotated[int, Meta(ge=0, le=255), NEVER_NULL]
ChatText = Annotated[str, Meta(extra_json_schema=PRINTABLE)]


class Warp(Struct):
    mapid: Annotated[Guid, describe("Id of the map.")] | None = None
    x: Annotated[Byte, describe("Column.")] = 0
    y: Annotated[Byte, describe("Row.")] = 0


class ChatColor(Struct):
    """A colour: alpha, red, green and blue, each from 0 to 255."""

    A: Byte = 0
    R: Byte = 0
    G: Byte = 0
    B: Byte = 0


class Chat(Struct, omit_defaults=True):
    Message: Annotated[ChatText, describe("The text.")] | None = None
    Color: ChatColor | None = None
    Target: Annotated[Text, describe("Name of a player that game clients attach to the message.")] | None = None


class EchoedChat(Struct):
    Message: str | None
    Color: ChatColor | None
    Target: str | None


class ChatSent(Struct):
    success: bool
    chatMessage: EchoedChat  # noqa: N815 - the engine's spelling


class DirectChatSent(Struct):
    success: bool
    lookupKey: str  # noqa: N815 - the engine's spelling
    chatMessage: EchoedChat  # noqa: N815 - the engine's spelling


class ProximityChatSent(Struct):
    success: bool
    mapId: Guid  # noqa: N815 - the engine's spelling
    chatMessage: EchoedChat  # noqa: N815 - the engine's spelling


MAX_ACKS = 1_000  # acknowledgements in one request


class Ack(Struct):
    """An acknowledgement of a command of the change feed."""

    Seq: LongNatural
    State: Literal["applied", "failed", "unknown"]
    Reason: GameText | None = None


class Acks(Struct):
    Acks: Annotated[list[Ack], Meta(max_length=MAX_ACKS), describe("Number and outcome of each command.")]


MAX_WAIT_SECONDS = 60  # longest time in seconds that a long poll of the change feed waits

AFTER_DESCRIPTION = "`Next` of the previous answer; 0: from the first change; now: only later changes."
After = Annotated[LongNatural | Literal["now"], Meta(description=AFTER_DESCRIPTION)]
WAIT_DESCRIPTION = (
    f"Seconds to wait for a change (long poll). Values over {MAX_WAIT_SECONDS} count as {MAX_WAIT_SECONDS}."
)
Wait = Annotated[Natural, Meta(description=WAIT_DESCRIPTION, extra={"cut": MAX_WAIT_SECONDS})]
Own = Annotated[bool, describe("Include changes that this account itself made over the game link.")]
Epoch = Annotated[
    Guid,
    Meta(
        description="`Epoch` of the previous answer. The request is rejected if the database was replaced since.",
        extra={"problem": "must be the Epoch of an earlier answer"},
    ),
]


FeedServer = Annotated[
    str,
    Meta(
        description="Name of your game server: leaves out commands for others, and tells when commands expire.",
        extra={"read": read_server},
        extra_json_schema={"pattern": f"^{SERVER}$"},
    ),
]


class FeedQuery(Struct, frozen=True):
    after: After = 0
    wait: Wait = 0
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 100
    own: Own = False
    epoch: Epoch | UnsetType = UNSET
    server: FeedServer | UnsetType = UNSET


class FeedChange(Struct):
    """A change of the feed. `Before` and `After` are JSON with the field names of the API."""

    Seq: PlainInt64
    At: Instant
    Kind: str
    PlayerId: Guid | None
    Before: msgspec.Raw
    After: msgspec.Raw
    By: str | None
    RequestId: str
    Server: str | UnsetType = UNSET  # this field and those after it: only of commands, with `server`
    ExpiresAt: Instant | UnsetType | None = UNSET
    Expired: bool | UnsetType = UNSET


class UnappliedError(Error):
    """The refusal of a report, with the changes that the game has not applied."""

    Changes: list[FeedChange]


class Changes(Struct):
    Changes: list[FeedChange]
    Next: PlainInt64
    Epoch: Guid
