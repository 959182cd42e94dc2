"""Boards: rankings by level, an item, a variable or play time, in seasons with final standings."""

from functools import partial

from msgspec import UNSET, UnsetType

from gamekeeper.game import board_refusals, board_reports, boards
from gamekeeper.game import refusals as no
from gamekeeper.game.board_reports import StandingsReport
from gamekeeper.game.boards import BoardDraft, BoardEdit, BoardRecord, SeasonDraft, SeasonEdit, find_state, is_complete
from gamekeeper.http import paging, samples, wire
from gamekeeper.http.answered_rows import MANY
from gamekeeper.http.history import ACCOUNTS_ROLE
from gamekeeper.http.instants import format_instant, parse_instant
from gamekeeper.http.operation import NO_STORE, READ, READ_PLAYERS, WRITE, Group, needs
from gamekeeper.http.paging import PageRange
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store.boards import HiddenAccount, Season
from gamekeeper.store.engine import Reading

WRITE_BOARDS = needs("boards.write")
GROUP = Group("Boards", "Rankings of players in seasons, for leaderboards.")
LONGEST_NUMBER = 9  # digits of a season's number


@GROUP.operation(
    "GET /api/keeper/v1/boards",
    name="list_boards",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    answer=wire.boards.BoardList,
    rows=MANY,
    gated=True,
    refusals=(no.TooManyLongReads,),
    example_answer=wire.boards.BoardList(
        [samples.BOARD_RECORD], [wire.boards.HiddenAccount(samples.USER_ID, samples.USER)]
    ),
)
async def list_boards(request: Request) -> bytes:
    """List all boards with their newest seasons, and the accounts that are hidden from them."""

    async def read() -> bytes:
        found = await request.services.keeper.store.read(boards.read_all)
        sees_accounts = ACCOUNTS_ROLE in request.caller.permissions
        hidden = [wire.boards.HiddenAccount(*each) for each in found.hidden] if sees_accounts else []
        return wire.encode(wire.boards.BoardList([make_board(each) for each in found.boards], hidden))

    return await request.run_through_gate(read)


@GROUP.operation(
    "POST /api/keeper/v1/boards",
    name="create_board",
    permissions=WRITE_BOARDS,
    access=WRITE,
    body=wire.boards.CreateBoard,
    answer=wire.boards.BoardRecord,
    refusals=(board_refusals.BoardExists, board_refusals.TooManyBoards),
    example_body=wire.boards.CreateBoard("richest", "Richest players", "item", samples.COIN),
    example_answer=samples.BOARD_RECORD,
)
async def create_board(request: Request, body: wire.boards.CreateBoard) -> Response:
    """Create a board with its first season."""
    thing = None if body.Thing is UNSET else body.Thing
    draft = BoardDraft(body.Name, body.Title, body.Ranks, thing, body.Gain, body.HideStaff, body.Public)
    season = SeasonDraft(body.SeasonTitle, _read_time(body.StartsAt), _read_time(body.EndsAt))
    return await request.change(partial(boards.create, draft=draft, season=season), _encode_board)


@GROUP.operation(
    "PUT /api/keeper/v1/boards/[board]",
    name="save_board",
    permissions=WRITE_BOARDS,
    access=WRITE,
    body=wire.boards.SaveBoard,
    answer=wire.boards.BoardRecord,
    refusals=(),
    example_body=wire.boards.SaveBoard(Title="Richest players", Public=True),
    example_answer=samples.BOARD_RECORD,
)
async def save_board(request: Request, body: wire.boards.SaveBoard) -> Response:
    """Change the title of a board, whether it hides staff, and whether it is public."""
    wanted = BoardEdit(
        None if body.Title is UNSET else body.Title,
        None if body.HideStaff is UNSET else body.HideStaff,
        None if body.Public is UNSET else body.Public,
    )
    return await request.change(partial(boards.edit, name=request.params[0], wanted=wanted), _encode_board)


@GROUP.operation(
    "DELETE /api/keeper/v1/boards/[board]",
    name="delete_board",
    permissions=WRITE_BOARDS,
    access=WRITE,
    answer=wire.boards.BoardRecord,
    refusals=(),
    example_answer=samples.BOARD_RECORD,
)
async def delete_board(request: Request) -> Response:
    """Delete a board with all its seasons and their final standings."""
    return await request.change(partial(boards.delete, name=request.params[0]), _encode_board)


@GROUP.operation(
    "POST /api/keeper/v1/boards/[board]/seasons",
    name="start_season",
    permissions=WRITE_BOARDS,
    access=WRITE,
    body=wire.boards.StartSeason,
    answer=wire.boards.BoardRecord,
    refusals=(board_refusals.SeasonRunning, board_refusals.TooManyBoards),
    example_body=wire.boards.StartSeason(Title="Summer"),
    example_answer=samples.BOARD_RECORD,
)
async def start_season(request: Request, body: wire.boards.StartSeason) -> Response:
    """Start or plan a season. One that is open ends when the new one starts."""
    draft = SeasonDraft(body.Title, _read_time(body.StartsAt), _read_time(body.EndsAt))
    return await request.change(partial(boards.start_season, name=request.params[0], draft=draft), _encode_board)


@GROUP.operation(
    "PUT /api/keeper/v1/boards/[board]/seasons/[season]",
    name="save_season",
    permissions=WRITE_BOARDS,
    access=WRITE,
    body=wire.boards.SaveSeason,
    answer=wire.boards.BoardRecord,
    refusals=(board_refusals.SeasonRunning, board_refusals.SeasonEnded),
    example_body=wire.boards.SaveSeason(Title="First summer"),
    example_answer=samples.BOARD_RECORD,
)
async def save_season(request: Request, body: wire.boards.SaveSeason) -> Response:
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
    name="list_standings",
    permissions=READ_PLAYERS,
    access=READ,
    cache=NO_STORE,
    query=wire.boards.StandingsQuery,
    answer=wire.boards.StandingsPage,
    rows=MOST_PAGE_ROWS,
    refusals=(board_refusals.NoSuchSeason, no.NoSuchPlayer, board_refusals.NotOnBoard),
    example_answer=wire.boards.StandingsPage(
        1,
        0,
        5,
        1,
        samples.BOARD_RECORD,
        samples.SEASON_RECORD,
        [wire.boards.StandingRecord(1, samples.PLAYER_ID, samples.PLAYER, 1185)],
    ),
)
async def list_standings(request: Request, query: wire.boards.StandingsQuery) -> bytes:
    """List a page of a season's standings, highest first, or the neighbours of a player."""
    keeper = request.services.keeper
    page = paging.read_query(query, keeper.settings.max_page_size)
    await keeper.boards.refresh()

    async def read(tx: Reading) -> StandingsReport:
        board = await boards.require_board(tx, request.params[0])
        number, player = query.season or None, query.player or None
        return await board_reports.report_standings(tx, board, number, page.offset, page.limit, player)

    return wire.encode(_make_page(await keeper.store.read(read), page))


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/boards",
    name="hide_user",
    permissions=needs("boards.write", "users.query"),
    access=WRITE,
    body=wire.boards.HideAccount,
    answer=wire.boards.HiddenState,
    refusals=(board_refusals.TooManyHidden,),
    example_body=wire.boards.HideAccount(Hidden=True),
    example_answer=wire.boards.HiddenState(samples.USER_ID, samples.USER, Hidden=True),
)
async def hide_user(request: Request, body: wire.boards.HideAccount) -> Response:
    """Hide all players of an account from all boards, or show them again."""

    def encode(found: HiddenAccount) -> bytes:
        return wire.encode(wire.boards.HiddenState(found.user_id, found.name, body.Hidden))

    return await request.change(partial(boards.hide, user=request.params[0], hidden=body.Hidden), encode)


def make_board(record: BoardRecord) -> wire.boards.BoardRecord:
    board = record.board
    return wire.boards.BoardRecord(
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


def make_season(season: Season, now: int, newest: int) -> wire.boards.SeasonRecord:
    return wire.boards.SeasonRecord(
        season.number,
        season.title,
        format_instant(season.starts_at),
        None if season.ends_at is None else format_instant(season.ends_at),
        find_state(season, now),  # pyright: ignore[reportArgumentType] - the constants are those of the wire
        is_complete(season, newest),
    )


def _make_page(report: StandingsReport, page: PageRange) -> wire.boards.StandingsPage:
    values = [
        wire.boards.StandingRecord(each.rank, each.player_id if each.name else None, each.name, each.value)
        for each in report.places
    ]
    return wire.boards.StandingsPage(
        report.total,
        report.offset // page.size,
        page.size,
        len(values),
        make_board(report.record),
        make_season(report.season, report.now, report.record.newest),
        values,
    )


def _encode_board(record: BoardRecord) -> bytes:
    return wire.encode(make_board(record))


def _read_time(text: str | UnsetType) -> int | None:
    return parse_instant(text) if text else None


def _read_number(params: tuple[str, ...]) -> int:
    """Read the number of a season in a path. Another text is the number of no season."""
    board, text = params
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise board_refusals.NoSuchSeason(board=board, season=text)
    return int(text)
