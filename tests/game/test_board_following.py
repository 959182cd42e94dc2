"""Boards: what the follower counts when changes, sweeps and ends of seasons meet."""

import pytest

from boarding import catch_up, create, read, standings
from economics import give
from gamekeeper.game.board_follower import BoardFollower
from people import KILLS
from world import World

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def set_kills(world: World, name: str, value: int) -> None:
    assert world.post(f"/api/v1/players/{name}/variables/{KILLS.id}", {"value": value}).status == 200


def test_gain_beyond_64_bits_is_the_highest_value_and_stops_no_board(world: World) -> None:
    set_kills(world, "Bob", LOWEST)
    create(world, "kills", "variable", Thing="Kills", Gain=True)
    create(world)
    set_kills(world, "Bob", HIGHEST)
    catch_up(world)
    assert standings(world, "kills")[0] == ("Bob", HIGHEST)
    assert len(standings(world)) == 3


def test_read_answers_when_changes_cannot_be_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    create(world)
    catch_up(world)
    give(world, "Bob", 1)

    async def fail(*_: object) -> bool:
        raise OverflowError

    monkeypatch.setattr(BoardFollower, "_count", fail)
    assert read(world)["Total"] == 3
