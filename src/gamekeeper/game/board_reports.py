"""Reports of boards: pages of standings, and the place of a player."""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game import boards, lookup, standings
from gamekeeper.game.board_refusals import NotOnBoard
from gamekeeper.game.board_values import show_value
from gamekeeper.store.boards import PLAY_TIME, Board, Season
from gamekeeper.store.engine import Reading


class Place(NamedTuple):
    rank: int
    player_id: str
    name: str | None  # None: deleted
    value: int  # as people read it: play time in seconds


class StandingsReport(NamedTuple):
    record: boards.BoardRecord
    season: Season
    now: int
    total: int
    offset: int
    places: Sequence[Place]


async def report_standings(
    tx: Reading, board: Board, number: int | None, offset: int, limit: int, player: str | None = None
) -> StandingsReport:
    """Report a page of the standings of a season; with a player, the page that has it in the middle."""
    season = await boards.require_season(tx, board, number)
    if player is not None:
        place = await standings.find_place(tx, season.id, await lookup.find_player_id(tx, player))
        if place is None:
            raise NotOnBoard
        offset = standings.choose_offset(place, limit)
    page = await standings.load_page(tx, season.id, offset, limit)
    record = await boards.read_record(tx, board)
    places = [
        Place(rank, each.player_id, each.name, show_number(board, each.quantity))
        for rank, each in enumerate(page.rows, start=offset + 1)
    ]
    return StandingsReport(record, season, record.now, page.total, offset, places)


def show_number(board: Board, value: int) -> int:
    shown = show_value(board.ranks, gain=board.gain, value=value)
    return shown // 1000 if board.ranks == PLAY_TIME else shown
