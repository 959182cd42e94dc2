"""Ranked lists: buckets and blocks agree with the rows after any changes, and any page and place is found by them."""

import random
from itertools import pairwise

import pytest

import people
from boarding import catch_up as count_boards
from boarding import create, standings
from economics import catch_up, load_players
from findings import errors, findings
from gamekeeper.game.insight import standings as season_standings
from gamekeeper.game.lists import ranked_lists
from gamekeeper.game.lists.ranked_lists import apply_holdings, build_list
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.insight import holdings as holding_rows
from gamekeeper.store.insight import standings as standing_rows
from gamekeeper.store.insight.holdings import Holding, RankedList
from gamekeeper.store.insight.standings import Standing, StandingKey
from gamekeeper.store.lists import ranked_buckets as rows
from gamekeeper.store.lists.ranked_buckets import LOWEST, BucketTable, RankedBucket
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

SEASON = people.guid(0x7100)
ITEM = people.guid(0x7200)
PLAYERS = [people.guid(0x8000 + number) for number in range(240)]
Values = dict[str, int]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make buckets and blocks small, so that a few dozen rows split and merge both."""
    monkeypatch.setattr(ranked_lists, "BUCKET_ROWS", 5)
    monkeypatch.setattr(ranked_lists, "BLOCK_BUCKETS", 5)
    monkeypatch.setattr(ranked_lists, "MAX_SPLITS", 2)


async def change(tx: Writing, kind: str, before: Values, after: Values) -> None:
    """Store new quantities or values of players, as the follower does."""
    if kind == "item":
        pairs = {Holding(each, kind, ITEM): (before.get(each), after.get(each)) for each in before | after}
        await apply_holdings(tx, pairs, [RankedList(kind, ITEM, *LOWEST, built=True, wanted_at=0)])
        return
    held = {StandingKey(each, SEASON): Standing(value, listed=True) for each, value in before.items()}
    kept = {StandingKey(each, SEASON): Standing(value, listed=True) for each, value in after.items()}
    changed: dict[StandingKey, Standing | None] = {**dict.fromkeys(held), **kept}
    await season_standings.save(tx, {key: each for key, each in changed.items() if each != held.get(key)}, held)


async def begin(tx: Writing, kind: str, table: BucketTable) -> None:
    if kind == "item":
        await ranked_lists.append(tx, table, [RankedBucket(kind, ITEM, *LOWEST, 0)])
    else:
        standing_rows.begin(tx, SEASON)


async def check(tx: Reading, kind: str, table: BucketTable, values: Values) -> tuple[int, int]:
    """Compare blocks, buckets, pages and places with the rows. Return the numbers of blocks and of buckets."""
    thing_id = ITEM if kind == "item" else SEASON
    keys = sorted((value, player_id) for player_id, value in values.items())
    buckets = await table.read_buckets(tx, kind, thing_id, LOWEST, 1000)
    for each, end in pairwise([*(bucket.key for bucket in buckets), rows.HIGHEST]):
        entries = next(bucket.entries for bucket in buckets if bucket.key == each)
        assert entries == sum(each <= key < end for key in keys)
    # a bucket starts at a row, so the id of an erased player does not stay in it
    assert {each.key for each in buckets} <= {LOWEST, *keys}
    blocks = await rows.read_blocks(tx, kind, thing_id)
    for block, end in zip(blocks, [*(each.key for each in blocks[1:]), rows.HIGHEST], strict=True):
        own = [each for each in buckets if block.key <= each.key < end]
        assert (block.buckets, block.entries) == (len(own), sum(each.entries for each in own))
        assert block.key == own[0].key
        assert block.buckets < 2 * ranked_lists.BLOCK_BUCKETS
    keys.reverse()
    for size in (3, 17):
        for offset in range(0, len(keys) + size, size):
            total, page = await ranked_lists.find_page(tx, table, kind, thing_id, offset, size)
            assert total == len(keys)
            assert [(each.quantity, each.player_id) for each in page] == keys[offset : offset + size]
    if kind == "season":
        for place, (_, player_id) in enumerate(keys, 1):
            assert await season_standings.find_place(tx, SEASON, player_id) == place
    return len(blocks), len(buckets)


@pytest.mark.parametrize(("kind", "at_once"), [("item", rows.BUCKETS_PER_STEP), ("item", 0), ("season", 0)])
def test_blocks_and_buckets_agree_with_the_rows_after_random_changes(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, at_once: int
) -> None:
    """In a long list each bucket is sought: `at_once` is the number of buckets up to which all are read."""
    monkeypatch.setattr(rows, "BUCKETS_PER_STEP", at_once)
    dice, table = random.Random(48), holding_rows.BUCKETS if kind == "item" else standing_rows.BUCKETS
    values: Values = {}
    sizes: list[tuple[int, int]] = []
    store = world.keeper.store
    world.run(store.write(lambda tx: begin(tx, kind, table)))
    # grow, change, shrink to a few, and grow again; a batch has from one to sixty players
    for chance, turns, least in ((0.1, 12, 1), (0.5, 4, 1), (1.0, 12, 60), (0.1, 8, 20)):
        for _ in range(turns):
            some = dice.sample(PLAYERS, dice.choice((least, 20, 60)))
            before = {each: values[each] for each in some if each in values}
            after = {each: dice.randrange(1, 40) for each in some if dice.random() > chance}
            values = {each: value for each, value in values.items() if each not in before} | after
            world.run(store.write(lambda tx, old=before, new=after: change(tx, kind, old, new)))
            assert world.run(store.read(rows.count_wrong_blocks)) == {}
        sizes.append(world.run(store.read(lambda tx, now=values: check(tx, kind, table, now))))
    blocks = [each for each, _ in sizes]
    assert min(blocks[0], blocks[3]) > 3
    assert blocks[2] <= 2


def test_row_that_goes_while_a_list_is_counted_starts_no_bucket(world: World) -> None:
    store, table = world.keeper.store, holding_rows.BUCKETS
    values = {each: number for number, each in enumerate(PLAYERS[:100], 1)}

    async def step(tx: Writing) -> bool:
        return await build_list(tx, await holding_rows.read_lists(tx))

    async def delete_at_cursor(tx: Writing) -> str:
        lists = await holding_rows.read_lists(tx)
        await apply_holdings(tx, {Holding(lists[0].player_id, "item", ITEM): (lists[0].quantity, None)}, lists)
        return lists[0].player_id

    world.run(
        store.write(
            lambda tx: apply_holdings(tx, {Holding(each, "item", ITEM): (None, values[each]) for each in values}, [])
        )
    )
    world.run(store.write(lambda tx: holding_rows.want_list(tx, "item", ITEM, *LOWEST, 0)))
    while world.run(store.write(step)):
        if not world.run(holding_rows.read_lists(store))[0].built:
            del values[world.run(store.write(delete_at_cursor))]
    assert len(values) < 100
    world.run(store.read(lambda tx: check(tx, "item", table, values)))


def test_doctor_finds_and_fixes_wrong_blocks(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked_lists, "BUCKET_ROWS", 1)
    world = make_world(ranked="item:Gold Coin")
    create(world, "coins", "item", Thing="Gold Coin")
    load_players(world, 200)
    catch_up(world)
    count_boards(world)
    everyone = standings(world, "coins", "?pageSize=100")
    monkeypatch.undo()
    for statement in (
        "UPDATE bucket_blocks SET entries = entries + 1",
        "UPDATE bucket_blocks SET buckets = buckets - 1",
        "DELETE FROM bucket_blocks WHERE quantity = (SELECT MIN(quantity) FROM bucket_blocks)",
        "UPDATE bucket_blocks SET quantity = quantity - 1 WHERE quantity = (SELECT MAX(quantity) FROM bucket_blocks)",
    ):
        world.sql(statement)
        found = errors(world)
        assert len(found) == 2, (statement, found)
        assert all("blocks that are not the sums" in each for each in found)
        fixed = findings(world, "blocks", fix=True)
        assert [each.level for each in fixed] == ["note"]
        assert errors(world) == []
        assert standings(world, "coins", "?pageSize=100") == everyone
    assert findings(world, "blocks", fix=True) == []
    assert world.sql("SELECT MAX(buckets) FROM bucket_blocks") == [(ranked_lists.BLOCK_BUCKETS,)]
