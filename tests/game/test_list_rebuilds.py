"""Rebuilds of the ordered lists: after bulk loads, restores and restarts of the database server."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gamekeeper import log
from gamekeeper.game.list_definitions import RANK
from gamekeeper.game.lists import Lists
from gamekeeper.store import postgres_connection, sqlite
from gamekeeper.store.engine import Store
from listings import (
    MakeWorld,
    add,
    agrees,
    count_log_rows,
    crowd,
    delete,
    insert,
    level_up,
    load,
    page,
    read_checkpoint,
    rebuild,
    sizes,
    tend,
    view,
)
from people import guid
from world import World

pytestmark = pytest.mark.usefixtures("small")


def test_pages_are_counted_slowly_after_a_bulk_load_until_the_rebuild(
    make_world: MakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = make_world(), make_world()
    assert agrees(two)
    before = count_log_rows(one)
    one.run(load(one, range(50)))
    assert count_log_rows(one) == before
    for each in (one, two):
        assert view(each) is None
        assert agrees(each)
    tend(two)  # maintenance of the ordered lists, without the log message of maintain_and_report
    log.flush()
    assert not capsys.readouterr().err
    two.run(two.keeper.lists.maintain_and_report())
    log.flush()
    assert "doctor --fix" in capsys.readouterr().err
    two.run(two.keeper.lists.maintain_and_report())
    log.flush()
    assert not capsys.readouterr().err
    add(two, range(50, 55))  # other changes of the lists are logged during the rebuild
    assert agrees(one)
    one.run(one.keeper.lists.prepare())
    for each in (one, two):
        assert sizes(each, RANK)[:-1] == [4] * 14
        assert agrees(each)
    level_up(one, range(20))
    assert agrees(two)


class Meanwhile:
    """A store that calls a function after its first `read`, as if another process worked meanwhile."""

    def __init__(self, store: Store, happens: Callable[[], Awaitable[object]]) -> None:
        self._store = store
        self._happens: Callable[[], Awaitable[object]] | None = happens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, work: Any) -> Any:
        found = await self._store.read(work)
        happens, self._happens = self._happens, None
        if happens:
            await happens()
        return found


def interrupted(world: World, happens: Callable[[], Awaitable[object]]) -> Lists:
    store: Any = Meanwhile(world.keeper.store, happens)
    return Lists(store)


def test_bulk_load_during_a_checkpoint_leaves_the_counts_incomplete(make_world: MakeWorld) -> None:
    world = make_world()
    add(world, range(30))
    world.run(interrupted(world, lambda: load(world, range(30, 80))).maintain())
    assert not read_checkpoint(world).whole
    assert agrees(world)
    assert agrees(make_world())


def test_bulk_load_during_a_rebuild_is_counted(world: World) -> None:
    world.run(interrupted(world, lambda: load(world, range(30))).rebuild())
    assert read_checkpoint(world).whole
    assert agrees(world)


def test_checkpoint_of_another_process_during_a_rebuild_loses_no_row(make_world: MakeWorld) -> None:
    world, other = make_world(), make_world()

    async def change_and_save() -> None:
        await insert(other, crowd(range(30)))
        await other.keeper.lists.maintain()

    before = read_checkpoint(world).number
    world.run(interrupted(world, change_and_save).rebuild())
    assert read_checkpoint(world).number == before + 3
    for each in (world, other, make_world()):
        assert agrees(each)


def test_changes_during_the_rebuild_of_a_restored_copy_are_counted(make_world: MakeWorld) -> None:
    world = make_world()
    far = "900000000" if world.keeper.store.engine == "sqlite" else "900000000:900000000:"
    world.sql("UPDATE lists SET cluster = 'another', mark = $1", far)

    world.run(interrupted(world, lambda: insert(world, crowd(range(10)))).rebuild())
    assert read_checkpoint(world).whole
    assert agrees(make_world())


def test_counts_of_another_database_server_are_not_used(make_world: MakeWorld) -> None:
    make_world().sql("UPDATE lists SET cluster = 'another'")
    world = make_world()
    assert view(world) is None
    assert agrees(world)
    world.run(world.keeper.lists.prepare())
    assert view(world) is not None
    assert agrees(world)


def test_list_without_rows_can_be_rebuilt_and_filled(make_world: MakeWorld, reloads: list[int]) -> None:
    world = make_world()
    world.sql("DELETE FROM players")
    rebuild(world)
    assert page(world, RANK, 0, 5) == (0, [])
    assert len(reloads) == 1
    add(world, range(20))
    assert agrees(world)


def test_restart_of_the_database_server_reloads_the_blocks(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, reloads: list[int]
) -> None:
    """The database lost its last changes, so a process must reload counts that it read before."""
    for words in (sqlite.PLACEHOLDERS, postgres_connection.PLACEHOLDERS):
        monkeypatch.setitem(words, "life", "(SELECT CAST(id AS TEXT) FROM epoch)")
    world = make_world()
    add(world, range(9))
    assert page(world, RANK, 0, 5)[0] == 12
    delete(world, guid(0x2003))
    world.sql("DELETE FROM list_changes WHERE word IN ($1, '😀111')", guid(0x2003))
    assert page(world, RANK, 0, 5)[0] == 12
    del reloads[:]
    world.sql("UPDATE epoch SET id = $1", guid(1))
    assert agrees(world)
    assert len(reloads) == 1
