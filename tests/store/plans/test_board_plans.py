"""Query plans of boards: no statement reads more rows with more players, sessions or changes."""

import re
from typing import Any

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import boards, standings
from gamekeeper.store.history import NEVER
from gamekeeper.store.ranked_buckets import HIGHEST, LOWEST
from gamekeeper.store.table import as_table, as_tree
from people import COIN, KILLS, USER_IDS
from plans import WORDS, find_growing
from world import World

SEASON = "00000000-0000-4000-8000-00000000ffff"
FILL = (
    "INSERT INTO standings SELECT id, CAST($1 AS {guid}), exp, level > 1, 1 = 0 FROM players",
    "INSERT INTO standing_buckets SELECT CAST($1 AS {guid}), exp, id, 1 FROM players",
    "INSERT INTO player_activity SELECT id, 1, 1, level > 1, exp FROM players WHERE CAST($1 AS {guid}) IS NOT NULL",
)
# SQLite sorts the rows of these in memory; their number is limited by a range of players or an account
SORTED = {"items_between", "play_between", "of_person", "rules"}


def test_statements_of_boards_use_an_index(world: World) -> None:
    engine, player = world.keeper.store.engine, make_numbered_id("player", 7)
    for statement in FILL:
        world.sql(statement, SEASON)
    if engine == "postgres":
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
        for found in find_growing(world, statement.render(engine, WORDS[engine]), values)
        if statement.name not in SORTED or "TEMP B-TREE" not in str(found)
    }
    assert not faults, "\n".join(map(str, faults.items()))


def test_sweep_reads_the_standings_of_one_season_only(world: World) -> None:
    engine = world.keeper.store.engine
    for number in range(20):
        season = f"00000000-0000-4000-8000-00000000f0{number:02}"
        world.sql(
            "INSERT INTO standings SELECT id, CAST($1 AS {guid}), exp, level > 1, 1 = 0 FROM players",
            season,
        )
    if engine == "postgres":
        return  # its planner chooses by the size of the tables, which are small here
    statement = standings.SQL.held_between.render(engine, WORDS[engine])
    plan = str(world.sql(f"EXPLAIN QUERY PLAN {statement}", ZERO_GUID, make_numbered_id("player", 3), SEASON))
    assert "standings_by_season" in plan


def test_standings_of_players_are_sought_by_player(world: World) -> None:
    if world.keeper.store.engine == "postgres":
        return  # the number of rows that its plans read is checked above
    statement = standings.SQL.held.render("sqlite", WORDS["sqlite"])
    plan = str(world.sql(f"EXPLAIN QUERY PLAN {statement}", as_tree([(SEASON, make_numbered_id("player", 3))], [0])))
    # a search by the season alone would read all players of the season
    assert "SEARCH r USING PRIMARY KEY (player_id=? AND season_id=?)" in plan, plan


def test_pages_of_standings_seek_by_value(world: World) -> None:
    if world.keeper.store.engine == "postgres":
        return  # the number of rows that its plans read is checked above
    below = (SEASON, *HIGHEST)
    for statement, values in (
        (standings.SQL.key_at, (*below, 20)),
        (standings.SQL.count_between, (*below, *HIGHEST)),
        (standings.SQL.page, (*below, 5, 20)),
        (standings.SQL.page_up, (*below, 5, 20)),
    ):
        plan = str(world.sql(f"EXPLAIN QUERY PLAN {statement.render('sqlite', WORDS['sqlite'])}", *values))
        # a range after the season alone would read, and sort, all players of the season
        assert re.search(r"standings_by_value \(season_id=\? AND listed=\? AND \(?value", plan), (statement.name, plan)
        assert "TEMP B-TREE" not in plan, (statement.name, plan)
