"""JSON shapes of the game's logs: reported in batches, and read in pages in the engine's format."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from gamekeeper.http.contract.shapes import (
    ZERO,
    EngineQuery,
    EngineTime,
    GameText,
    Guid,
    Id,
    Instant,
    LenientDirection,
    Natural,
    PlainInt32,
    Stats,
    describe,
)
from gamekeeper.http.players.player_shapes import DELETED

MAX_ENTRIES = 1000  # entries of one batch
ENTRIES_DESCRIPTION = f"At most {MAX_ENTRIES}. One bad entry refuses them all."
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
    """An entry of the activity log. One that is sent again with the same `Id` is not added twice."""

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
    """One party's side of a trade. Report one for each party, with the same `TradeId`."""

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
    Entries: Annotated[list[ReportedActivity], Meta(max_length=MAX_ENTRIES, description=ENTRIES_DESCRIPTION)]


class TradeBatch(Struct):
    Entries: Annotated[list[ReportedTrade], Meta(max_length=MAX_ENTRIES, description=ENTRIES_DESCRIPTION)]


class LogQuery(EngineQuery, frozen=True):
    sortDirection: LenientDirection = "Ascending"  # noqa: N815 - the wire's spelling


LogUser = Annotated[Id, describe("Trades of this account.")]
LogPlayer = Annotated[Id, describe("Trades of this player.")]


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


class NamedTradeItem(Struct):
    """An item of a trade with its name in the catalogue; `ERR_DELETED` for an unknown item."""

    BagId: Guid | None
    ItemId: Guid
    Quantity: PlainInt32
    StatBuffs: Stats
    ItemName: str = DELETED


class Trade(Struct):
    """A trade as one party saw it. Names are null if the account or player was deleted."""

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
