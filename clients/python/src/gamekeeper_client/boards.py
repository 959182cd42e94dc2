"""Boards: rankings by level, an item, a variable or play time, in seasons with final standings."""

from collections.abc import Mapping
from typing import Literal, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import build_page_query

Ranks = Literal["level", "item", "variable", "play_time"]


class SeasonRecord(Struct, rename="pascal"):
    """A season; once it is final its standings stay as they are. If not `complete`, some players are not counted."""

    number: int
    title: str
    starts_at: str
    ends_at: str | None
    state: Literal["planned", "running", "ended", "final"]
    complete: bool


class BoardRecord(Struct, rename="pascal"):
    name: str
    title: str
    ranks: Ranks
    thing_id: str | None
    thing: str | None
    gain: bool
    hide_staff: bool
    public: bool
    seasons: list[SeasonRecord]


class HiddenAccount(Struct, rename="pascal"):
    user_id: str
    user: str


class BoardList(Struct, rename="pascal"):
    boards: list[BoardRecord]
    hidden: list[HiddenAccount]


class HiddenState(Struct, rename="pascal"):
    user_id: str
    user: str
    hidden: bool


class StandingRecord(Struct, rename="pascal"):
    """A place; `name` is None if the player was deleted. Play time is in seconds."""

    rank: int
    player_id: str | None
    name: str | None
    value: int


class StandingsPage(Struct, rename="pascal"):
    total: int
    page: int
    page_size: int
    count: int
    board: BoardRecord
    season: SeasonRecord
    values: list[StandingRecord]


def _without_none(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


class Boards:
    @operation("GET", "/api/keeper/v1/boards")
    def list_boards(self) -> Payload[BoardList]:
        """List all boards with their newest seasons, and the accounts that are hidden from them.

        Returns the boards and the hidden accounts.
        Raises PermissionMissing, TooManyLongReads.
        """
        return Payload(BoardList)

    @operation("POST", "/api/keeper/v1/boards")
    def create_board(
        self,
        name: str,
        title: str,
        ranks: Ranks,
        *,
        thing: str | None = None,
        gain: bool = False,
        hide_staff: bool = True,
        public: bool = False,
        season_title: str | None = None,
        starts_at: str | None = None,
        ends_at: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[BoardRecord]:
        """Create a board with its first season.

        name: name in addresses: a to z, 0 to 9 and -.
        title: title for people.
        ranks: "level", "item", "variable" or "play_time".
        thing: name or id of the item or variable.
        gain: rank by what players gain in the season, not by what they have.
        hide_staff: leave accounts with permissions out.
        public: show it without a token, if the server's public side is on.
        season_title: title of the first season.
        starts_at: when the first season starts; default now.
        ends_at: when it ends; default never.
        Returns the board.
        Raises BoardExists, TooManyBoards, BadField, PermissionMissing.
        """
        optional = {"Thing": thing, "SeasonTitle": season_title, "StartsAt": starts_at, "EndsAt": ends_at}
        body = {"Name": name, "Title": title, "Ranks": ranks, "Gain": gain, "HideStaff": hide_staff, "Public": public}
        return Payload(BoardRecord, body=body | _without_none(optional))

    @operation("PUT", "/api/keeper/v1/boards/{board}")
    def save_board(
        self,
        board: str,
        *,
        title: str | None = None,
        hide_staff: bool | None = None,
        public: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[BoardRecord]:
        """Change a board.

        board: name of the board.
        title: new title.
        hide_staff: whether accounts with permissions are left out.
        public: whether it is shown without a token.
        Returns the board.
        Raises NoSuchBoard, BadField, PermissionMissing.
        """
        body = _without_none({"Title": title, "HideStaff": hide_staff, "Public": public})
        return Payload(BoardRecord, body=body)

    @operation("DELETE", "/api/keeper/v1/boards/{board}")
    def delete_board(self, board: str, **options: Unpack[WriteOptions]) -> Payload[BoardRecord]:
        """Delete a board with all its seasons and their final standings.

        board: name of the board.
        Returns the deleted board.
        Raises NoSuchBoard, PermissionMissing.
        """
        return Payload(BoardRecord)

    @operation("POST", "/api/keeper/v1/boards/{board}/seasons")
    def start_season(
        self,
        board: str,
        *,
        title: str | None = None,
        starts_at: str | None = None,
        ends_at: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[BoardRecord]:
        """Start or plan a season. One that is open ends when the new one starts.

        board: name of the board.
        title: title of the season.
        starts_at: when it starts; default now.
        ends_at: when it ends; default never.
        Returns the board.
        Raises NoSuchBoard, SeasonRunning, TooManyBoards, BadField, PermissionMissing.
        """
        return Payload(BoardRecord, body=_without_none({"Title": title, "StartsAt": starts_at, "EndsAt": ends_at}))

    @operation("PUT", "/api/keeper/v1/boards/{board}/seasons/{season}")
    def save_season(
        self,
        board: str,
        season: int,
        *,
        title: str | None = None,
        ends_at: str | None = None,
        end_now: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[BoardRecord]:
        """Change the title or the end of a season that is not over, or end it now.

        board: name of the board.
        season: number of the season.
        title: new title.
        ends_at: new end.
        end_now: end it at the time of the request.
        Returns the board.
        Raises NoSuchBoard, NoSuchSeason, SeasonRunning, SeasonEnded, BadField, PermissionMissing.
        """
        return Payload(BoardRecord, body=_without_none({"Title": title, "EndsAt": ends_at, "EndNow": end_now}))

    @operation("GET", "/api/keeper/v1/boards/{board}/standings")
    def list_standings(
        self,
        board: str,
        *,
        season: int | None = None,
        player: str | None = None,
        page: int = 0,
        page_size: int | None = None,
    ) -> Payload[StandingsPage]:
        """List a page of a season's standings, highest first, or the neighbours of a player.

        board: name of the board.
        season: number of the season; default the running or last one.
        player: name or id of a player: the page has it in the middle.
        page: number of the page, from 0.
        page_size: places per page.
        Returns the page.
        Raises NoSuchBoard, NoSuchSeason, NoSuchPlayer, NotOnBoard, BadField, PermissionMissing.
        """
        query = {**build_page_query(page, page_size), "season": season, "player": player}
        return Payload(StandingsPage, query=query)

    @operation("POST", "/api/keeper/v1/users/{user}/boards")
    def hide_user(self, user: str, *, hidden: bool = True, **options: Unpack[WriteOptions]) -> Payload[HiddenState]:
        """Hide all players of an account from all boards, or show them again.

        user: name or id of the account.
        hidden: True to hide them, False to show them again.
        Returns the account.
        Raises NoSuchUser, TooManyHidden, BadField, PermissionMissing.
        """
        return Payload(HiddenState, body={"Hidden": hidden})
