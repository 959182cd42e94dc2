"""The pages of boards: all boards with the form for a new one, and one board with its standings and seasons."""

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import PAGE_SIZE
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.insight import boards
from gamekeeper.game.insight.boards import ENDED, FINAL, PLANNED, RUNNING, BoardRecord, StandingsReport, find_state
from gamekeeper.http.audit.history import ACCOUNTS_ROLE
from gamekeeper.http.contract.shapes import PageQuery, PageSize
from gamekeeper.http.insight.board_shapes import SeasonNumber
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight.boards import ITEM, LEVEL, PLAY_TIME, VARIABLE, Board, Season

NEEDED = "boards.write"
RANKS = PerLanguage(
    lambda: {
        LEVEL: gettext("Level"),
        ITEM: gettext("Item"),
        VARIABLE: gettext("Variable"),
        PLAY_TIME: gettext("Play time"),
    }
)
STATES = PerLanguage(
    lambda: {
        PLANNED: gettext("Planned"),
        RUNNING: gettext("Running"),
        ENDED: gettext("Ended, being counted"),
        FINAL: gettext("Final"),
    }
)


class BoardQuery(PageQuery, frozen=True):
    pageSize: PageSize = PAGE_SIZE  # noqa: N815 - name of the API's query parameter
    season: SeasonNumber | UnsetType = UNSET


class SeasonLine(NamedTuple):
    number: int
    title: str
    starts_at: int
    ends_at: int | None
    state: str
    can_end: bool


class BoardLine(NamedTuple):
    name: str
    title: str
    ranks: str
    public: bool
    season: SeasonLine | None


async def show(request: Request) -> Response:
    """Show all boards, the form for a new one, and the hidden accounts."""
    found = await request.services.keeper.store.read(boards.read_all)
    return pages.render(
        request,
        "insight/boards.html",
        boards=[_make_line(each) for each in found.boards],
        ranks=RANKS(),
        hidden=found.hidden if ACCOUNTS_ROLE in request.caller.permissions else None,
        is_public=request.services.keeper.settings.public_boards,
    )


async def show_board(request: Request) -> Response:
    """Show a page of a board's standings, its seasons, and the forms to change it."""
    keeper = request.services.keeper
    query = queries.decode(BoardQuery, {name: value for name, value in request.query.items() if name != "player"})
    page, player = paging.read_query(query, keeper.settings.max_page_size), request.query.get("player", "").strip()
    await keeper.boards.refresh()

    async def read(tx: Reading) -> StandingsReport:
        board = await boards.require_board(tx, request.params[0])
        number = query.season or None
        return await boards.report_standings(tx, board, number, page.offset, page.limit, player or None)

    found = await keeper.store.read(read)
    shown = page._replace(number=found.offset // page.size) if player else page
    season = _make_season(found.season, found.now)
    return pages.render(
        request,
        "insight/board.html",
        board=found.record.board,
        ranks=describe(found.record.board),
        is_time=found.record.board.ranks == PLAY_TIME,
        places=found.places,
        season=season,
        seasons=[_make_season(each, found.now) for each in found.record.seasons],
        complete=boards.is_complete(found.season, found.record.newest),
        player=player,
        part=list_page.make_page(request, shown, found.total, len(found.places)),
        is_public=keeper.settings.public_boards,
    )


def describe(board: Board) -> str:
    """Describe what a board ranks, such as "Item: Gold Coin, gained"."""
    text = RANKS()[board.ranks]
    if board.thing_id:
        text = f"{text}: {board.thing or board.thing_id}"
    return gettext("%(ranks)s, gained in the season", ranks=text) if board.gain else text


def _make_line(record: BoardRecord) -> BoardLine:
    started = [each for each in record.seasons if each.starts_at <= record.now] or list(record.seasons[-1:])
    season = _make_season(started[0], record.now) if started else None
    return BoardLine(record.board.name, record.board.title, describe(record.board), record.board.public, season)


def _make_season(season: Season, now: int) -> SeasonLine:
    state = find_state(season, now)
    title = season.title or gettext("Season %(number)s", number=season.number)
    return SeasonLine(
        season.number, title, season.starts_at, season.ends_at, STATES()[state], can_end=state in {PLANNED, RUNNING}
    )


DIALOGS = (
    Dialog("create_board", "Create the board %(new_name)s"),
    Dialog("save_board", "Save the board %(board)s"),
    Dialog("delete_board", "Delete the board %(board)s with all its seasons"),
    Dialog("start_season", "Start a season of the board %(board)s"),
    Dialog("save_season", "Change the season of the board %(board)s"),
    Dialog("hide_user", "Show %(name)s on boards again", sent=("hidden", False)),
    Dialog("hide_user", "Hide %(name)s from all boards"),
)
PAGES = (
    page_route("/boards", show, PLAYERS)
    .in_menu("Boards", GAME, 60, "boards")
    .with_help(
        "Rankings of players in seasons, for leaderboards. Final standings stay as they are. Staff, banned and "
        "hidden accounts are left out.",
        "boards",
    ),
    page_route("/boards/[board]", show_board, PLAYERS).with_help(
        "The standings of a season, highest first. A new season ends the one that is open.", "boards"
    ),
)
