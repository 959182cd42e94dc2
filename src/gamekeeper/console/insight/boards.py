"""The pages of boards: all boards with the form for a new one, and one board with its standings and seasons."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import PAGE_SIZE
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.insight import boards
from gamekeeper.game.insight.boards import BoardRecord, SeasonRecord, StandingsPage
from gamekeeper.http.audit.history import ACCOUNTS_ROLE
from gamekeeper.http.contract.shapes import PageQuery, PageSize
from gamekeeper.http.insight.boards import SeasonNumber
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.insight.boards import ITEM, LEVEL, PLAY_TIME, VARIABLE

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
        "planned": gettext("Planned"),
        "running": gettext("Running"),
        "ended": gettext("Ended, being counted"),
        "final": gettext("Final"),
    }
)


class BoardQuery(PageQuery, frozen=True):
    pageSize: PageSize = PAGE_SIZE  # noqa: N815 - name of the API's query parameter
    season: SeasonNumber | UnsetType = UNSET


async def show(request: Request) -> Response:
    """Show all boards, the form for a new one, and the hidden accounts."""
    accounts = ACCOUNTS_ROLE in request.caller.permissions
    found = await request.services.keeper.store.read(lambda tx: boards.read_all(tx, accounts=accounts))
    return pages.render(
        request,
        "insight/boards.html",
        boards=[(each, describe(each), _choose_season(each.seasons)) for each in found.boards],
        ranks=RANKS(),
        states=STATES(),
        hidden=found.hidden if accounts else None,
        is_public=request.services.keeper.settings.public_boards,
    )


async def show_board(request: Request) -> Response:
    """Show a page of a board's standings, its seasons, and the forms to change it."""
    keeper = request.services.keeper
    query = queries.decode(BoardQuery, {name: value for name, value in request.query.items() if name != "player"})
    page, player = paging.read_query(query, keeper.settings.max_page_size), request.query.get("player", "").strip()

    async def read(tx: Reading) -> StandingsPage:
        board = await boards.require_board(tx, request.params[0])
        return await boards.report_standings(tx, board, query.season or None, page, player or None)

    found = await keeper.boards.read(read)
    return pages.render(
        request,
        "insight/board.html",
        board=found.board,
        ranks=describe(found.board),
        states=STATES(),
        places=found.values,
        season=found.season,
        player=player,
        part=list_page.make_page(request, page._replace(number=found.page), found.total, found.count),
        is_public=keeper.settings.public_boards,
    )


def describe(board: BoardRecord) -> str:
    """Describe what a board ranks, such as "Item: Gold Coin, gained"."""
    text = RANKS()[board.ranks]
    if board.thing_id:
        text = f"{text}: {board.thing or board.thing_id}"
    return gettext("%(ranks)s, gained in the season", ranks=text) if board.gain else text


def _choose_season(seasons: Sequence[SeasonRecord]) -> SeasonRecord | None:
    """Choose the newest season that has started, or else the oldest."""
    return next((each for each in seasons if each.state != "planned"), seasons[-1] if seasons else None)


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
