"""The game's logs of activity and trades: game servers report them, staff read them."""

from collections.abc import Sequence
from typing import Literal, Unpack

import msgspec
from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import Direction, EnginePage, SortedEnginePage, build_page_query, iterate_pages

ZERO_ID = "00000000-0000-0000-0000-000000000000"
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


class ReportedActivity(Struct, rename="pascal"):
    """An entry of the activity log. Make `id` once and send the same one again: nothing is added twice."""

    id: str
    time_stamp: str
    action: ActionName
    user_id: str = ZERO_ID
    player_id: str | None = None
    peer: PeerName = "Client"
    ip: str | None = None
    meta: str | None = None


class TradeItem(Struct, rename="pascal"):
    item_id: str
    quantity: int
    bag_id: str | None = None
    stat_buffs: list[int] = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


class ReportedTrade(Struct, rename="pascal"):
    """One party's side of a trade; report one for each party, with the same `trade_id`."""

    id: str
    trade_id: str
    time_stamp: str
    user_id: str
    player_id: str
    target_id: str
    items: list[TradeItem]
    target_items: list[TradeItem]
    ip: str | None = None


class LogReceipt(Struct, rename="pascal"):
    """How many entries were added, were there already, or belong to erased accounts and were left out."""

    taken: int
    known: int
    erased: int


class Activity(Struct, rename="pascal"):
    id: str
    time_stamp: str
    user_id: str
    player_id: str
    action: str
    peer: str
    ip: str
    meta: str | None


class UsedAddress(Struct, rename="pascal"):
    """An address of an account; `other_users` are ids and names of accounts that used it too."""

    ip: str
    last_used: str
    other_users: dict[str, str]


class NamedTradeItem(Struct, rename="pascal"):
    bag_id: str | None
    item_id: str
    quantity: int
    stat_buffs: list[int]
    item_name: str = "ERR_DELETED"


class Trade(Struct, rename="pascal"):
    """A trade as one party saw it. Names are None if account or player were deleted."""

    id: str
    trade_id: str
    user_id: str
    player_id: str
    ip: str
    time_stamp: str
    target_id: str
    items: list[NamedTradeItem]
    target_items: list[NamedTradeItem]
    username: str | None
    player_name: str | None
    target_name: str | None


class NoEntry(Struct):
    """An entry of a log that no game reports: its list is always empty."""


class Logs:
    @operation("POST", "/api/link/v1/logs/activity")
    def report_activity(
        self, entries: Sequence[ReportedActivity], **options: Unpack[WriteOptions]
    ) -> Payload[LogReceipt]:
        """Report activity of accounts and players, such as log-ins.

        entries: at most 1000. One bad entry refuses them all.
        Returns how many were added, known or erased.
        Raises MissingField, BadField, UnknownField, RoleMissing.
        """
        return Payload(LogReceipt, body={"Entries": list(entries)})

    @operation("POST", "/api/link/v1/logs/trades")
    def report_trades(self, entries: Sequence[ReportedTrade], **options: Unpack[WriteOptions]) -> Payload[LogReceipt]:
        """Report trades between players, one entry for each party.

        entries: at most 1000. One bad entry refuses them all.
        Returns how many were added, known or erased.
        Raises MissingField, BadField, UnknownField, RoleMissing.
        """
        return Payload(LogReceipt, body={"Entries": list(entries)})

    @operation("GET", "/api/v1/logs/user/{user_id}/activity")
    def list_activity_of_user(
        self, user_id: str, page: int = 0, *, page_size: int | None = None, sort_direction: Direction | None = None
    ) -> Payload[EnginePage[Activity]]:
        """List one page of the activity of an account, oldest first.

        user_id: id of the account.
        Returns the page, with the total number of entries.
        Raises PermissionMissing.
        """
        query = build_page_query(page, page_size, sort_direction=sort_direction)
        return Payload(EnginePage[Activity], query=query)

    iterate_activity_of_user = iterate_pages(list_activity_of_user, "Iterate over the activity of an account.")

    @operation("GET", "/api/v1/logs/player/{player_id}/activity")
    def list_activity_of_player(
        self, player_id: str, page: int = 0, *, page_size: int | None = None, sort_direction: Direction | None = None
    ) -> Payload[EnginePage[Activity]]:
        """List one page of the activity of a player, oldest first.

        player_id: id of the player.
        Returns the page, with the total number of entries.
        Raises PermissionMissing.
        """
        query = build_page_query(page, page_size, sort_direction=sort_direction)
        return Payload(EnginePage[Activity], query=query)

    iterate_activity_of_player = iterate_pages(list_activity_of_player, "Iterate over the activity of a player.")

    @operation("GET", "/api/v1/logs/user/{user_id}/ip")
    def list_addresses_of_user(
        self, user_id: str, page: int = 0, *, page_size: int | None = None
    ) -> Payload[EnginePage[UsedAddress]]:
        """List one page of the addresses of an account, the last used first.

        user_id: id of the account.
        Returns the page; without the permission addresses.read it is empty.
        Raises PermissionMissing.
        """
        return Payload(EnginePage[UsedAddress], query=build_page_query(page, page_size))

    iterate_addresses_of_user = iterate_pages(list_addresses_of_user, "Iterate over the addresses of an account.")

    @operation("GET", "/api/v1/logs/trade")
    def list_trades(
        self,
        page: int = 0,
        *,
        page_size: int | None = None,
        user_id: str | None = None,
        player_id: str | None = None,
        sort_direction: Direction | None = None,
    ) -> Payload[SortedEnginePage[Trade]]:
        """List one page of trades, oldest first; without an account or a player each trade once.

        user_id: only trades of this account.
        player_id: only trades of this player.
        Returns the page, with the total number of trades.
        Raises BadField, PermissionMissing.
        """
        query = build_page_query(page, page_size, sort_direction=sort_direction)
        return Payload(SortedEnginePage[Trade], query={**query, "userId": user_id, "playerId": player_id})

    iterate_trades = iterate_pages(list_trades, "Iterate over trades.")

    @operation("GET", "/api/v1/logs/chat")
    def list_chat(self, page: int = 0, *, page_size: int | None = None) -> Payload[EnginePage[NoEntry]]:
        """List one page of chat messages: always empty, because no game reports them.

        Returns the page.
        Raises PermissionMissing.
        """
        return Payload(EnginePage[NoEntry], query=build_page_query(page, page_size))

    @operation("GET", "/api/v1/logs/pm")
    def list_private_messages(self, page: int = 0, *, page_size: int | None = None) -> Payload[EnginePage[NoEntry]]:
        """List one page of private messages: always empty, because no game reports them.

        Returns the page.
        Raises PermissionMissing.
        """
        return Payload(EnginePage[NoEntry], query=build_page_query(page, page_size))

    @operation("GET", "/api/v1/logs/guild/{guild_id}/activity")
    def list_activity_of_guild(
        self, guild_id: str, page: int = 0, *, page_size: int | None = None
    ) -> Payload[EnginePage[NoEntry]]:
        """List one page of the activity of a guild: always empty, because no game reports it.

        guild_id: id of the guild.
        Returns the page.
        Raises PermissionMissing.
        """
        return Payload(EnginePage[NoEntry], query=build_page_query(page, page_size))
