"""Limits of the economy's work: what reads, trims, commands and sweeps may do, and which process chooses the lists."""

import asyncio
import time

import pytest

from economics import catch_up, give, load_players
from findings import errors
from gamekeeper.game.audit import retention
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.insight import economy
from gamekeeper.game.insight.economy import Economy, parse_ranked
from gamekeeper.game.lists.ranked_lists import KEEP_MS
from gamekeeper.game.world import feed as changes_feed
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.insight import economy as economy_rows
from people import ANN, COIN, KILLS, guid
from tidying import trim_older
from world import MakeWorld, World

ROOT = "/api/keeper/v1/economy"
POTION = guid(0x7001)  # an item that no player has


def read_state(world: World) -> tuple[int, str | None]:
    seq, swept = world.sql("SELECT seq, swept FROM economy")[0]
    return seq, swept and str(swept)


def read_lists(world: World) -> list[tuple[str, str, bool]]:
    found = world.sql("SELECT kind, thing_id, built FROM ranked_lists ORDER BY kind, thing_id")
    return [(row[0], str(row[1]), bool(row[2])) for row in found]


def make_economy(world: World, ranked: str) -> Economy:
    """Make the economy of another process, with its own setting."""
    return Economy(world.keeper.store, world.keeper.changes.codec, world.keeper.feed, parse_ranked(ranked))


def test_trim_counts_changes_but_sweeps_no_players(make_world: MakeWorld) -> None:
    world = make_world(ledger_days=8, ranked="item:Gold Coin")
    for _ in range(3):
        give(world, "Bob", 5)
    last = world.ledger()[-1].seq
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    world.run(trim_older(world.keeper, 8 * retention.DAY_MS))
    assert world.ledger()[-1].kind == "ledger_trimmed"
    assert read_state(world) == (last, ZERO_GUID)
    assert (read_lists(world), world.sql("SELECT COUNT(*) FROM holdings")) == ([], [(0,)])


def test_open_transaction_does_not_stop_the_count(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def is_open(*_: object) -> bool:
        return False

    give(world, "Bob", 5)
    catch_up(world)
    counted = read_state(world)[0]
    give(world, "Bob", 6)
    monkeypatch.setattr(ledger, "is_passed", is_open)
    monkeypatch.setattr(changes_feed, "FINAL_SECONDS", 0.1)
    give(world, "Bob", 7)
    assert world.get(ROOT).json["UpTo"]["Seq"] == counted
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    world.run(trim_older(world.keeper, 8 * retention.DAY_MS))
    assert world.ledger()[-1].kind == "ledger_trimmed"
    catch_up(world)
    assert read_state(world)[0] == counted
    monkeypatch.undo()
    catch_up(world)
    assert read_state(world)[0] == world.ledger()[-1].seq
    assert errors(world) == []


def test_instances_with_different_settings_keep_both_lists(world: World) -> None:
    one, other = make_economy(world, "item:Gold Coin"), make_economy(world, "variable:Kills")
    for each in (one, other):
        world.run(each.follow(0))
    both = [("item", COIN.id, True), ("variable", KILLS.id, True)]
    assert read_lists(world) == both
    before = world.read_tables(("economy", "ranked_lists"))
    for each in (one, other, one):
        world.run(each.follow(0))
    assert world.read_tables(("economy", "ranked_lists")) == before
    world.sql("UPDATE ranked_lists SET wanted_at = wanted_at - $1", KEEP_MS // 2)
    [(noted,)] = world.sql("SELECT MAX(wanted_at) FROM ranked_lists")
    for each in (one, other):
        world.run(each.follow(0))
    assert world.sql("SELECT MIN(wanted_at) FROM ranked_lists")[0][0] > noted
    world.sql("UPDATE ranked_lists SET wanted_at = wanted_at - $1", KEEP_MS + 60_000)
    world.run(one.follow(0))
    assert read_lists(world) == both[:1]
    assert world.sql("SELECT COUNT(*) FROM holdings WHERE kind = 'variable'") == [(0,)]
    assert world.sql("SELECT COUNT(*) FROM ranked_buckets WHERE thing_id = $1", KILLS.id) == [(0,)]
    assert errors(world) == []


def test_recount_waits_for_a_count_that_is_under_way(world: World) -> None:
    catch_up(world)

    async def count(tx: Writing) -> None:
        assert await economy_rows.lock_state(tx)
        if world.keeper.store.engine == "sqlite":  # its writer has a thread of its own
            time.sleep(0.3)  # noqa: ASYNC251 - runs in that thread, not in the event loop
        else:
            await asyncio.sleep(0.3)
        await economy_rows.add_totals(tx, [economy_rows.ItemStep(POTION, 5, 1)])

    async def race() -> None:
        counting = asyncio.create_task(world.keeper.store.write(count))
        await asyncio.sleep(0.1)
        await world.keeper.economy.recount()
        await counting

    world.run(race())
    catch_up(world)
    assert errors(world) == []


def test_recount_that_is_started_over_gives_the_same_totals(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(economy, "BATCH_PLAYERS", 4)
    world = make_world(ranked="item:Gold Coin")
    load_players(world, 9)
    catch_up(world)
    world.sql("UPDATE item_totals SET quantity = quantity + 3, holders = holders + 1")
    world.sql("UPDATE holdings SET quantity = quantity + 2 WHERE player_id = $1", ANN.id)
    world.sql("UPDATE ranked_buckets SET entries = entries + 1")
    world.run(world.keeper.economy.recount())
    upto = world.run(world.keeper.feed.find_final())
    for _ in range(2):
        assert world.run(world.keeper.economy.step(upto))
    give(world, "Ann", 4)
    load_players(world, 9, 0x6000)
    catch_up(world)
    assert world.sql("SELECT recount FROM economy") in ([(False,)], [(0,)])
    assert world.sql("SELECT quantity, holders FROM item_totals WHERE item_id = $1", COIN.id) == [(1254 + 90, 19)]
    assert read_lists(world) == [("item", COIN.id, True)]
    assert errors(world) == []
