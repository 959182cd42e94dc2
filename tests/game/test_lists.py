"""The ordered lists, compared with ORDER BY: every page in both directions and every rank, after every change."""

import asyncio

import pytest

import game_server
from gamekeeper.game.list_definitions import EMAILS, NAMES, ONLINE, ONLINE_RANK, RANK, USERS
from gamekeeper.game.refusals import NoSuchPlayer
from gamekeeper.store import players
from gamekeeper.store.engine import Writing
from listings import (
    IN_ORDER,
    MakeWorld,
    add,
    agrees,
    columns,
    count_log_rows,
    crowd,
    delete,
    page,
    read_checkpoint,
    read_id,
    rebuild,
    sizes,
    tend,
)
from people import ANN, BOB, ZOE
from world import SENT, World

pytestmark = pytest.mark.usefixtures("small")

# --- pages and ranks of the ordered lists ----------------------------------------------------------------------------


def test_pages_past_the_end_are_empty(world: World) -> None:
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
def test_rank_and_neighbours_of_every_player_are_right(world: World, around: int) -> None:
    add(world, range(30))
    rebuild(world)
    best_first = [row[0] for row in world.sql(IN_ORDER["rank"])][::-1]
    for place, player_id in enumerate(best_first):
        found = world.run(world.keeper.lists.find_rank(player_id, around))
        near = [
            (number + 1, each)
            for number, each in enumerate(best_first)
            if abs(number - place) <= around and number != place
        ]
        assert (found.rank, found.total, read_id(found.player)) == (place + 1, 33, player_id)
        assert [(rank, read_id(each)) for rank, each in found.around] == near


def test_rank_follows_changes_of_its_player(world: World) -> None:
    def rank(name: str) -> int:
        return world.run(world.keeper.lists.find_rank(name, 0)).rank

    assert [rank(name) for name in ("Zoe", "ann", "Bob")] == [1, 2, 3]
    game_server.put_player(world, BOB.id, {"Level": 99})
    assert [rank(name) for name in ("Bob", "Zoe", "Ann")] == [1, 2, 3]
    with pytest.raises(NoSuchPlayer):
        world.run(world.keeper.lists.find_rank("Nobody", 5))


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


async def eight_at_once(world: World) -> None:
    await asyncio.gather(*(world.keeper.lists.load_page(NAMES, 0, 5) for _ in range(8)))


def test_log_and_counts_have_no_names_of_deleted_accounts(make_world: MakeWorld, reloads: list[int]) -> None:
    """A deleted account's name is removed even as the start of a bucket; other processes reload the blocks."""
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
    # the name of a deleted player may stay in the lists' log: without its account it is not personal data
    assert character in str(one.sql("SELECT word FROM list_changes"))
    one.sql("DELETE FROM players WHERE user_id IN (SELECT id FROM users WHERE fold = $1)", first)
    one.sql("DELETE FROM users WHERE fold = $1", first)
    one.run(eight_at_once(one))  # eight parallel requests open enough database connections
    before = len(reloads)
    tend(other)
    for gone in (first, character):
        assert gone not in str(one.sql("SELECT word FROM list_changes"))
        assert gone not in str(one.sql("SELECT buckets FROM list_blocks"))
    number = read_checkpoint(one).number
    assert agrees(other)
    assert len(reloads) == before  # no reload in process `other`, which saved the blocks itself
    one.run(eight_at_once(one))
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
