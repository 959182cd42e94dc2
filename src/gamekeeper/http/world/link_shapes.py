"""JSON shapes of what game servers send and get: reports, the change feed, commands, deliveries and logs.

Logs are reported in batches, and read in pages in the engine's format.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.contract.shapes import (
    NEVER_NULL,
    PRINTABLE,
    ZERO,
    EngineQuery,
    EngineTime,
    Error,
    GameText,
    Guid,
    Id,
    Instant,
    Int32,
    LenientDirection,
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
    encode,
)
from gamekeeper.http.players.player_shapes import DELETED, Bag, EquipmentSlots, ItemSlot, KnownSpell
from gamekeeper.http.players.variable_shapes import Variable
from gamekeeper.http.server.query_values import SERVER, read_server

Receipt = Annotated[LongNatural | UnsetType, NEVER_NULL]  # number of the last change that was applied


class Lease(Struct):
    Lease: Annotated[int, Meta(ge=1, le=3600)]
    AppliedSeq: Receipt = UNSET


class Players(Struct):
    Players: Annotated[list[Guid], Meta(max_length=10_000)]


class PutPlayer(Struct):
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
    Picture: Annotated[str, Meta(min_length=1, max_length=87_384)]  # base64 of at most 64 KiB


class ItemPicture(Struct):
    ItemId: Guid
    Hash: str | None


class Count(Struct):
    Count: PlainInt32


class ServerState(Struct):
    Server: str
    ExpiresAt: Instant
    Online: PlainInt32


class Online(Struct):
    Online: PlainInt32


Byte = Annotated[int, Meta(ge=0, le=255), NEVER_NULL]
ChatText = Annotated[str, Meta(extra_json_schema=PRINTABLE)]


class Warp(Struct):
    mapid: Guid | None = None
    x: Byte = 0
    y: Byte = 0


class ChatColor(Struct):
    A: Byte = 0
    R: Byte = 0
    G: Byte = 0
    B: Byte = 0


class Chat(Struct, omit_defaults=True):
    Message: ChatText | None = None
    Color: ChatColor | None = None
    Target: Text | None = None


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
    Seq: LongNatural
    State: Literal["applied", "failed", "unknown"]
    Reason: GameText | None = None


class Acks(Struct):
    Acks: Annotated[list[Ack], Meta(max_length=MAX_ACKS)]


class StandingAck(Struct):
    Seq: PlainInt64
    State: str


class StandingAcks(Struct):
    Acks: list[StandingAck]


MAX_WAIT_SECONDS = 60  # longest time in seconds that a long poll of the change feed waits

AFTER_DESCRIPTION = "`Next` of the previous answer; 0: from the first change; now: only later changes."
After = Annotated[LongNatural | Literal["now"], Meta(description=AFTER_DESCRIPTION)]
WAIT_DESCRIPTION = (
    f"Seconds to wait for a change (long poll). Values over {MAX_WAIT_SECONDS} count as {MAX_WAIT_SECONDS}."
)
Wait = Annotated[Natural, Meta(description=WAIT_DESCRIPTION, extra={"cut": MAX_WAIT_SECONDS})]
Own = Annotated[bool, Meta(description="Include changes that this account itself made over the game link.")]
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
    """The refusal of a report, with the changes that the game has not applied. `encode_unapplied_error` encodes it."""

    Changes: list[FeedChange]


class Changes(Struct):
    Changes: list[FeedChange]
    Next: PlainInt64
    Epoch: Guid


def encode_unapplied_error(changes: list[FeedChange], error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "Changes": changes})


MAX_ENTRIES = 1000  # entries of one batch
MAX_ITEMS = 1000  # items of one side of a trade
# the engine's actions, of all its versions
ActionName = Literal[
    "Create",
    "Delete",
    "PasswordRecoveryAttempt",
    "PasswordRecoveryDispatched",
    "PasswordChanged",
    "TwoFactorAdd",
    "TwoFactorRemove",
    "TwoFactorSuccess",
    "TwoFactorFailure",
    "TwoFactorTimeout",
    "Login",
    "FailedLogin",
    "Logout",
    "DisconnectLogout",
    "DisconnectTimeout",
    "DisconnectBan",
    "DisconnectBanFail",
    "DisconnectKick",
    "DisconnectKickFail",
    "DisconnectDatabaseFailure",
    "Kill",
    "KillFail",
    "Mute",
    "MuteFail",
    "CreatePlayer",
    "DeletePlayer",
    "SelectPlayer",
    "SwitchPlayer",
    "NameChange",
]
PeerName = Literal["Client", "Editor"]


class ReportedActivity(Struct):
    Id: Guid
    TimeStamp: Instant
    Action: ActionName
    UserId: Guid = ZERO
    PlayerId: Guid | None = None
    Peer: PeerName = "Client"
    Ip: GameText | None = None
    Meta: GameText | None = None


class TradeItem(Struct):
    ItemId: Guid
    Quantity: Natural
    BagId: Guid | None = None
    StatBuffs: Stats = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


class ReportedTrade(Struct):
    Id: Guid
    TradeId: Guid
    TimeStamp: Instant
    UserId: Guid
    PlayerId: Guid
    TargetId: Guid
    Items: Annotated[list[TradeItem], Meta(max_length=MAX_ITEMS)]
    TargetItems: Annotated[list[TradeItem], Meta(max_length=MAX_ITEMS)]
    Ip: GameText | None = None


class ActivityBatch(Struct):
    Entries: Annotated[list[ReportedActivity], Meta(max_length=MAX_ENTRIES)]


class TradeBatch(Struct):
    Entries: Annotated[list[ReportedTrade], Meta(max_length=MAX_ENTRIES)]


class LogReceipt(Struct):
    Taken: PlainInt32
    Known: PlainInt32
    Erased: PlainInt32


class LogQuery(EngineQuery, frozen=True):
    sortDirection: LenientDirection = "Ascending"  # noqa: N815 - the wire's spelling


LogUser = Annotated[Id, Meta(description="Trades of this account.")]
LogPlayer = Annotated[Id, Meta(description="Trades of this player.")]


class TradeQuery(LogQuery, frozen=True):
    userId: LogUser = ZERO  # noqa: N815 - the wire's spelling
    playerId: LogPlayer = ZERO  # noqa: N815 - the wire's spelling


class Activity(Struct):
    Id: Guid
    TimeStamp: EngineTime
    UserId: Guid
    PlayerId: Guid
    Action: str
    Peer: str
    Ip: str
    Meta: str | None


class UsedAddress(Struct):
    Ip: str
    LastUsed: EngineTime
    OtherUsers: dict[str, str]


class NamedTradeItem(Struct):
    """An item of a trade with its name in the catalogue; `ERR_DELETED` for an unknown item."""

    BagId: Guid | None
    ItemId: Guid
    Quantity: PlainInt32
    StatBuffs: Stats
    ItemName: str = DELETED


class Trade(Struct):
    Id: Guid
    TradeId: Guid
    UserId: Guid
    PlayerId: Guid
    Ip: str
    TimeStamp: EngineTime
    TargetId: Guid
    Items: list[NamedTradeItem]
    TargetItems: list[NamedTradeItem]
    Username: str | None
    PlayerName: str | None
    TargetName: str | None


class NoEntry(Struct):
    """An entry of a log that no game reports: its list is always empty."""
