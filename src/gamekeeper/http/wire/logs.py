"""JSON shapes of the logs of activity and trades: reports of game servers, and pages in the engine's format."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from gamekeeper.http.wire.items import DELETED
from gamekeeper.http.wire.lists import EngineQuery, LenientDirection
from gamekeeper.http.wire.scalars import ZERO, EngineTime, GameText, Guid, Id, Instant, Natural, PlainInt32, Stats

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
