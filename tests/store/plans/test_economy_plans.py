"""Query plans of the economy: no statement reads more rows with more players, changes or days."""

from typing import Any

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import economy, holdings, ranked_buckets
from gamekeeper.store.history import NEVER
from gamekeeper.store.ranked_buckets import HIGHEST, LOWEST
from gamekeeper.store.table import as_table, as_tree
from people import COIN, KILLS
from plans import WORDS, find_growing
from world import World

# PostgreSQL only: it plans by the statistics of tables. SQLite has none, so its plans are those of the snapshots.
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

FILL = (
    "INSERT INTO holdings SELECT id, 'item', CAST($1 AS {guid}), exp FROM players",
    "INSERT INTO ranked_buckets SELECT 'item', CAST($1 AS {guid}), exp, id, 1 FROM players",
    "INSERT INTO bucket_blocks SELECT 'item', CAST($1 AS {guid}), exp, id, 1, 1 FROM players",
    "INSERT INTO item_flows SELECT DISTINCT CAST($1 AS {guid}), exp + 7 * level, 'game', 1, 1 FROM players",
    "INSERT INTO item_days SELECT DISTINCT CAST($1 AS {guid}), exp + 7 * level, 1, 1 FROM players",
    "INSERT INTO item_gifts SELECT exp, id, CAST($1 AS {guid}), 'staff', 1, 0 FROM players",
)


def test_statements_of_the_economy_use_an_index(world: World) -> None:
    engine, player, item = world.keeper.store.engine, make_numbered_id("player", 7), COIN.id
    for statement in FILL:
        world.sql(statement, item)
    world.run(world.keeper.store.write(lambda tx: economy.begin(tx, ZERO_GUID)))
    world.sql("ANALYZE")
    key = {"player_id": player, "kind": "item", "thing_id": item, "quantity": 1, "place": 0}
    key |= {"buckets": 1, "entries": 1, "step": 1}
    keys, ids, tree = as_table([key]), as_table([{"id": item}]), as_tree([("item", item, player)], [1])
    correction = as_table(
        [{"item_id": item, "day": 8, "read_quantity": 1, "read_holders": 1, "quantity": 2, "holders": 2}]
    )
    asked: list[tuple[Any, tuple[Any, ...]]] = [
        (economy.SQL.state, ()),
        (economy.SQL.changes, (NEVER - 1, NEVER, 500)),
        (economy.SQL.flows_of_item, (item, 8, 14)),
        (economy.SQL.flows_of_items, (ids, 8, 14)),
        (economy.SQL.days_of_item, (item, 8, 14, 414)),
        (economy.SQL.gifts, (8, 9, 5, 0)),
        (economy.SQL.gifts_of_item, (item, 8, 9, 5, 0)),
        (economy.SQL.givers, (8, 9, 5, 0)),
        (economy.SQL.count_givers, (8, 9)),
        (economy.SQL.gifts_of_giver, (item, 8, 9, 5, 0)),
        (economy.SQL.count_gifts_of_giver, (item, 8, 9)),
        (economy.SQL.gifts_of_item_and_giver, (item, player, 8, 9, 5, 0)),
        (economy.SQL.count_gifts_of_item_and_giver, (item, player, 8, 9)),
        (economy.SQL.sum_of_giver, (item, 8, 9)),
        (economy.SQL.giver_names, (ids,)),
        (economy.SQL.item_names, (ids,)),
        (economy.SQL.item, (item,)),
        (economy.SQL.save_days, (8, ids)),
        (economy.SQL.add_to_day, (8, as_table([{"item_id": item, "quantity": 1, "holders": 1}]))),
        (economy.SQL.correct_days, (correction,)),
        (economy.SQL.delete_days, (ids, 8, 10)),
        (economy.SQL.changes_of, (as_table([{"id": player}]), 1, NEVER, 500)),
        (holdings.SQL.held, (tree,)),
        (holdings.SQL.save, (tree,)),
        (holdings.SQL.held_between, (ZERO_GUID, make_numbered_id("player", 3))),
        (holdings.SQL.items_between, (ZERO_GUID, ZERO_GUID)),
        (holdings.SQL.variables_between, (ZERO_GUID, ZERO_GUID, as_table([{"id": KILLS.id}]))),
        (holdings.SQL.players_after, (player, 5)),
        (holdings.SQL.slot_at, (ZERO_GUID, 20)),
        (holdings.SQL.holding_at, (ZERO_GUID, 20)),
        (holdings.SQL.delete, (keys,)),
        (holdings.SQL.key_at, ("item", item, *LOWEST, 20)),
        (holdings.SQL.page, ("item", item, *HIGHEST, 5, 20)),
        (holdings.SQL.page_up, ("item", item, *LOWEST, 5, 20)),
        (holdings.SQL.find_buckets, (keys,)),
        (holdings.SQL.buckets_from, ("item", item, *LOWEST, 20)),
        (holdings.SQL.bucket_below, ("item", item, *HIGHEST, 20)),
        (holdings.SQL.entries_between, ("item", item, 3, player, 3, make_numbered_id("player", 8))),
        (ranked_buckets.SQL.block_starts, ("item", item, 2, 20)),
        (ranked_buckets.SQL.block_above, ("item", item, *LOWEST)),
        (ranked_buckets.SQL.save_blocks, (keys,)),
        (ranked_buckets.SQL.delete_block, ("item", item, *LOWEST)),
        (holdings.SQL.save_buckets, (keys,)),
        (holdings.SQL.delete_bucket, ("item", item, *LOWEST)),
    ]
    faults = {
        (statement.name, values): found
        for statement, values in asked
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults, "\n".join(map(str, faults.items()))


def test_holdings_are_found_by_player_without_statistics(world: World) -> None:
    world.sql("ANALYZE holdings")  # while it is empty
    for statement in FILL:
        world.sql(statement, COIN.id)
    player = make_numbered_id("player", 7)
    row = as_table([{"player_id": player, "kind": "item", "thing_id": COIN.id}])
    tree = as_tree([("item", COIN.id, player)], [0])
    for statement, key in ((holdings.SQL.held, tree), (holdings.SQL.delete, row)):
        text = statement.render("postgres", WORDS["postgres"]).replace("$1", f"'{key}'")
        plan = str(world.sql(f"EXPLAIN {text}"))
        assert "holdings_pkey" in plan, plan
        assert "holdings_by_quantity" not in plan, plan
