"""Boards: rankings by level, an item, a variable or play time, in seasons with final standings."""

from functools import partial
from typing import Annotated

from msgspec import UNSET, UnsetType

from gamekeeper.game.core import refusals as no
from gamekeeper.game.insight import boards, refusals
from gamekeeper.game.insight.boards import (
    BoardList,
    BoardRecord,
    CreateBoard,
    HiddenState,
    SaveBoard,
    SaveSeason,
    StandingsPage,
    StartSeason,
)
from gamekeeper.game.insight.refusals import NoSuchBoard, NoSuchSeason
from gamekeeper.ground.wire import Body
from gamekeeper.http.audit.history import ACCOUNTS_ROLE
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import MANY, READ_PLAYERS, Group, needs
from gamekeeper.http.contract.path_parameters import PathParameter
from gamekeeper.http.contract.shapes import PageQuery, Positive, Text, describe
from gamekeeper.http.server import paging
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading

SeasonNumber = Annotated[Positive, describe("Number of the season; default the running or last one.")]
Around = Annotated[Text, describe("Name or id of a player: the page has it in the middle. `page` is ignored.")]


class HideAccount(Body):
    Hidden: Annotated[bool, describe("True hides the players of the account, false shows them again.")]


class StandingsQuery(PageQuery, frozen=True):
    season: SeasonNumber | UnsetType = UNSET
    player: Around | UnsetType = UNSET


GROUP = Group("Boards", "Rankings of players in seasons, for leaderboards.", 350, needs("boards.write"))
GROUPS = (GROUP,)
LONGEST_NUMBER = 9  # digits of a season's number


PathParameter("board", "The board's name.", examples.BOARD, NoSuchBoard)
PathParameter("season", "The season's number.", "1", NoSuchSeason)


@GROUP.operation("GET /api/keeper/v1/boards", permissions=READ_PLAYERS, answer=BoardList, rows=MANY, gated=True)
async def list_boards(request: Request) -> bytes:
    """List all boards with their newest seasons, and the accounts that are hidden from them."""

    async def read() -> bytes:
        accounts = ACCOUNTS_ROLE in request.caller.permissions
        return shapes.encode(await request.services.keeper.store.read(partial(boards.read_all, accounts=accounts)))

    return await request.run_through_gate(read)


@GROUP.operation(
    "POST /api/keeper/v1/boards",
    answer=BoardRecord,
    refusals=(refusals.BoardExists, refusals.TooManyBoards),
    example_body=CreateBoard("richest", "Richest players", "item", examples.COIN),
)
async def create_board(request: Request, body: CreateBoard) -> Response:
    """Create a board with its first season."""
    return await request.change(partial(boards.create, draft=body))


@GROUP.operation(
    "PUT /api/keeper/v1/boards/[board]",
    answer=BoardRecord,
    example_body=SaveBoard(Title="Richest players", Public=True),
)
async def save_board(request: Request, body: SaveBoard) -> Response:
    """Change the title of a board, whether it hides staff, and whether it is public."""
    return await request.change(partial(boards.edit, name=request.params[0], wanted=body))


@GROUP.operation("DELETE /api/keeper/v1/boards/[board]", answer=BoardRecord)
async def delete_board(request: Request) -> Response:
    """Delete a board with all its seasons and their final standings."""
    return await request.change(partial(boards.delete, name=request.params[0]))


@GROUP.operation(
    "POST /api/keeper/v1/boards/[board]/seasons",
    answer=BoardRecord,
    refusals=(refusals.SeasonRunning, refusals.TooManyBoards),
    example_body=StartSeason(Title="Summer"),
)
async def start_season(request: Request, body: StartSeason) -> Response:
    """Start or plan a season. One that is open ends when the new one starts."""
    return await request.change(partial(boards.start_season, name=request.params[0], draft=body))


@GROUP.operation(
    "PUT /api/keeper/v1/boards/[board]/seasons/[season]",
    answer=BoardRecord,
    refusals=(refusals.SeasonRunning, refusals.SeasonEnded),
    example_body=SaveSeason(Title="First summer"),
)
async def save_season(request: Request, body: SaveSeason) -> Response:
    """Change the title or the end of a season that is not over, or end it now."""
    name, number = request.params[0], _read_number(request.params)
    return await request.change(partial(boards.edit_season, name=name, number=number, wanted=body))


@GROUP.operation(
    "GET /api/keeper/v1/boards/[board]/standings",
    permissions=READ_PLAYERS,
    refusals=(refusals.NoSuchSeason, no.NoSuchPlayer, refusals.NotOnBoard),
)
async def list_standings(request: Request, query: StandingsQuery) -> StandingsPage:
    """List a page of a season's standings, highest first, or the neighbours of a player."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)

    async def read(tx: Reading) -> StandingsPage:
        board = await boards.require_board(tx, request.params[0])
        return await boards.report_standings(tx, board, query.season or None, page, query.player or None)

    return await keeper.boards.read(read)


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/boards",
    permissions=needs("boards.write", "users.query"),
    answer=HiddenState,
    refusals=(refusals.TooManyHidden,),
    example_body=HideAccount(Hidden=True),
)
async def hide_user(request: Request, body: HideAccount) -> Response:
    """Hide all players of an account from all boards, or show them again."""
    return await request.change(partial(boards.hide, user=request.params[0], hidden=body.Hidden))


def _read_number(params: tuple[str, ...]) -> int:
    """Read the number of a season in a path. Another text is the number of no season."""
    board, text = params
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise refusals.NoSuchSeason(board=board, season=text)
    return int(text)
