"""The ordered lists with overlapping requests in one process, which happens only on PostgreSQL."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.lists.list_index import NAMES, RANK
from gamekeeper.game.players import changes
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.players import players
from listings import insert
from people import USER_IDS, guid
from postgres_sessions import connected
from world import MakeWorld, World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
FIRST = 0x3000


def add(world: World, numbers: Iterable[int]) -> None:
    made = [Player(guid(FIRST + each), USER_IDS["Bob"], f"P{each:05}", level=1 + each) for each in numbers]
    world.run(insert(world, made))


def remove(world: World, numbers: Iterable[int]) -> Any:
    async def delete(tx: Writing) -> None:
        for each in numbers:
            players.delete(tx, guid(FIRST + each))

    return world.keeper.store.write(delete)


def before_each(monkeypatch: pytest.MonkeyPatch, meanwhile: list[Callable[[], Any]]) -> None:
    """Run one function of the list after each read of a player's rank key, before its rank is counted."""
    real = lookup.find_rank_key

    async def rank_key(tx: Reading, key: str) -> players.RankKey:
        found = await real(tx, key)
        if meanwhile:
            await meanwhile.pop(0)()
        return found

    monkeypatch.setattr(lookup, "find_rank_key", rank_key)


def test_rank_comes_from_one_snapshot(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make_world(), make_world()
    add(one, range(20))
    total = one.run(one.keeper.lists.load_page(RANK, 0, 5))[0]
    met: list[int] = []

    async def remove_more() -> None:
        await remove(other, range(2, 5))
        met.append((await one.keeper.lists.load_page(NAMES, 0, 5))[0])

    before_each(monkeypatch, [lambda: remove(other, range(2)), remove_more])
    found = one.run(one.keeper.lists.find_rank("P00010", 3))
    after = one.run(one.keeper.lists.find_rank("P00010", 3))
    assert (found.rank, found.total, after.rank, after.total) == (12, total - 2, 12, total - 5)
    assert [rank for rank, _ in found.around] == [9, 10, 11, 13, 14, 15]
    assert met == [after.total]


def test_player_who_overtakes_a_neighbour_meanwhile_has_its_new_rank(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = make_world(), make_world()
    add(one, range(20))
    one.run(one.keeper.lists.load_page(RANK, 0, 5))
    better = Player(guid(FIRST + 10), USER_IDS["Bob"], "P00010", level=12, exp=5)

    async def update(tx: Writing) -> None:
        players.update(tx, changes.make_player_columns(better, other.keeper.changes.codec), named=False)

    before_each(monkeypatch, [lambda: other.keeper.store.write(update)])
    found = one.run(one.keeper.lists.find_rank("P00010", 3))
    assert found.rank == 11
    assert [rank for rank, _ in found.around] == [8, 9, 10, 12, 13, 14]


def test_bucket_that_grew_meanwhile_is_counted_whole(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make_world(), make_world()
    add(one, range(20))
    one.run(one.keeper.lists.load_page(RANK, 0, 5))
    newcomers = [Player(guid(FIRST + each), USER_IDS["Bob"], f"P{each:05}", level=1) for each in range(20, 70)]
    before_each(monkeypatch, [lambda: insert(other, newcomers)])
    assert one.run(one.keeper.lists.find_rank("P00010", 0)).rank == 12


def test_restored_copy_under_a_running_process_is_noticed(make_world: MakeWorld) -> None:
    world = make_world()
    add(world, range(10))
    world.run(world.keeper.lists.rebuild())
    server, _, name = world.url.partition("?")[0].rpartition("/")

    async def ask(*statements: str) -> None:
        await world.keeper.store.close()
        async with connected(world.url.replace(f"{server}/{name}", f"{server}/postgres", 1)) as db:
            for each in statements:
                await db.execute(each)

    world.run(ask(f'CREATE DATABASE "{name}_kept" TEMPLATE "{name}"'))
    add(world, range(10, 17))
    assert world.run(world.keeper.lists.count(NAMES)) == 20
    world.run(ask(f'DROP DATABASE "{name}" WITH (FORCE)', f'ALTER DATABASE "{name}_kept" RENAME TO "{name}"'))
    assert world.run(world.keeper.lists.count(NAMES)) == 13


def test_view_is_not_continued_from_an_older_checkpoint(make_world: MakeWorld) -> None:
    world = make_world()
    world.run(world.keeper.lists.rebuild())
    assert world.run(world.keeper.lists.count(NAMES)) == 3
    world.sql("UPDATE lists SET number = number - 1")
    world.sql("DELETE FROM list_blocks")
    with pytest.raises(KeyError):
        world.run(
            world.keeper.store.read(ordered_lists.load_view)
        )  # this read finds that the blocks of the list are missing
    with pytest.raises(KeyError):
        world.run(world.keeper.lists.count(NAMES))
