"""Query plans of boards: no statement reads more rows with more players, sessions or changes."""

from typing import Any

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import boards, standings
from gamekeeper.store.history import NEVER
from gamekeeper.store.ranked_buckets import HIGHEST, LOWEST
from gamekeeper.store.table import as_table, as_tree
from people import COIN, KILLS, USER_IDS
from plans import WORDS, find_growing
from world import World

# PostgreSQL only: it plans by the statistics of tables. SQLite has none, so its plans are those of the snapshots.
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)

SEASON = "00000000-0000-4000-8000-00000000ffff"
FILL = (
    "INSERT INTO standings SELECT id, CAST($1 AS {guid}), exp, level > 1, 1 = 0 FROM players",
    "INSERT INTO standing_buckets SELECT CAST($1 AS {guid}), exp, id, 1 FROM players",
    "INSERT INTO player_activity SELECT id, 1, 1, level > 1, exp FROM players WHERE CAST($1 AS {guid}) IS NOT NULL",
)


def test_statements_of_boards_use_an_index(world: World) -> None:
    engine, player = world.keeper.store.engine, make_numbered_id("player", 7)
    for statement in FILL:
        world.sql(statement, SEASON)
    world.sql("ANALYZE")
    key = {"player_id": player, "season_id": SEASON, "thing_id": SEASON, "quantity": 1, "entries": 1, "place": 0}
    keys, ids = as_table([key]), as_table([{"id": player}])
    users, last = as_table([{"id": USER_IDS["Bob"]}]), make_numbered_id("player", 3)
    asked: list[tuple[Any, tuple[Any, ...]]] = [
        (boards.SQL.changes, (NEVER - 1, NEVER, 500)),
        (boards.SQL.change_at_or_after, (NEVER - 1,)),
        (boards.SQL.bans_ended, (*boards.NO_BAN, NEVER, 20)),
        (boards.SQL.is_hidden, (USER_IDS["Bob"],)),
        (standings.SQL.held, (as_tree([(SEASON, player)], [0]),)),
        (standings.SQL.held_between, (ZERO_GUID, last, SEASON)),
        (standings.SQL.of_players, (ids,)),
        (standings.SQL.save, (as_tree([(SEASON, "listed", player)], [1]),)),
        (standings.SQL.delete, (keys,)),
        (standings.SQL.of_season, (SEASON, 20)),
        (standings.SQL.visibility, (ids,)),
        (standings.SQL.players_of, (users,)),
        (standings.SQL.levels_between, (ZERO_GUID, ZERO_GUID)),
        (standings.SQL.items_between, (ZERO_GUID, ZERO_GUID, COIN.id)),
        (standings.SQL.variables_between, (ZERO_GUID, ZERO_GUID, KILLS.id)),
        (standings.SQL.session_at, (ZERO_GUID, 20)),
        (standings.SQL.activity_at, (ZERO_GUID, 20)),
        (standings.SQL.play_between, (ZERO_GUID, ZERO_GUID, 0, NEVER)),
        (standings.SQL.all_play_between, (ZERO_GUID, ZERO_GUID)),
        (standings.SQL.has_uncounted, (1,)),
        (standings.SQL.key_at, (SEASON, *LOWEST, 20)),
        (standings.SQL.find_buckets, (keys,)),
        (standings.SQL.buckets_from, (SEASON, *LOWEST, 20)),
        (standings.SQL.bucket_below, (SEASON, *HIGHEST, 20)),
        (standings.SQL.entries_between, (SEASON, 3, player, 3, make_numbered_id("player", 8))),
        (standings.SQL.entries_above, (SEASON, 3, player, 3, make_numbered_id("player", 8))),
        (standings.SQL.save_buckets, (keys,)),
        (standings.SQL.delete_bucket, (SEASON, *LOWEST)),
        (standings.SQL.bucket_above, (SEASON, *LOWEST)),
        (standings.SQL.count_between, (SEASON, *HIGHEST, *HIGHEST)),
        (standings.SQL.page, (SEASON, *HIGHEST, 5, 20)),
        (standings.SQL.page_up, (SEASON, *LOWEST, 5, 20)),
        (standings.SQL.after, (player, SEASON, 20)),
    ]
    faults = {
        (statement.name, values): found
        for statement, values in asked
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults, "\n".join(map(str, faults.items()))
