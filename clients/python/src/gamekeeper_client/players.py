"""Players: list and rank them, read one, rename or delete it, set its level and class."""

from typing import Literal, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import Direction, LegacyPage, Page, build_page_query, iterate_cursor, iterate_pages

PlayerSort = Literal["name", "level"]


class Player(Struct, rename="pascal"):
    name: str
    in_bank: bool
    user_id: str
    max_vitals: list[int]
    id: str
    level: int
    exp: int
    experience_to_next_level: int
    class_id: str
    gender: int
    vitals: list[int]
    base_stats: list[int]
    stat_point_allocations: list[int]
    stat_points: int
    equipment: list[int]
    map_id: str
    x: int
    y: int
    z: int
    dir: int
    sprite: str
    face: str
    dead: bool
    creation_date: str
    play_time_seconds: int
    class_name: str
    map_name: str
    online: bool
    last_online: str | None


class RankedPlayer(Player, rename="pascal", kw_only=True):
    rank: int


class Rank(Struct, rename="pascal"):
    rank: int
    of: int
    player: Player
    around: list[RankedPlayer]


FilterSort = Literal["name", "level", "seen", "quantity"]


class FilteredPlayers(Struct, rename="pascal"):
    total: int | None
    searched: int
    sort_by: str
    sort_direction: str
    next: str | None
    values: list[Player]


class Players:
    @operation("GET", "/api/v1/players")
    def list_players(
        self,
        page: int = 0,
        *,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: PlayerSort | None = None,
        sort_direction: Direction | None = None,
    ) -> Payload[Page[Player]]:
        """List one page of all players, by name.

        Returns the page, with the total number of players.
        Raises BadField, SearchNotReady, TooManyLongReads, PermissionMissing.
        """
        return Payload(Page[Player], query=build_page_query(page, page_size, search, sort_by, sort_direction))

    iterate_players = iterate_pages(list_players, "Iterate over all players, by name.")

    @operation("GET", "/api/keeper/v1/players")
    def filter_players(
        self,
        cursor: str | None = None,
        *,
        class_id: str | None = None,
        map_id: str | None = None,
        level_from: int | None = None,
        level_to: int | None = None,
        seen_from: str | None = None,
        seen_to: str | None = None,
        banned: bool | None = None,
        online: bool | None = None,
        item_id: str | None = None,
        search: str | None = None,
        sort_by: FilterSort | None = None,
        sort_direction: Direction | None = None,
        page: int | None = None,
        page_size: int | None = None,
    ) -> Payload[FilteredPlayers]:
        """List one page of the players that match a filter.

        cursor: `next` of the page before.
        class_id: only players of this class.
        map_id: only players on this map.
        level_from: only players of this level or a higher one.
        level_to: only players of this level or a lower one.
        seen_from: only players who were online at this time or later.
        seen_to: only players who were last online at this time or before.
        banned: only players whose account is banned, or is not; needs `users.query`.
        online: only players who are online, or are not.
        item_id: only players who have this item.
        search: only players whose name contains this text.
        sort_by: quantity sorts by the number of the item.
        page: number of the page, where `total` is known.
        Returns the page. A `total` of None is not known; any page can be short or empty, and the last has no `next`.
        Raises BadField, SearchNotReady, TooManyLongReads, RoleMissing, PermissionMissing.
        """
        query = {
            "cursor": cursor,
            "classId": class_id,
            "mapId": map_id,
            "levelFrom": level_from,
            "levelTo": level_to,
            "seenFrom": seen_from,
            "seenTo": seen_to,
            "banned": banned,
            "online": online,
            "itemId": item_id,
            "search": search,
            "sortBy": sort_by,
            "sortDirection": sort_direction,
            "page": page,
            "pageSize": page_size,
        }
        return Payload(FilteredPlayers, query=query)

    iterate_filtered_players = iterate_cursor(
        filter_players,
        Player,
        lambda found: found.values,
        "Iterate over the players that match a filter.",
        position="cursor",
        size="page_size",
    )

    @operation("GET", "/api/v1/players/rank")
    def list_ranking(
        self, page: int = 0, *, page_size: int | None = None, sort_direction: Direction = "Descending"
    ) -> Payload[Page[Player]]:
        """List one page of all players, by level and experience.

        sort_direction: Descending lists the highest level first.
        Returns the page, with the total number of players.
        Raises BadField, PermissionMissing.
        """
        return Payload(Page[Player], query=build_page_query(page, page_size, sort_direction=sort_direction))

    iterate_ranking = iterate_pages(list_ranking, "Iterate over all players, by level and experience.")

    @operation("GET", "/api/v1/players/online")
    def list_online_players(
        self,
        page: int = 0,
        *,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: PlayerSort | None = None,
        sort_direction: Direction | None = None,
    ) -> Payload[Page[Player]]:
        """List one page of the players who are online, by name.

        Returns the page, with the total number of players online.
        Raises BadField, SearchNotReady, TooManyLongReads, PermissionMissing.
        """
        return Payload(Page[Player], query=build_page_query(page, page_size, search, sort_by, sort_direction))

    iterate_online_players = iterate_pages(list_online_players, "Iterate over the players who are online, by name.")

    @operation("GET", "/api/v1/players/online/count")
    def count_online_players(self) -> Payload[int]:
        """Count the players who are online.

        Returns the number.
        """
        return Payload(int, field="onlineCount")

    @operation("POST", "/api/v1/players")
    def list_players_legacy(self, page: int = 0, count: int = 5) -> Payload[LegacyPage[Player]]:
        """List players by name in the deprecated form; use `list_players`.

        count: records per page.
        Returns the page, with the total number of players.
        Raises BadField, PermissionMissing.
        """
        return Payload(LegacyPage[Player], body={"page": page, "count": count})

    @operation("POST", "/api/v1/players/online")
    def list_online_players_legacy(self, page: int = 0, count: int = 5) -> Payload[LegacyPage[Player]]:
        """List the players who are online in the older form; prefer `list_online_players`.

        count: records per page.
        Returns the page, with the total number of players online.
        Raises BadField, PermissionMissing.
        """
        return Payload(LegacyPage[Player], body={"page": page, "count": count})

    @operation("GET", "/api/v1/players/{player}")
    def get_player(self, player: str) -> Payload[Player]:
        """Get one player.

        Returns the player's record.
        Raises NoSuchPlayer, PermissionMissing.
        """
        return Payload(Player)

    @operation("GET", "/api/v1/players/{player}/rank")
    def get_rank(self, player: str, *, around: int | None = None) -> Payload[Rank]:
        """Get a player's rank, and its neighbours in the ranking.

        around: how many players above and how many below to include, 0 to 50; default 5.
        Returns the rank, the number of players, and the neighbours, highest first.
        Raises NoSuchPlayer, BadField, PermissionMissing.
        """
        return Payload(Rank, query={"around": around})

    @operation("POST", "/api/v1/players/{player}/name")
    def rename_player(self, player: str, name: str, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Rename a player.

        name: the new name.
        Returns the player's record after the change.
        Raises NoSuchPlayer, BadField, ReservedName, NameTaken, PermissionMissing.
        """
        return Payload(Player, body={"name": name})

    @operation("POST", "/api/v1/players/{player}/level")
    def set_level(self, player: str, level: int, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Set a player's level. The experience within the level starts at 0.

        level: the new level.
        Returns the player's record after the change.
        Raises NoSuchPlayer, BadField, PermissionMissing.
        """
        return Payload(Player, body={"level": level})

    @operation("POST", "/api/v1/players/{player}/class")
    def set_class(self, player: str, class_id: str, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Set a player's class.

        class_id: id of the class in the catalogue.
        Returns the player's record after the change.
        Raises NoSuchPlayer, NoSuchClass, BadField, PermissionMissing.
        """
        return Payload(Player, body={"classid": class_id})

    @operation("DELETE", "/api/v1/players/{player}")
    def delete_player(self, player: str, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Delete a player who is not online.

        Returns the player's record before the change.
        Raises NoSuchPlayer, PlayerOnline, PermissionMissing.
        """
        return Payload(Player)
