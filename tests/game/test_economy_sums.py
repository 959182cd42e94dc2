"""The economy: flows by source, gifts, holdings, sweeps, and the same sums whenever the count is killed."""

from collections.abc import Callable

import pytest

import people
from api_keys import create
from economics import catch_up, give, load_players, read_flows, read_holdings
from findings import errors
from game_server import put_player, stack
from gamekeeper import crash
from gamekeeper.doctor import economy_sums, item_days
from gamekeeper.game import economy, ranked_buckets, retention
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http import codec
from listings import MakeWorld
from loops import over
from people import ANN, ARROW, BOB, COIN, KILLS, SWORD, ZOE
from undos import undone
from world import World

pytestmark = pytest.mark.both_engines

ANN_COINS = 1250
TABLES = (
    "economy",
    "item_totals",
    "item_flows",
    "item_gifts",
    "item_days",
    "holdings",
    "ranked_lists",
    "ranked_buckets",
)


def test_flows_are_counted_by_source(world: World) -> None:
    key = create(world)["Key"]
    give(world, "Bob", 5)
    give(world, "Bob", 7, token=key)
    give(world, "Bob", 2, what="take")
    give(world, "Zoe", 30)
    assert undone(world, world.ledger()[-1].seq).status == 200
    report = {"Name": "Bob", "UserId": people.USER_IDS["Bob"], "Items": [stack(0, COIN.id, 4)]}
    assert put_player(world, BOB.id, report).status == 200
    catch_up(world)
    created = ANN_COINS
    assert read_flows(world) == {"staff": (created + 5 + 30, 2), "key": (7, 0), "undo": (0, 30), "game": (0, 6)}
    assert world.sql("SELECT quantity, holders FROM item_totals WHERE item_id = $1", COIN.id) == [(created + 4, 2)]
    gifts = {tuple(row) for row in world.sql("SELECT source, given, taken FROM item_gifts WHERE item_id = $1", COIN.id)}
    assert gifts == {("staff", created, 0), ("staff", 35, 2), ("key", 7, 0)}
    before = read_flows(world)
    moved = {**report, "Items": [stack(0, ZERO_GUID, 0), stack(7, COIN.id, 4)]}
    assert put_player(world, BOB.id, moved).status == 200
    catch_up(world)
    assert read_flows(world) == before
    assert errors(world) == []


def test_deleted_player_is_destroyed_but_not_taken(world: World) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 2, what="take")
    catch_up(world)
    gone = world.call("DELETE", "/api/v1/players/Bob", by="Root")
    assert gone.status == 200, gone.raw
    erased = world.call("DELETE", f"/api/v1/users/{people.USER_IDS['Ann']}", by="Root")
    assert erased.status == 200, erased.raw
    catch_up(world)
    assert read_flows(world) == {"staff": (ANN_COINS + 5, ANN_COINS + 5)}
    taken = world.sql("SELECT giver_id, taken FROM item_gifts WHERE item_id = $1 AND taken > 0", COIN.id)
    assert [(str(row[0]), row[1]) for row in taken] == [(people.USER_IDS["Shop"], 2)]
    assert not {row[0] for row in read_holdings(world)} & {ANN.id, BOB.id}
    assert world.sql("SELECT quantity, holders FROM item_totals WHERE item_id = $1", COIN.id) == [(0, 0)]
    assert errors(world) == []


def test_bulk_load_is_an_import_and_sweeps_all_players(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(economy, "BATCH_PLAYERS", 4)
    monkeypatch.setattr(ranked_buckets, "BUCKET_ROWS", 4)
    monkeypatch.setattr(ranked_buckets, "BLOCK_BUCKETS", 3)
    world = make_world(ranked=f"item:Gold Coin, variable:{KILLS.id}")
    catch_up(world)
    load_players(world, 21)
    give(world, f"Loaded{0x5003}", 9)
    catch_up(world)
    assert read_flows(world)["import"] == (231, 0)
    assert world.sql("SELECT quantity, holders FROM item_totals WHERE item_id = $1", COIN.id) == [(1250 + 231 + 9, 22)]
    assert (people.guid(0x5003), "item", COIN.id, 13) in read_holdings(world)
    assert errors(world) == []


def test_sweep_takes_off_changes_that_are_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that commits between the counted ones and the sweep is counted once."""
    monkeypatch.setattr(economy, "BATCH_PLAYERS", 1)
    upto = world.run(world.keeper.feed.find_watermark())
    while world.run(world.keeper.economy.step(upto)):
        give(world, "Ann", 3)
        give(world, "Ann", 1, what="take")
        give(world, "Zoe", 1, SWORD.id)
    catch_up(world)
    assert errors(world) == []
    held = world.sql("SELECT SUM(quantity) FROM slots WHERE player_id = $1 AND item_id = $2", ANN.id, COIN.id)[0][0]
    assert (ANN.id, "item", COIN.id, held) in read_holdings(world)


@pytest.mark.parametrize("point", crash.ROLLUP_POINTS)
def test_killed_count_gives_the_same_sums_when_repeated(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, repeat_killed: Callable[..., int], point: str
) -> None:
    monkeypatch.setattr(economy, "BATCH_PLAYERS", 4)
    monkeypatch.setattr(economy, "BATCH_CHANGES", 3)
    monkeypatch.setattr(ranked_buckets, "BUCKET_ROWS", 4)
    monkeypatch.setattr(ranked_buckets, "BLOCK_BUCKETS", 3)
    world = make_world(ranked="item:Gold Coin, variable:Kills")
    load_players(world, 17)
    for number in range(12):
        give(world, f"Loaded{0x5000 + number}", number + 1)
        give(world, f"Loaded{0x5000 + number}", 1, what="take")
    repeat_killed(point, lambda: catch_up(world))
    catch_up(world)
    assert read_flows(world) == {"staff": (1250 + 78, 12), "import": (153, 0)}
    assert errors(world) == []


def test_doctor_finds_a_wrong_sum(make_world: MakeWorld) -> None:
    world = make_world(ranked="variable:Kills")
    load_players(world, 3)
    give(world, "Bob", 5)
    catch_up(world)
    for statement, word in (
        ("UPDATE item_flows SET created = created + 1 WHERE source = 'staff'", "created by key or staff"),
        ("UPDATE item_gifts SET given = given + 1", "given by giver"),
        ("UPDATE item_gifts SET taken = taken + 1", "taken by giver"),
        ("UPDATE item_days SET quantity = quantity + 1", "the flows give"),
        ("UPDATE item_days SET holders = holders + 1", "the changes of players give"),
        ("UPDATE item_totals SET quantity = quantity + 1", "the total says"),
        ("UPDATE item_totals SET holders = holders + 1", "the total says"),
        ("UPDATE holdings SET quantity = quantity + 1 WHERE kind = 'item'", "in the slots"),
        ("UPDATE holdings SET quantity = quantity + 1 WHERE kind = 'variable'", "as value"),
    ):
        before = world.read_tables(TABLES)
        world.sql(statement)
        assert any(word in each for each in errors(world)), statement
        world.sql(statement.replace("+ 1", "- 1"))
        assert world.read_tables(TABLES) == before
    assert errors(world) == []


def test_doctor_counts_days_of_many_players_and_windows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor reads the audit log in pages and some days at a time; late changes and trimmed ones are no errors."""
    monkeypatch.setattr(economy_sums, "WINDOW_DAYS", 2)
    monkeypatch.setattr(economy_sums, "PAGE_ROWS", 3)
    monkeypatch.setattr(item_days, "PAGE_ROWS", 3)
    midnight = world.ledger()[-1].at // retention.DAY_MS * retention.DAY_MS
    world.sql("UPDATE ledger SET at = $1", midnight - 20 * retention.DAY_MS)
    catch_up(world)
    for days, name, gain in (
        (9, "Bob", 5),
        (8, "Zoe", 2),
        (6, "Bob", -5),
        (4, "Ann", 3),
        (5, "Zoe", -2),
        (1, "Bob", 4),
    ):
        give(world, name, abs(gain), what="give" if gain > 0 else "take")
        at = midnight - days * retention.DAY_MS
        world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", at, world.ledger()[-1].seq)
        catch_up(world)
    assert errors(world) == []
    for days, wrong in ((1, "holders"), (8, "holders"), (4, "quantity")):
        day = midnight // retention.DAY_MS - days
        world.sql(f"UPDATE item_days SET {wrong} = {wrong} + 3 WHERE day = $1 AND item_id = $2", day, COIN.id)  # noqa: S608 - the text is of this test
        assert any(f"day {day}" in each for each in errors(world)), (days, wrong)
        world.sql(f"UPDATE item_days SET {wrong} = {wrong} - 3 WHERE day = $1 AND item_id = $2", day, COIN.id)  # noqa: S608 - the text is of this test
    world.sql("UPDATE epoch SET trimmed = $1", world.ledger()[-2].seq)  # holders are known from there on
    assert errors(world) == []
    world.sql("UPDATE item_days SET quantity = quantity + 3 WHERE item_id = $1", COIN.id)
    assert any("the flows give" in each for each in errors(world))


def test_doctor_accepts_flows_of_an_erased_account_with_keys(world: World) -> None:
    """Changes by a key that is gone when they are counted are staff's; those counted before stay the key's."""
    key = create(world)
    give(world, "Bob", 7, token=key["Key"])
    catch_up(world)
    give(world, "Bob", 2, token=key["Key"])
    world.sql("DELETE FROM api_keys WHERE id = $1", key["Id"])
    catch_up(world)
    assert read_flows(world) == {"staff": (ANN_COINS + 2, 0), "key": (7, 0)}
    assert errors(world) == []


def test_arrows_in_a_bag_count(world: World) -> None:
    catch_up(world)
    assert (ANN.id, "item", ARROW.id, 67) in read_holdings(world)
    assert not any(row[0] == ZOE.id for row in read_holdings(world))


def test_batch_that_takes_more_than_a_player_had_changes_no_holding(world: World) -> None:
    """The next sweep adds the differences from the holdings to the totals, so both stay as they are until then."""
    catch_up(world)
    world.sql("UPDATE holdings SET quantity = 1 WHERE player_id = $1 AND thing_id = $2", ANN.id, COIN.id)
    world.sql("UPDATE item_totals SET quantity = 1 WHERE item_id = $1", COIN.id)
    before = read_holdings(world), world.sql("SELECT * FROM item_totals ORDER BY item_id")
    give(world, "Zoe", 1, SWORD.id)  # Zoe had none
    give(world, "Ann", 5, what="take")
    world.run(world.keeper.economy.count_changes(0))  # without the sweep
    assert (read_holdings(world), world.sql("SELECT * FROM item_totals ORDER BY item_id")) == before
    catch_up(world)
    assert errors(world) == []


def test_item_that_comes_and_goes_in_one_batch_leaves_no_holding(world: World) -> None:
    catch_up(world)
    before = read_holdings(world)
    give(world, "Zoe", 2, SWORD.id)
    give(world, "Zoe", 2, SWORD.id, what="take")
    give(world, "Bob", 3)
    catch_up(world)
    assert read_holdings(world) - before == {(BOB.id, "item", COIN.id, 3)}
    give(world, "Bob", 3, what="take")
    catch_up(world)
    assert read_holdings(world) == before
    assert errors(world) == []


@over("more", ['"Bags":[{"Slots":[%s]}]', '"Spells":[1]', '"Bank":[{"Slots":[%s]}]', '"Bank":[%s]'])
def test_items_of_a_side_are_counted_alike_with_and_without_other_fields(more: str) -> None:
    """A side that has nothing but slots is decoded in a faster way."""
    slot = f'{{"Slot":0,"BagId":null,"ItemId":"{COIN.id}","Quantity":%d,"StatBuffs":[0]}}'
    empty = f'{{"Slot":1,"ItemId":"{ZERO_GUID}","Quantity":0}}'
    alone = '{"Items":[' + ",".join([slot % 3, empty, slot % 4]) + "]}"
    assert codec.count_items(alone) == codec.count_items(alone.encode()) == {COIN.id: 7}
    also = more.replace("%s", slot % 5)
    assert codec.count_items(f"{alone[:-1]},{also}}}") == {COIN.id: 12 if "%s" in more else 7}
