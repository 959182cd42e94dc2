"""The economy: flows by source, gifts, holdings, sweeps, and the same sums whenever the count is killed."""

from collections.abc import Callable

import pytest

from api_keys import create
from economics import catch_up, give, give_loaded, load_players, read_flows, read_holdings
from findings import errors
from game_server import put_player, stack
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight import economy
from gamekeeper.ground import crash
from people import ANN, BOB, COIN, KILLS, SWORD, USER_IDS, guid
from undos import undone
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

ANN_COINS = 1250
TABLES = (
    *("economy", "item_totals", "item_flows", "item_gifts", "item_days", "holdings", "ranked_lists", "ranked_buckets"),
)


def test_flows_are_counted_by_source(world: World) -> None:
    key = create(world)["Key"]
    give(world, "Bob", 5)
    give(world, "Bob", 7, token=key)
    give(world, "Bob", 2, what="take")
    give(world, "Zoe", 30)
    assert undone(world, world.ledger()[-1].seq).status == 200
    report = {"Name": "Bob", "UserId": USER_IDS["Bob"], "Items": [stack(0, COIN.id, 4)]}
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
    world.call("DELETE", "/api/v1/players/Bob", by="Root").accepted()
    world.call("DELETE", f"/api/v1/users/{USER_IDS['Ann']}", by="Root").accepted()
    catch_up(world)
    assert read_flows(world) == {"staff": (ANN_COINS + 5, ANN_COINS + 5)}
    taken = world.sql("SELECT giver_id, taken FROM item_gifts WHERE item_id = $1 AND taken > 0", COIN.id)
    assert [(str(row[0]), row[1]) for row in taken] == [(USER_IDS["Shop"], 2)]
    assert not {row[0] for row in read_holdings(world)} & {ANN.id, BOB.id}
    assert world.sql("SELECT quantity, holders FROM item_totals WHERE item_id = $1", COIN.id) == [(0, 0)]
    assert errors(world) == []


@pytest.mark.usefixtures("small_counts")
def test_bulk_load_is_an_import_and_sweeps_all_players(make_world: MakeWorld) -> None:
    world = make_world(ranked=f"item:Gold Coin, variable:{KILLS.id}")
    catch_up(world)
    load_players(world, 21)
    give(world, f"Loaded{0x5003}", 9)
    catch_up(world)
    assert read_flows(world)["import"] == (231, 0)
    assert world.sql("SELECT quantity, holders FROM item_totals WHERE item_id = $1", COIN.id) == [(1250 + 231 + 9, 22)]
    assert (guid(0x5003), "item", COIN.id, 13) in read_holdings(world)
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


@pytest.mark.usefixtures("small_counts")
@pytest.mark.parametrize("point", crash.ROLLUP_POINTS)
def test_killed_count_gives_the_same_sums_when_repeated(
    make_world: MakeWorld, repeat_killed: Callable[..., int], point: str
) -> None:
    world = make_world(ranked="item:Gold Coin, variable:Kills")
    give_loaded(world)
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
