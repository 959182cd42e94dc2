"""Boards of the demo: a finished and a running season, levels and play time; nobody leads by a fault of the game."""

import asyncio

import world as worlds
from gamekeeper.demo import sample_past
from gamekeeper.game import board_reports, boards
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.boards import ITEM


def test_demo_has_boards_with_standings(demo_database: str) -> None:
    leaders: set[str | None] = set()

    async def count(keeper: Keeper) -> dict[tuple[str, int], tuple[str, int]]:
        await keeper.boards.catch_up()
        found: dict[tuple[str, int], tuple[str, int]] = {}
        for record in (await boards.read_all(keeper.store)).boards:
            for season in record.seasons:
                page = await board_reports.report_standings(keeper.store, record.board, season.number, 0, 10)
                state = boards.find_state(page.season, page.now)
                found[record.board.name, season.number] = state, len(page.places)
                if record.board.ranks == ITEM:
                    leaders.add(page.places[0].name)
        return found

    found = asyncio.run(worlds.at_work(demo_database, count))
    assert {key: state for key, (state, _) in found.items()} == {
        ("most-silver", 1): "final",
        ("most-silver", 2): "running",
        ("highest-level", 1): "running",
        ("most-played", 1): "running",
    }
    assert leaders.isdisjoint({sample_past.DUPLICATOR, sample_past.SECOND_DUPLICATOR, sample_past.PARTNER}), leaders
    assert all(places >= 5 for _, places in found.values()), found
