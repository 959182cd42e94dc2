"""The ordered lists, compared with ORDER BY: after every change, over several processes, and after rebuilds."""

from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import asyncpg
import pytest

import game_server
from gamekeeper.game.lists.list_index import EMAILS, NAMES, ONLINE, ONLINE_RANK, RANK, USERS
from gamekeeper.game.lists.ordered_lists import Lists
from gamekeeper.store.core import ordered_lists as stored
from gamekeeper.store.engine import postgres_connection, sqlite
from gamekeeper.store.engine.interface import Store, Writing
from gamekeeper.store.players import players
from listings import (
    CHECKPOINT,
    IN_ORDER,
    add,
    agrees,
    columns,
    count_log_rows,
    crowd,
    delete,
    insert,
    level_up,
    load,
    page,
    read_checkpoint,
    read_id,
    rebuild,
    sizes,
    tend,
    view,
)
from people import ANN, BOB, ZOE, guid
from world import SENT, MakeWorld, World

pytestmark = pytest.mark.usefixtures("small")

# --- pages and ranks of the ordered lists ----------------------------------------------------------------------------


def test_rank_and_neighbours_of_every_player_are_right(world: World) -> None:
    add(world, range(30))
    rebuild(world)
    best_first = [row[0] for row in world.sql(IN_ORDER["rank"])][::-1]
    numbered = list(enumerate(best_first, 1))
    for around, (place, player_id) in product((0, 1, 5, 50), numbered):
        found = world.run(world.keeper.lists.find_rank(player_id, around))
        near = [(number, each) for number, each in numbered if 0 < abs(number - place) <= around]
        assert (found.rank, found.total, read_id(found.player)) == (place, 33, player_id)
        assert [(rank, read_id(each)) for rank, each in found.around] == near


# --- ordered lists after changes of rows -----------------------------------------------------------------------------


def test_every_kind_of_change_updates_the_lists(world: World) -> None:
    add(world, range(25))
    game_server.heartbeat(world)
    game_server.join(world, *[each.id for each in crowd(range(25))])
    rebuild(world)  # rebuild with small buckets, so that a changed row moves to another bucket
    assert [len(sizes(world, each)) for each in (RANK, NAMES, ONLINE, ONLINE_RANK)] == [7, 7, 7, 7]
    assert agrees(world)
    new, body = game_server.newcomer(1, Level=12, Exp=345)
    link = [
        lambda: game_server.put_player(world, new, body),
        lambda: game_server.put_player(world, new, {"Name": "aardvark"}),
        lambda: game_server.put_player(world, new, {"Level": 3}),
        lambda: game_server.put_player(world, new, {"Exp": 0}),
        lambda: game_server.put_player(world, new, {"Exp": 2**63 - 1}),
        lambda: game_server.put_player(world, new, {"Level": 2**31 - 1, "Exp": 0, "Name": "Zz"}),
        lambda: game_server.put_player(world, new, {"X": 5}),
        lambda: game_server.join(world, new, ANN.id, BOB.id),
        lambda: game_server.join(world, new),
        lambda: game_server.put_player(world, new, {"Name": "Andy"}),
        lambda: game_server.put_player(world, new, {"Level": 2}),
        lambda: game_server.put_player(world, new, {"Exp": 7, "Name": "Ondine"}),
        lambda: game_server.leave(world, BOB.id),
        lambda: game_server.heartbeat(world, "two"),
        lambda: game_server.join(world, ANN.id, server="two"),
        lambda: world.call("DELETE", "/api/link/v1/servers/two", by="Server"),
    ]
    for step in link:
        assert step().status == 200
        assert agrees(world)
    assert game_server.lapse(world) == 1
    assert agrees(world)
    assert page(world, ONLINE, 0, 5) == (0, [])
    assert world.call("DELETE", f"/api/link/v1/players/{new}", by="Server").status == 200
    assert agrees(world)


def test_lists_follow_registered_renamed_and_deleted_accounts(world: World) -> None:
    body = {"username": "Nina", "password": SENT, "email": "nina@example.test"}
    rebuild(world)
    assert len(sizes(world, USERS)) == 2
    assert world.post("/api/v1/users/register", body).status == 200
    assert agrees(world)
    assert page(world, USERS, 0, 1)[0] == 8
    world.sql("UPDATE users SET fold = 'zzz' WHERE fold = 'nina'")
    assert agrees(world)
    assert world.post("/api/v1/users/zzz/manage/email/change", {"new": "zzz@example.test"}).status == 200
    assert agrees(world)
    assert page(world, EMAILS, 7, 1) == page(world, USERS, 7, 1)
    world.sql("DELETE FROM users WHERE fold = 'zzz'")
    assert agrees(world)


def test_log_and_counts_have_no_names_of_deleted_accounts(make_world: MakeWorld, reloads: list[int]) -> None:
    """A deleted account's name is removed even as the start of a bucket; other processes reload the blocks."""
    one, other = make_world(), make_world()

    def load_eight() -> None:
        one.at_once(one.keeper.lists.load_page(NAMES, 0, 5) for _ in range(8))

    add(one, range(60))
    rebuild(one)
    assert agrees(one)
    assert agrees(other)
    first = [row[0] for row in one.sql("SELECT fold FROM users ORDER BY fold")][4]
    assert first in str(one.sql("SELECT buckets FROM list_blocks WHERE list = 'users'"))
    character = one.sql("SELECT fold FROM players ORDER BY fold LIMIT 1 OFFSET 8")[0][0]
    one.sql("DELETE FROM players WHERE fold = $1", character)
    tend(other)
    # the name of a deleted player may stay in the lists' log: without its account it is not personal data
    assert character in str(one.sql("SELECT word FROM list_changes"))
    one.sql("DELETE FROM players WHERE user_id IN (SELECT id FROM users WHERE fold = $1)", first)
    one.sql("DELETE FROM users WHERE fold = $1", first)
    load_eight()  # eight parallel requests open enough database connections
    before = len(reloads)
    tend(other)
    for gone in (first, character):
        assert gone not in str(one.sql("SELECT word FROM list_changes"))
        assert gone not in str(one.sql("SELECT buckets FROM list_blocks"))
    number = read_checkpoint(one).number
    assert agrees(other)
    assert len(reloads) == before  # no reload in process `other`, which saved the blocks itself
    load_eight()
    assert len(reloads) == before + 1  # the eight parallel requests share one reload of the blocks
    assert agrees(one)
    assert agrees(other)
    tend(one)
    tend(other)
    assert read_checkpoint(one).number == number  # maintenance by both processes saves only one checkpoint


def test_deleted_player_leaves_the_online_list(world: World) -> None:
    game_server.heartbeat(world)
    game_server.join(world, BOB.id, ZOE.id)
    assert page(world, ONLINE, 0, 5)[0] == 2
    delete(world, BOB.id)
    assert agrees(world)
    world.sql("DELETE FROM servers")
    assert agrees(world)
    assert page(world, ONLINE, 0, 5)[0] == 0


def test_rollback_leaves_no_log_entry(world: World) -> None:
    assert agrees(world)
    before = count_log_rows(world)
    put = f"/api/link/v1/players/{BOB.id}?dryRun=true"
    assert world.call("PUT", put, body={"Level": 77, "Name": "Qq"}, by="Server").json["Level"] == 77

    async def fail(tx: Writing) -> None:
        players.insert(tx, columns(world, range(5)))
        await tx.flush()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        world.run(world.keeper.store.write(fail))
    assert count_log_rows(world) == before
    assert agrees(world)
    add(world, [1])
    assert agrees(world)


# --- buckets, checkpoints, trimming of the lists' log ---------------------------------------------------------------


def test_checkpoint_merges_small_buckets_and_trims_the_log(world: World) -> None:
    rebuild(world)
    assert count_log_rows(world) == 0
    first = read_checkpoint(world).number
    add(world, range(5))
    tend(world)
    assert read_checkpoint(world).number == first  # few entries save no checkpoint
    add(world, range(5, 60))
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


@pytest.mark.both_engines
def test_two_processes_save_one_checkpoint_at_once(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    add(one, range(30))
    before = read_checkpoint(one).number

    one.at_once(each.keeper.lists.maintain() for each in (one, two))
    assert read_checkpoint(one).number == before + 1
    for each in (one, two, make_world()):
        assert agrees(each)


# --- ordered lists with late commits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
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


# --- rebuilds after bulk loads, restores and restarts of the database server -----------------------------------------


def test_pages_are_counted_slowly_after_a_bulk_load_until_the_rebuild(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    assert agrees(two)
    before = count_log_rows(one)
    one.run(load(one, range(50)))
    assert count_log_rows(one) == before
    for each in (one, two):
        assert view(each) is None
        assert agrees(each)
    tend(two)
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
    reloads.clear()
    world.sql("UPDATE epoch SET id = $1", guid(1))
    assert agrees(world)
    assert len(reloads) == 1
