"""Boards: the same standings whenever the follower is killed, and under changes meanwhile."""

from collections.abc import Callable

import pytest

from boarding import catch_up, create, standings
from economics import give, give_loaded
from findings import errors
from gamekeeper.game.insight import board_follower
from gamekeeper.ground import crash
from people import COIN
from world import World

pytestmark = pytest.mark.both_engines


def count_raw(world: World) -> list[tuple[str, int]]:
    statement = (
        "SELECT p.name, SUM(s.quantity), p.id FROM slots s JOIN players p ON p.id = s.player_id "
        "WHERE s.item_id = $1 GROUP BY p.name, p.id ORDER BY 2 DESC, 3 DESC"
    )
    return [(row[0], int(row[1])) for row in world.sql(statement, COIN.id)]


@pytest.mark.usefixtures("small_counts")
@pytest.mark.parametrize("point", crash.BOARD_POINTS)
def test_killed_follower_gives_the_same_standings_when_repeated(
    world: World, repeat_killed: Callable[..., int], point: str
) -> None:
    create(world, "coins", "item", Thing="Gold Coin")
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    give_loaded(world)
    repeat_killed(point, lambda: catch_up(world))
    catch_up(world)
    assert standings(world, "coins") == count_raw(world)
    assert errors(world) == []
    gains = [(f"Loaded{0x5000 + number}", number) for number in range(1, 12)]
    assert sorted(standings(world, "gains")) == sorted(gains)


def test_sweep_takes_off_changes_that_are_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_follower, "BATCH_PLAYERS", 1)
    create(world, "coins", "item", Thing="Gold Coin")
    create(world)
    upto = world.run(world.keeper.feed.find_watermark())
    world.run(world.keeper.boards.refresh())
    while world.run(world.keeper.boards.step(upto)):
        give(world, "Ann", 3)
        give(world, "Zoe", 1)
        give(world, "Zoe", 1, what="take")
        assert world.post("/api/v1/players/Bob/level", {"level": len(world.ledger()) % 90 + 1}).status == 200
    catch_up(world)
    assert standings(world, "coins") == count_raw(world)
    levels = {row[0]: row[1] for row in world.sql("SELECT name, level FROM players")}
    assert dict(standings(world)) == levels


def test_doctor_finds_wrong_standings(world: World) -> None:
    create(world)
    create(world, "gains", "item", Thing="Gold Coin", Gain=True)
    create(world, "coins", "item", Thing="Gold Coin")
    give(world, "Bob", 5)
    catch_up(world)
    give(world, "Zoe", 5)  # not counted yet
    assert errors(world) == []
    catch_up(world)
    assert errors(world) == []
    for statement, back, word in (
        ("UPDATE standings SET value = value + 1", "UPDATE standings SET value = value - 1", "the standings of season"),
        ("UPDATE standing_buckets SET entries = entries + 1", "UPDATE standing_buckets SET entries = entries - 1",
         "its buckets count"),
        ("UPDATE standings SET listed = NOT listed", "UPDATE standings SET listed = NOT listed", "wrongly"),
    ):  # fmt: skip
        world.sql(statement)
        assert any(word in each for each in errors(world)), statement
        world.sql(back)
    assert errors(world) == []
