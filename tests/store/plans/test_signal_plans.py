"""Query plans of signals: no statement reads more rows with more signals, players or changes."""

from typing import Any

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import signal_sums, signals
from gamekeeper.store.history import NEVER
from gamekeeper.store.table import as_table
from people import COIN
from plans import WORDS, find_growing
from world import World

# PostgreSQL only: it plans by the statistics of tables. SQLite has none, so its plans are those of the snapshots.
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

COLUMNS = "id, rule, subject, item_id, player_id, giver_id, first_at, last_at, times, evidence, state"
VALUES = (  # a quarter of the signals are incidents of one subject
    "id, 'gain', CASE WHEN level % 4 = 1 THEN 'one' ELSE CAST(id AS TEXT) END, CAST($1 AS {guid}), id, user_id, "
    "exp, exp, 1, '{}', CASE WHEN level % 2 = 0 THEN 'open' ELSE 'acknowledged' END"
)
FILL = (
    f"INSERT INTO signals ({COLUMNS}) SELECT {VALUES} FROM players",  # noqa: S608 - ours
    "INSERT INTO player_gains (player_id, item_id, slot, gained) SELECT id, CAST($1 AS {guid}), exp, 1 FROM players",
    "INSERT INTO signal_checks SELECT 'bag', CAST(id AS TEXT), exp, id FROM players WHERE id <> $1",
)


def test_statements_of_signals_use_an_index(world: World) -> None:
    engine, player, user = world.keeper.store.engine, make_numbered_id("player", 7), make_numbered_id("user", 7)
    for statement in FILL:
        world.sql(statement, COIN.id)
    world.sql("ANALYZE")
    ids = as_table({"id": each} for each in (player, make_numbered_id("player", 8)))
    keys = as_table([{"player_id": player, "item_id": COIN.id, "slot": 1, "gained": 1, "grown": 1}])
    last = NEVER, ZERO_GUID
    asked: list[tuple[Any, tuple[Any, ...]]] = [
        (signals.SQL.newest, ("gain", player)),
        (signals.SQL.newest, ("gain", "one")),
        (signals.SQL.some, (ids,)),
        (signals.SQL.repeat, (player, 1, 1, "{}")),
        (signals.SQL.acknowledge, (player, 1, user, None)),
        (signals.SQL.owner, (player,)),
        (signals.SQL.giver_account, (user,)),
        (signals.SQL.find, (player,)),
        (signals.SQL.lock, (player,)),
        (signals.SQL.page, (*last, 20)),
        (signals.SQL.page_of_state, (*last, 20, "open")),
        (signals.SQL.page_of_rule, (*last, 20, "gain")),
        (signals.SQL.page_of_rule_and_state, (*last, 20, "gain", "open")),
        (signals.SQL.player_names, (ids,)),
        (signals.SQL.user_names, (ids,)),
        (signals.SQL.changes, (as_table([{"seq": 7}]),)),
        (signals.SQL.delete_old, (5, 20)),
        (signals.SQL.erase_players, (ids,)),
        (signals.SQL.erase_givers, (ids,)),
        (signals.SQL.erase_gains, (ids,)),
        (signals.SQL.erase_checks, (ids,)),
        (signals.SQL.of_person, (user,)),
        (signal_sums.SQL.gains, (keys,)),
        (signal_sums.SQL.forget_gains, (0,)),
        (signal_sums.SQL.has_due_check, ("bag", 0)),
        (signal_sums.SQL.due_checks, ("bag", 0, 20)),
        (signal_sums.SQL.delete_check, ("bag", player)),
        (signal_sums.SQL.bag_owner, (player,)),
        (signal_sums.SQL.refused, (10, 20)),
    ]
    faults = {
        (statement.name, values): found
        for statement, values in asked
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults, "\n".join(map(str, faults.items()))
