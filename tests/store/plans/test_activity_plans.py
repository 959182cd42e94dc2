"""Query plans of play sessions and their rollups: no statement reads more rows in a game with more sessions."""

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.store import activity, play_sessions
from gamekeeper.store.history import NEVER
from gamekeeper.store.table import as_table
from plans import WORDS, fill_lists, find_growing
from world import World

pytestmark = pytest.mark.both_engines

PLAYER, OTHER = make_numbered_id("player", 1), make_numbered_id("player", 7)
# what the triggers on `presence` run
END = "UPDATE play_sessions SET ended_at = started_at WHERE player_id = $1 AND ended_at IS NULL"
LAST = "SELECT s.ended_at FROM play_sessions s WHERE s.player_id = $1 ORDER BY s.started_at DESC LIMIT 1"


def fill(world: World) -> None:
    """Fill the sessions: thousands of one player, counted ones of all others, and open ones of half of them."""
    made = "SELECT id, row_number() OVER (ORDER BY id) AS number FROM players"
    columns = "player_id, started_at, server, ended_at, counted_to, counted"
    world.sql(
        f"INSERT INTO play_sessions ({columns}) SELECT CAST($1 AS {{guid}}), number * 10, 's1', number * 10 + 5, "  # noqa: S608 - words of the test's own
        f"number * 10 + 5, 1 = 1 FROM ({made}) AS made",
        PLAYER,
    )
    world.sql(
        f"INSERT INTO play_sessions ({columns}) SELECT id, 1, 's1', number, number, 1 = 1 FROM ({made}) AS made "  # noqa: S608 - the same
        "WHERE id <> CAST($1 AS {guid})",
        PLAYER,
    )
    world.sql(
        "INSERT INTO player_activity (player_id, first_day, last_day, is_new, play_ms) "
        "SELECT id, 1, 1, 1 = 1, 1 FROM players"
    )
    fill_lists(world)
    world.sql(
        "UPDATE play_sessions SET counted_to = started_at WHERE ended_at IS NULL AND player_id <> CAST($1 AS {guid})",
        OTHER,
    )
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")


def test_sessions_are_found_without_scan(world: World) -> None:
    fill(world)
    engine, ids = world.keeper.store.engine, as_table({"id": each} for each in (PLAYER, OTHER))
    statements = (
        (play_sessions.SQL.of_player, (PLAYER, NEVER, 50)),
        (play_sessions.SQL.of_player, (OTHER, NEVER, 50)),
        (play_sessions.SQL.of_person, (PLAYER, 100, 50)),
        (play_sessions.SQL.after, (PLAYER, 100, 50)),
        (play_sessions.SQL.forget_activity, (OTHER, PLAYER.replace("0", "9"))),
        (play_sessions.SQL.old, (100, 50)),
        (activity.SQL.has_waiting, ()),
        (activity.SQL.waiting, (50,)),
        (activity.SQL.has_continuing, (NEVER,)),
        (activity.SQL.continuing, (NEVER, 50)),
        (activity.SQL.players, (ids,)),
        (activity.SQL.last_counted, (PLAYER,)),
        (activity.SQL.count_sign_ins, (5, 50)),
    )
    texts = [(each.name, each.render(engine, WORDS[engine]), values) for each, values in statements]
    texts += [("end", END, (OTHER,)), ("end", END, (PLAYER,)), ("last", LAST, (PLAYER,))]
    faults = {
        name: found
        for name, text, values in texts
        # the index has the waiting sessions only
        if (found := [step for step in find_growing(world, text, values) if "play_sessions_waiting" not in step])
    }
    assert faults == {}


def test_session_ends_by_the_index_of_open_sessions(world: World) -> None:
    """The triggers find the open session of a player who had thousands of others."""
    fill(world)
    explain = "EXPLAIN QUERY PLAN" if world.keeper.store.engine == "sqlite" else "EXPLAIN"
    text = END.replace("$1", f"'{PLAYER}'")
    assert "play_sessions_open" in str(world.sql(f"{explain} {text}"))
