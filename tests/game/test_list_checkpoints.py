"""The counts of the ordered lists: splits, checkpoints, trimming, several processes, and late commits."""

import asyncio
from typing import Any

import asyncpg
import pytest

from gamekeeper.game import bucket_index
from gamekeeper.game.list_definitions import NAMES, RANK
from gamekeeper.store import lists as stored
from listings import (
    CHECKPOINT,
    MakeWorld,
    add,
    agrees,
    count_log_rows,
    level_up,
    page,
    read_checkpoint,
    rebuild,
    sizes,
    tend,
    view,
)
from people import BOB, ZOE
from world import World

pytestmark = pytest.mark.usefixtures("small")

# --- buckets, checkpoints, trimming ----------------------------------------------------------------------------------


def test_crowded_buckets_are_split(world: World) -> None:
    add(world, range(60))
    assert max(sizes(world, RANK)) == 63
    tend(world)
    for listing in (RANK, NAMES):
        assert max(sizes(world, listing)) < bucket_index.SPLIT_ROWS
    found = view(world)
    assert found
    assert len(found.indexes["names"].blocks) > 3
    assert agrees(world)


def test_checkpoint_merges_small_buckets_and_trims_the_log(world: World) -> None:
    rebuild(world)
    assert count_log_rows(world) == 0
    add(world, range(60))
    first, before = read_checkpoint(world).number, count_log_rows(world)
    tend(world)
    assert read_checkpoint(world).number == first + 1
    # no row of the lists' log is deleted: all are newer than the checkpoint before the last
    assert count_log_rows(world) == before == 120
    world.sql("DELETE FROM players WHERE level > 1 AND level < 8")
    gone = count_log_rows(world) - before
    assert gone > CHECKPOINT
    tend(world)
    assert count_log_rows(world) == gone
    many = sum(len(block) for block in world.run(stored.read_blocks(world.keeper.store))["names"])
    assert many < 10
    assert agrees(world)


def test_process_continues_with_the_merged_buckets(world: World) -> None:
    """Without merging, empty buckets of the ordered lists would stay in the process's memory for ever."""
    add(world, range(60))
    for _ in range(10):
        level_up(world, range(60))
        tend(world)
    assert agrees(world)
    assert len(sizes(world, RANK)) < 40


def test_few_log_entries_save_no_checkpoint(world: World) -> None:
    first = read_checkpoint(world).number
    add(world, range(5))
    tend(world)
    assert read_checkpoint(world).number == first


def test_process_reloads_the_blocks_after_two_checkpoints_not_after_one(
    make_world: MakeWorld, reloads: list[int]
) -> None:
    one, two = make_world(), make_world()
    assert agrees(one)
    assert agrees(two)
    del reloads[:]
    for number in range(4):
        before = read_checkpoint(one).number
        add(one, range(100 * number, 100 * number + 30))
        tend(one)
        assert read_checkpoint(one).number == before + 1
        if number != 1:  # process `two` does not read the lists after the second checkpoint, so it falls two behind
            assert agrees(two)
        assert len(reloads) == (number > 1)
    assert agrees(one)


def test_process_starts_from_the_checkpoint_and_the_log(make_world: MakeWorld, reloads: list[int]) -> None:
    one = make_world()
    add(one, range(30))
    tend(one)
    add(one, range(30, 40))
    level_up(one, range(10))
    two = make_world()
    del reloads[:]
    found = view(two)
    assert found
    assert (found.log_entries, len(reloads)) == (40, 1)
    assert agrees(two)
    add(two, range(40, 50))
    assert agrees(one)


def test_two_processes_save_one_checkpoint_at_once(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    add(one, range(30))
    before = read_checkpoint(one).number

    async def both() -> None:
        await asyncio.gather(one.keeper.lists.maintain(), two.keeper.lists.maintain())

    one.run(both())
    assert read_checkpoint(one).number == before + 1
    for each in (one, two, make_world()):
        assert agrees(each)


# --- ordered lists with late commits ---------------------------------------------------------------------------------
only_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@only_postgres
@pytest.mark.parametrize("how", ["COMMIT", "ROLLBACK"])
@pytest.mark.parametrize("checkpoint", [False, True])
def test_late_commit_is_counted(make_world: MakeWorld, how: str, *, checkpoint: bool) -> None:
    world = make_world()
    add(world, range(20))

    async def begin() -> Any:
        driver: Any = asyncpg
        db = await driver.connect(world.url)
        await db.execute("BEGIN")
        await db.execute("UPDATE players SET level = 50 WHERE id = $1", BOB.id)
        await db.execute("DELETE FROM players WHERE id = $1", ZOE.id)
        return db

    async def end(db: Any) -> None:
        await db.execute(how)
        await db.close()

    late = world.run(begin())
    level_up(world, range(15))
    assert agrees(world)
    if checkpoint:
        before = read_checkpoint(world).number
        tend(world)
        assert read_checkpoint(world).number == before + 1
    world.run(end(late))
    assert agrees(world)
    assert page(world, RANK, 0, 1)[0] == (22 if how == "COMMIT" else 23)
    assert agrees(make_world())
