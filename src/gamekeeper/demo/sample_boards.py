"""Boards of the demo: silver that players earned, with a finished and a running season, levels, and play time."""

from collections.abc import Sequence

from gamekeeper.demo import world
from gamekeeper.demo.names import make_stable_id
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store.boards import ITEM, LEVEL, PLAY_TIME, Board, Season

DAY_MS = 24 * 60 * 60 * 1000
FIRST_SEASON_DAYS = 30


def build_boards(start: int) -> list[tuple[Board, Sequence[Season]]]:
    """Build the boards, from the first midnight of the demo's past on. The follower counts them."""
    middle = start + FIRST_SEASON_DAYS * DAY_MS
    silver = _build_board("most-silver", "Most silver earned", ITEM, start, world.COIN.id, gain=True)
    first, second = (
        _build_season(silver, 1, "First month", start, middle),
        _build_season(silver, 2, "Second month", middle),
    )
    levels = _build_board("highest-level", "Highest level", LEVEL, start)
    played = _build_board("most-played", "Most hours played", PLAY_TIME, start)
    return [
        (silver, [first, second]),
        (levels, [_build_season(levels, 1, "", start)]),
        (played, [_build_season(played, 1, "", start)._replace(swept=ZERO_GUID)]),
    ]


def _build_board(
    name: str, title: str, ranks: str, created_at: int, thing_id: str | None = None, *, gain: bool = False
) -> Board:
    board_id = make_stable_id("board", name)
    return Board(board_id, name, title, ranks, thing_id, gain, hide_staff=True, public=True, created_at=created_at)


def _build_season(board: Board, number: int, title: str, starts_at: int, ends_at: int | None = None) -> Season:
    return Season(make_stable_id("season", f"{board.name} {number}"), board.id, number, title, starts_at, ends_at)
