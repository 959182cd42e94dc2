"""Query plans of deliveries: the search for overdue commands does not grow with those that were never acknowledged."""

from functools import partial

import pytest

from gamekeeper.store import deliveries
from plans import Look, fill_lists, require_none_grows
from world import World

pytestmark = pytest.mark.both_engines


def test_overdue_commands_are_found_without_scan(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "MAX_EXAMINED", 40)
    fill_lists(world)
    columns = "at, kind, over_link, player_id, request_id"
    world.sql(f"INSERT INTO ledger ({columns}) SELECT 0, 'user_kicked', 1 = 0, p.id, '' FROM players p")  # noqa: S608 - words of the test's own
    world.sql(
        "INSERT INTO deliveries (seq, server, state, queued_at, expires_at) "
        "SELECT l.seq, 'one', 'waiting', l.seq, CASE WHEN l.seq % 2 = 0 THEN 1 END FROM ledger l"
    )
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")
    looks: list[Look] = [
        partial(deliveries.read_overdue, wait_ms=1000, limit=20),
        partial(deliveries.read_player_receipts, player_ids=["00000000-0000-4000-8000-000000000001"]),
        partial(deliveries.read_cursors, servers=["one"]),
    ]
    require_none_grows(world, looks)
