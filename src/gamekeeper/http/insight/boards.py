"""Boards: rankings by level, an item, a variable or play time, in seasons with final standings."""

from functools import partial

from msgspec import UNSET, UnsetType

from gamekeeper.game.core import refusals as no
from gamekeeper.game.insight import boards, refusals
from gamekeeper.game.insight.boards import (
    BoardDraft,
    BoardEdit,
    BoardRecord,
    SeasonDraft,
    SeasonEdit,
    StandingsReport,
    find_state,
    is_complete,
)
from gamekeeper.game.insight.refusals import NoSuchBoard, NoSuchSeason
from gamekeeper.ground.instants import format_instant, parse_instant
from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.http.audit.history import ACCOUNTS_ROLE
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import MANY, READ_PLAYERS, Group, needs
from gamekeeper.http.contract.path_parameters import PathParameter
from gamekeeper.http.insight import board_shapes
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import PageRange
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight.boards import HiddenAccount, Season

WRITE_BOARDS = needs("boards.write")
# Examples for the documents, made of the demo data.
SEASON_RECORD = board_shapes.SeasonRecord(1, "Spring", samples.TIME, samples.END_OF_DAY, "final", Complete=True)
BOARD_RECORD = board_shapes.BoardRecord(
    Name=samples.BOARD,
    Title="Most silver",
    Ranks="item",
    ThingId=samples.COIN,
    Thing="Silver Mark",
    Gain=False,
    HideStaff=True,
    Public=False,
    Seasons=[SEASON_RECORD],
)
GROUP = Group("Boards", "Rankings of players in seasons, for leaderboards.", place=350)
GROUPS = (GROUP,)
LONGEST_NUMBER = 9  # digits of a season's number


PathParameter("board", "The board's name.", samples.BOARD, NoSuchBoard)


PathParameter("season", "The season's number.", "1", NoSuchSeason)


@GROUP.operation(
    "GET /api/keeper/v1/boards",
    permissions=READ_PLAYERS,
    answer=board_shapes.BoardList,
    rows=MANY,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=board_shapes.BoardList([BOARD_RECORD], [board_shapes.HiddenAccount(*samples.NAMED_USER)]),
)
async def list_boards(request: Request) -> bytes:
    """List all boards with their newest seasons, and the accounts that are hidden from them."""

    async def read() -> bytes:
        found = await request.services.keeper.store.read(boards.read_all)
        sees_accounts = ACCOUNTS_ROLE in request.caller.permissions
        hidden = [board_shapes.HiddenAccount(*each) for each in found.hidden] if sees_accounts else []
        return shapes.encode(board_shapes.BoardList([make_board(each) for each in found.boards], hidden))

    return await request.run_through_gate(read)


@GROUP.operation(
    "POST /api/keeper/v1/boards",
    permissions=WRITE_BOARDS,
    answer=board_shapes.BoardRecord,
    refusals=(refusals.BoardExists, refusals.TooManyBoards),
    example_body=board_shapes.CreateBoard("richest", "Richest players", "item", samples.COIN),
    example_answer=BOARD_RECORD,
)
async def create_board(request: Request, body: board_shapes.CreateBoard) -> Response:
    """Create a board with its first season."""
    thing = None if body.Thing is UNSET else body.Thing
    draft = BoardDraft(body.Name, body.Title, body.Ranks, thing, body.Gain, body.HideStaff, body.Public)
    season = SeasonDraft(body.SeasonTitle, _read_time(body.StartsAt), _read_time(body.EndsAt))
    return await request.change(partial(boards.create, draft=draft, season=season), _encode_board)


@GROUP.operation(
    "PUT /api/keeper/v1/boards/[board]",
    permissions=WRITE_BOARDS,
    answer=board_shapes.BoardRecord,
    example_body=board_shapes.SaveBoard(Title="Richest players", Public=True),
    example_answer=BOARD_RECORD,
)
async def save_board(request: Request, body: board_shapes.SaveBoard) -> Response:
    """Change the title of a board, whether it hides staff, and whether it is public."""
    wanted = BoardEdit(
        None if body.Title is UNSET else body.Title,
        None if body.HideStaff is UNSET else body.HideStaff,
        None if body.Public is UNSET else body.Public,
    )
    return await request.change(partial(boards.edit, name=request.params[0], wanted=wanted), _encode_board)


@GROUP.operation(
    "DELETE /api/keeper/v1/boards/[board]",
    permissions=WRITE_BOARDS,
    answer=board_shapes.BoardRecord,
    example_answer=BOARD_RECORD,
)
async def delete_board(request: Request) -> Response:
    """Delete a board with all its seasons and their final standings."""
    return await request.change(partial(boards.delete, name=request.params[0]), _encode_board)


@GROUP.operation(
    "POST /api/keeper/v1/boards/[board]/seasons",
    permissions=WRITE_BOARDS,
    answer=board_shapes.BoardRecord,
    refusals=(refusals.SeasonRunning, refusals.TooManyBoards),
    example_body=board_shapes.StartSeason(Title="Summer"),
    example_answer=BOARD_RECORD,
)
async def start_season(request: Request, body: board_shapes.StartSeason) -> Response:
    """Start or plan a season. One that is open ends when the new one starts."""
    draft = SeasonDraft(body.Title, _read_time(body.StartsAt), _read_time(body.EndsAt))
    return await request.change(partial(boards.start_season, name=request.params[0], draft=draft), _encode_board)


@GROUP.operation(
    "PUT /api/keeper/v1/boards/[board]/seasons/[season]",
    permissions=WRITE_BOARDS,
    answer=board_shapes.BoardRecord,
    refusals=(refusals.SeasonRunning, refusals.SeasonEnded),
    example_body=board_shapes.SaveSeason(Title="First summer"),
    example_answer=BOARD_RECORD,
)
async def save_season(request: Request, body: board_shapes.SaveSeason) -> Response:
    """Change the title or the end of a season that is not over, or end it now."""
    name, number = request.params[0], _read_number(request.params)
    wanted = SeasonEdit(
        None if body.Title is UNSET else body.Title,
        parse_instant(body.EndsAt) if body.EndsAt else None,
        is_open=body.EndsAt is None,
        end_now=body.EndNow,
    )
    return await request.change(partial(boards.edit_season, name=name, number=number, wanted=wanted), _encode_board)


@GROUP.operation(
    "GET /api/keeper/v1/boards/[board]/standings",
    permissions=READ_PLAYERS,
    answer=board_shapes.StandingsPage,
    rows=MOST_PAGE_ROWS,
    refusals=(refusals.NoSuchSeason, no.NoSuchPlayer, refusals.NotOnBoard),
    example_answer=board_shapes.StandingsPage(
        1,
        0,
        5,
        1,
        BOARD_RECORD,
        SEASON_RECORD,
        [board_shapes.StandingRecord(1, *samples.NAMED_PLAYER, 1185)],
    ),
)
async def list_standings(request: Request, query: board_shapes.StandingsQuery) -> bytes:
    """List a page of a season's standings, highest first, or the neighbours of a player."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    await keeper.boards.refresh()

    async def read(tx: Reading) -> StandingsReport:
        board = await boards.require_board(tx, request.params[0])
        number, player = query.season or None, query.player or None
        return await boards.report_standings(tx, board, number, page.offset, page.limit, player)

    return shapes.encode(_make_page(await keeper.store.read(read), page))


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/boards",
    permissions=needs("boards.write", "users.query"),
    answer=board_shapes.HiddenState,
    refusals=(refusals.TooManyHidden,),
    example_body=board_shapes.HideAccount(Hidden=True),
    example_answer=board_shapes.HiddenState(*samples.NAMED_USER, Hidden=True),
)
async def hide_user(request: Request, body: board_shapes.HideAccount) -> Response:
    """Hide all players of an account from all boards, or show them again."""

    def encode(found: HiddenAccount) -> bytes:
        return shapes.encode(board_shapes.HiddenState(found.user_id, found.name, body.Hidden))

    return await request.change(partial(boards.hide, user=request.params[0], hidden=body.Hidden), encode)


def make_board(record: BoardRecord) -> board_shapes.BoardRecord:
    board = record.board
    return board_shapes.BoardRecord(
        Name=board.name,
        Title=board.title,
        Ranks=board.ranks,  # pyright: ignore[reportArgumentType] - the table has only these
        ThingId=board.thing_id,
        Thing=board.thing,
        Gain=board.gain,
        HideStaff=board.hide_staff,
        Public=board.public,
        Seasons=[make_season(each, record.now, record.newest) for each in record.seasons],
    )


def make_season(season: Season, now: int, newest: int) -> board_shapes.SeasonRecord:
    return board_shapes.SeasonRecord(
        season.number,
        season.title,
        format_instant(season.starts_at),
        None if season.ends_at is None else format_instant(season.ends_at),
        find_state(season, now),  # pyright: ignore[reportArgumentType] - the constants are those of the wire
        is_complete(season, newest),
    )


def _make_page(report: StandingsReport, page: PageRange) -> board_shapes.StandingsPage:
    values = [
        board_shapes.StandingRecord(each.rank, each.player_id if each.name else None, each.name, each.value)
        for each in report.places
    ]
    return board_shapes.StandingsPage(
        report.total,
        report.offset // page.size,
        page.size,
        len(values),
        make_board(report.record),
        make_season(report.season, report.now, report.record.newest),
        values,
    )


def _encode_board(record: BoardRecord) -> bytes:
    return shapes.encode(make_board(record))


def _read_time(text: str | UnsetType) -> int | None:
    return parse_instant(text) if text else None


def _read_number(params: tuple[str, ...]) -> int:
    """Read the number of a season in a path. Another text is the number of no season."""
    board, text = params
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise refusals.NoSuchSeason(board=board, season=text)
    return int(text)
