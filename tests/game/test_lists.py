"""The ordered lists against ORDER BY: every page, both ways, whatever happens to the rows, the log and the counts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import pytest

import game_server
from gamekeeper.game import lists, order, rows
from gamekeeper.game.lists import EMAILS, LISTINGS, NAMES, ONLINE, ONLINE_RANK, RANK, USERS, Lists, View
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import NoSuchPlayer
from gamekeeper.store import lists as stored
from gamekeeper.store import players, postgres, sqlite
from gamekeeper.store.engine import Store, Writing
from people import ANN, BOB, USER_IDS, ZOE, guid
from world import SENT, World

IN_ORDER = {
    "rank": "SELECT CAST(id AS TEXT) FROM players ORDER BY level, exp, id",
    "names": "SELECT CAST(id AS TEXT) FROM players ORDER BY fold",
    "users": "SELECT CAST(id AS TEXT) FROM users ORDER BY fold",
    "emails": "SELECT CAST(id AS TEXT) FROM users ORDER BY email_fold",
    "online": "SELECT CAST(p.id AS TEXT) FROM players p JOIN presence o ON o.player_id = p.id ORDER BY p.fold",
    "online_rank": "SELECT CAST(p.id AS TEXT) FROM players p JOIN presence o ON o.player_id = p.id "
    "ORDER BY p.level, p.exp, p.id",
}
CHECKPOINT = 40
MakeWorld = Callable[..., World]
only_postgres = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few dozen rows divide buckets and blocks, and a few changes make a checkpoint."""
    for module in (order, lists):
        monkeypatch.setattr(module, "FULL", 4)
    monkeypatch.setattr(order, "CROWDED", 8)
    monkeypatch.setattr(order, "BLOCK", 3)
    monkeypatch.setattr(lists, "DIVIDED", 2)
    monkeypatch.setattr(lists, "CHECKPOINT", CHECKPOINT)


@pytest.fixture
def reloads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets longer whenever somebody reads the blocks."""
    seen: list[int] = []
    blocks = stored.blocks

    async def noted(tx: Any) -> Any:
        seen.append(1)
        return await blocks(tx)

    monkeypatch.setattr(stored, "blocks", noted)
    return seen


def agrees(world: World) -> bool:
    """Pages of several sizes one after the other, over the end too, and how many there are."""
    for listing in LISTINGS:
        wanted = [row[0] for row in world.sql(IN_ORDER[listing.name])]
        for descending in (False, True):
            expected = wanted[::-1] if descending else wanted
            for size in (7, 100):
                for offset in range(0, len(wanted) + size + 1, size):
                    total, found = page(world, listing, offset, size, descending=descending)
                    assert (listing.name, total) == (listing.name, len(wanted))
                    assert [each.id for each in found] == expected[offset : offset + size], (listing.name, offset)
    return True


def page(world: World, listing: Any, offset: int, limit: int, *, descending: bool = False) -> tuple[int, list[Any]]:
    return world.run(world.keeper.lists.page(listing, offset, limit, descending=descending))


def crowd(numbers: Sequence[int]) -> list[Player]:
    """Names that do not follow the ranks, in more than one alphabet, and ranks with many ties."""
    return [
        Player(
            guid(0x2000 + number),
            USER_IDS["Bob"],
            f"{'NéЖ😀'[number % 4]}{number * 37 % 1000:03}",
            level=1 + number % 7,
            exp=number % 3,
        )
        for number in numbers
    ]


def columns(world: World, numbers: Sequence[int]) -> list[players.Columns]:
    return [rows.columns(each, world.keeper.changes.spelling) for each in crowd(numbers)]


def add(world: World, numbers: Sequence[int]) -> None:
    async def insert(tx: Writing) -> None:
        players.insert(tx, columns(world, numbers))

    world.run(world.keeper.store.write(insert))


async def load(world: World, numbers: Sequence[int]) -> None:
    """Past the log, as a bulk load does it."""

    async def past_the_log(tx: Writing) -> None:
        await stored.load_unlisted(tx)
        players.load(tx, columns(world, numbers))
        await stored.resume(tx)

    await world.keeper.store.write(past_the_log)


def tend(world: World) -> None:
    world.run(world.keeper.lists.tend())


def rebuild(world: World) -> None:
    world.run(world.keeper.lists.rebuild())


def view(world: World) -> View | None:
    return world.run(world.keeper.store.read(lists.view))


def sizes(world: World, listing: Any) -> list[int]:
    found = view(world)
    assert found
    return [count for block in found.orders[listing.name].blocks for count in block.counts]


def saved(world: World) -> stored.Checkpoint:
    return world.run(stored.checkpoint(world.keeper.store))


def logged(world: World) -> int:
    return world.sql("SELECT COUNT(*) FROM list_changes")[0][0]


def level_up(world: World, numbers: Sequence[int]) -> None:
    first, last = guid(0x2000 + numbers[0]), guid(0x2000 + numbers[-1])
    world.sql("UPDATE players SET level = level + 7 WHERE id BETWEEN $1 AND $2", first, last)


def delete(world: World, player_id: str) -> None:
    world.sql("DELETE FROM players WHERE id = $1", player_id)


# --- pages and ranks -------------------------------------------------------------------------------------------------


def test_pages_past_the_end_have_nobody_however_far(world: World) -> None:
    add(world, range(30))
    for offset in (33, 34, 2**31, 2**63 - 1, 2**63, 2**70):
        for descending in (False, True):
            assert page(world, RANK, offset, 5, descending=descending) == (33, [])
    total, last = page(world, RANK, 31, 5, descending=True)
    assert (total, len(last)) == (33, 2)
    far = world.get("/api/v1/players/rank?page=2147483647&pageSize=100")
    assert (far.status, far.json["Total"], far.json["Values"]) == (200, 33, [])
    for number in (2**31, 2**63, 2**70):
        assert world.get(f"/api/v1/players/rank?page={number}").code == "bad_field"


@pytest.mark.parametrize("around", [0, 1, 5, 50])
def test_the_rank_of_everybody_and_who_is_around(world: World, around: int) -> None:
    add(world, range(30))
    rebuild(world)
    best_first = [row[0] for row in world.sql(IN_ORDER["rank"])][::-1]
    for place, player_id in enumerate(best_first):
        found = world.run(world.keeper.lists.rank(player_id, around))
        near = [
            (number + 1, each)
            for number, each in enumerate(best_first)
            if abs(number - place) <= around and number != place
        ]
        assert (found.rank, found.total, found.player.id) == (place + 1, 33, player_id)
        assert [(rank, each.id) for rank, each in found.around] == near


def test_a_rank_follows_its_player(world: World) -> None:
    def rank(name: str) -> int:
        return world.run(world.keeper.lists.rank(name, 0)).rank

    assert [rank(name) for name in ("Zoe", "ann", "Bob")] == [1, 2, 3]
    game_server.put_player(world, BOB.id, {"Level": 99})
    assert [rank(name) for name in ("Bob", "Zoe", "Ann")] == [1, 2, 3]
    with pytest.raises(NoSuchPlayer):
        world.run(world.keeper.lists.rank("Nobody", 5))


# --- what changes rows -----------------------------------------------------------------------------------------------


def test_every_kind_of_change_moves_the_lists_with_it(world: World) -> None:
    add(world, range(25))
    game_server.heartbeat(world)
    game_server.join(world, *[each.id for each in crowd(range(25))])
    rebuild(world)  # a row that stays in its bucket would show nothing
    assert [len(sizes(world, each)) for each in (RANK, NAMES, ONLINE, ONLINE_RANK)] == [7, 7, 7, 7]
    assert agrees(world)
    new, body = game_server.newcomer(1, Level=12, Exp=345)
    link: list[Callable[[], Any]] = [
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


def test_accounts_that_come_change_their_name_and_go(world: World) -> None:
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


async def eight_at_once(world: World) -> None:
    await asyncio.gather(*(world.keeper.lists.page(NAMES, 0, 5) for _ in range(8)))


def test_nothing_names_an_account_that_went(make_world: MakeWorld, reloads: list[int]) -> None:
    """Neither the log nor the counts, although it was the first of its bucket; others read them anew, and all agree."""
    one, other = make_world(), make_world()
    add(one, range(60))
    rebuild(one)
    assert agrees(one)
    assert agrees(other)
    first = [row[0] for row in one.sql("SELECT fold FROM users ORDER BY fold")][4]
    assert first in str(one.sql("SELECT buckets FROM list_blocks WHERE list = 'users'"))
    character = one.sql("SELECT fold FROM players ORDER BY fold LIMIT 1 OFFSET 8")[0][0]
    one.sql("DELETE FROM players WHERE fold = $1", character)
    tend(other)
    assert character in str(one.sql("SELECT word FROM list_changes"))  # a character alone is no person
    one.sql("DELETE FROM players WHERE user_id IN (SELECT id FROM users WHERE fold = $1)", first)
    one.sql("DELETE FROM users WHERE fold = $1", first)
    one.run(eight_at_once(one))  # so that there are connections for all of them
    before = len(reloads)
    tend(other)
    for gone in (first, character):
        assert gone not in str(one.sql("SELECT word FROM list_changes"))
        assert gone not in str(one.sql("SELECT buckets FROM list_blocks"))
    number = saved(one).number
    assert agrees(other)
    assert len(reloads) == before  # it made them
    one.run(eight_at_once(one))
    assert len(reloads) == before + 1  # one for all
    assert agrees(one)
    assert agrees(other)
    tend(one)
    tend(other)
    assert saved(one).number == number  # once


def test_a_deleted_row_takes_its_presence_out_of_the_list(world: World) -> None:
    game_server.heartbeat(world)
    game_server.join(world, BOB.id, ZOE.id)
    assert page(world, ONLINE, 0, 5)[0] == 2
    delete(world, BOB.id)
    assert agrees(world)
    world.sql("DELETE FROM servers")
    assert agrees(world)
    assert page(world, ONLINE, 0, 5)[0] == 0


def test_what_is_rolled_back_leaves_no_trace(world: World) -> None:
    assert agrees(world)
    before = logged(world)
    put = f"/api/link/v1/players/{BOB.id}?dryRun=true"
    assert world.call("PUT", put, body={"Level": 77, "Name": "Qq"}, by="Server").json["Level"] == 77

    async def fail(tx: Writing) -> None:
        players.insert(tx, columns(world, range(5)))
        await tx.flush()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        world.run(world.keeper.store.write(fail))
    assert logged(world) == before
    assert agrees(world)
    add(world, [1])
    assert agrees(world)


# --- buckets, checkpoints, trimming ----------------------------------------------------------------------------------


def test_crowded_buckets_are_divided(world: World) -> None:
    add(world, range(60))
    assert max(sizes(world, RANK)) == 63
    tend(world)
    for listing in (RANK, NAMES):
        assert max(sizes(world, listing)) < order.CROWDED
    found = view(world)
    assert found
    assert len(found.orders["names"].blocks) > 3
    assert agrees(world)


def test_a_checkpoint_is_saved_packed_and_the_log_is_trimmed_up_to_the_one_before(world: World) -> None:
    rebuild(world)
    assert logged(world) == 0
    add(world, range(60))
    first, before = saved(world).number, logged(world)
    tend(world)
    assert saved(world).number == first + 1
    assert logged(world) == before == 120  # the earlier checkpoint knew of none of them
    world.sql("DELETE FROM players WHERE level > 1 AND level < 8")
    gone = logged(world) - before
    assert gone > CHECKPOINT
    tend(world)
    assert logged(world) == gone
    many = sum(len(block) for block in world.run(stored.blocks(world.keeper.store))["names"])
    assert many < 10
    assert agrees(world)


def test_it_is_the_packed_counts_that_a_process_goes_on_with(world: World) -> None:
    """Else buckets that everybody has left would stay in its memory for ever."""
    add(world, range(60))
    for _ in range(10):
        level_up(world, range(60))
        tend(world)
    assert agrees(world)
    assert len(sizes(world, RANK)) < 40


def test_few_changes_make_no_checkpoint(world: World) -> None:
    first = saved(world).number
    add(world, range(5))
    tend(world)
    assert saved(world).number == first


def test_another_process_goes_on_after_one_checkpoint_and_reads_the_blocks_after_two(
    make_world: MakeWorld, reloads: list[int]
) -> None:
    one, two = make_world(), make_world()
    assert agrees(one)
    assert agrees(two)
    del reloads[:]
    for number in range(4):
        before = saved(one).number
        add(one, range(100 * number, 100 * number + 30))
        tend(one)
        assert saved(one).number == before + 1
        if number != 1:  # between the second and the third it sleeps
            assert agrees(two)
        assert len(reloads) == (number > 1)
    assert agrees(one)


def test_a_process_starts_from_the_checkpoint_and_the_log(make_world: MakeWorld, reloads: list[int]) -> None:
    one = make_world()
    add(one, range(30))
    tend(one)
    add(one, range(30, 40))
    level_up(one, range(10))
    two = make_world()
    del reloads[:]
    found = view(two)
    assert found
    assert (found.changes, len(reloads)) == (40, 1)
    assert agrees(two)
    add(two, range(40, 50))
    assert agrees(one)


def test_two_processes_that_save_at_once_save_once(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    add(one, range(30))
    before = saved(one).number

    async def both() -> None:
        await asyncio.gather(one.keeper.lists.tend(), two.keeper.lists.tend())

    one.run(both())
    assert saved(one).number == before + 1
    for each in (one, two, make_world()):
        assert agrees(each)


# --- bulk loads, restores, other servers -----------------------------------------------------------------------------


def test_a_bulk_load_is_counted_the_slow_way_until_the_lists_are_built_anew(
    make_world: MakeWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = make_world(), make_world()
    assert agrees(two)
    before = logged(one)
    one.run(load(one, range(50)))
    assert logged(one) == before
    for each in (one, two):
        assert view(each) is None
        assert agrees(each)
    tend(two)
    assert "doctor --fix" in capsys.readouterr().err
    tend(two)
    assert not capsys.readouterr().err
    add(two, range(50, 55))  # the log goes on meanwhile
    assert agrees(one)
    one.run(one.keeper.lists.ready())
    for each in (one, two):
        assert sizes(each, RANK)[:-1] == [4] * 14
        assert agrees(each)
    level_up(one, range(20))
    assert agrees(two)


class Meanwhile:
    """A store after whose first snapshot something happens."""

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


def test_a_bulk_load_while_a_checkpoint_is_made_is_not_taken_for_counted(make_world: MakeWorld) -> None:
    world = make_world()
    add(world, range(30))
    world.run(interrupted(world, lambda: load(world, range(30, 80))).tend())
    assert not saved(world).whole
    assert agrees(world)
    assert agrees(make_world())


def test_a_bulk_load_while_the_lists_are_built_is_counted_too(world: World) -> None:
    world.run(interrupted(world, lambda: load(world, range(30))).rebuild())
    assert saved(world).whole
    assert agrees(world)


def test_a_checkpoint_of_another_while_the_lists_are_built_costs_no_change(make_world: MakeWorld) -> None:
    world, other = make_world(), make_world()

    async def change_and_save() -> None:
        async def insert(tx: Writing) -> None:
            players.insert(tx, columns(other, range(30)))

        await other.keeper.store.write(insert)
        await other.keeper.lists.tend()

    before = saved(world).number
    world.run(interrupted(world, change_and_save).rebuild())
    assert saved(world).number == before + 3
    for each in (world, other, make_world()):
        assert agrees(each)


def test_changes_while_the_lists_of_a_restored_copy_are_built_are_kept(make_world: MakeWorld) -> None:
    world = make_world()
    far = "900000000" if world.keeper.store.engine == "sqlite" else "900000000:900000000:"
    world.sql("UPDATE lists SET cluster = 'another', mark = $1", far)

    async def change() -> None:
        async def insert(tx: Writing) -> None:
            players.insert(tx, columns(world, range(10)))

        await world.keeper.store.write(insert)

    world.run(interrupted(world, change).rebuild())
    assert saved(world).whole
    assert agrees(make_world())


def test_counts_with_another_servers_mark_are_not_believed(make_world: MakeWorld) -> None:
    make_world().sql("UPDATE lists SET cluster = 'another'")
    world = make_world()
    assert view(world) is None
    assert agrees(world)
    world.run(world.keeper.lists.ready())
    assert view(world) is not None
    assert agrees(world)


def test_a_new_database_is_ready_without_rows(make_world: MakeWorld, reloads: list[int]) -> None:
    world = make_world()
    world.sql("DELETE FROM players")
    rebuild(world)
    assert page(world, RANK, 0, 5) == (0, [])
    assert len(reloads) == 1
    add(world, range(20))
    assert agrees(world)


def test_another_life_of_the_server_begins_with_the_blocks(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, reloads: list[int]
) -> None:
    """A database that was set back: what was seen of it and never came to last must be forgotten."""
    for words in (sqlite.WORDS, postgres.WORDS):
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


# --- late commits ----------------------------------------------------------------------------------------------------


@only_postgres
@pytest.mark.parametrize("how", ["COMMIT", "ROLLBACK"])
@pytest.mark.parametrize("checkpoint", [False, True])
def test_what_commits_late_is_counted_when_it_is_there(make_world: MakeWorld, how: str, *, checkpoint: bool) -> None:
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
        before = saved(world).number
        tend(world)
        assert saved(world).number == before + 1
    world.run(end(late))
    assert agrees(world)
    assert page(world, RANK, 0, 1)[0] == (22 if how == "COMMIT" else 23)
    assert agrees(make_world())
