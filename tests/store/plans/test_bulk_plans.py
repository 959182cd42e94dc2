"""Query plans of bulk jobs: their number, their players and the game's players do not matter."""

import pytest

from gamekeeper.demo.names import make_numbered_id, make_numbered_name
from gamekeeper.game.lookup import ZERO_GUID, fold
from gamekeeper.store import bulk_jobs
from gamekeeper.store.history import NEVER
from gamekeeper.store.names import AFTER_CLASHES
from gamekeeper.store.table import as_table
from people import USER_IDS
from plans import WORDS, find_growing
from world import World

pytestmark = pytest.mark.both_engines


def test_bulk_jobs_are_found_worked_on_and_erased_without_scan(world: World) -> None:
    """One job has most of the players; all others have one."""
    engine, root, big = world.keeper.store.engine, USER_IDS["Root"], make_numbered_id("player", 7)
    other, player = make_numbered_id("player", 8), make_numbered_id("player", 9)
    names = (
        "id, state, act, details, creator_id, approved, players, done, refused, held, not_found, repeated, created_at"
    )
    world.sql(
        f"INSERT INTO bulk_jobs ({names}) SELECT id, 'finished', 'give_item', '{{}}', user_id, {{false}}, "  # noqa: S608 - ours
        "1, 0, 0, 0, 0, 0, row_number() OVER (ORDER BY id) FROM players"
    )
    add = "INSERT INTO bulk_targets (job_id, number, state, player_id, seq) SELECT "
    world.sql(f"{add} id, 0, 'done', id, row_number() OVER (ORDER BY id) FROM players")
    world.sql(
        f"{add} CAST($1 AS {{guid}}), row_number() OVER (ORDER BY id), 'waiting', id, NULL FROM players",
        make_numbered_id("user", 1),
    )
    if engine == "postgres":
        world.sql("ANALYZE")
    name = fold(make_numbered_name(7))
    given = as_table([{"at": 0, "name": name, "fold": name, "end": name + AFTER_CLASHES}])
    ids = as_table({"id": each} for each in (player, other))
    sql = bulk_jobs.SQL
    faults = {
        (statement.name, values): found
        for statement, values in (
            (sql.find, (big,)),
            (sql.lock, (big,)),
            (sql.claim, (big,)),
            (sql.page, (NEVER, ZERO_GUID, 20)),
            (sql.running, (20,)),
            (sql.waiting, (make_numbered_id("user", 1), 20)),
            (sql.target_state, (make_numbered_id("user", 1), 7)),
            (sql.targets, (make_numbered_id("user", 1), 50, 20)),
            (sql.targets_in_state, (make_numbered_id("user", 1), 50, 20, "refused")),
            (sql.set_target, (make_numbered_id("user", 1), 7, "done", 1, None, None, None)),
            (sql.add_counts, (big, 1, 0, 0)),
            (sql.start, (big, 1, False)),
            (sql.pause, (big, None)),
            (sql.stop, (big, "finished", 1)),
            (sql.changes, (big,)),
            (sql.mark_undone, (1, None, 1)),
            (sql.backdate_undos, (big, 1)),
            (sql.count_undone, (big,)),
            (sql.undone_by, (big, 1)),
            (sql.is_undone, (big,)),
            (sql.players_by_name, (given,)),
            (sql.players_by_id, (ids,)),
            (sql.online, (100,)),
            (sql.oldest, (100,)),
            (sql.count_previewed, (root, 10)),
            (sql.oldest_preview, (100,)),
            (sql.delete_targets, (big,)),
            (sql.delete, (big,)),
            (sql.of_person, (root,)),
            (sql.targets_of_person, (make_numbered_id("user", 7),)),
            (sql.erase_targets, (ids,)),
            (sql.erase_jobs, (root,)),
            (sql.add_settled, (big, 1, 0)),
        )
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults, "\n".join(map(str, faults.items()))
