"""Logs of activity and trades: entries are added once, and counts follow every insert and delete."""

import pytest

from gamekeeper.demo.world import make_numbered_id
from gamekeeper.store.world import logs
from gamekeeper.store.world.logs import DAY_MS, NO_ID, ActivityEntry, TradeEntry
from people import USER_IDS
from world import World

pytestmark = pytest.mark.both_engines

ANN = USER_IDS["Ann"]
PLAYER = make_numbered_id("logged", 1)
OTHER = make_numbered_id("logged", 2)
LIST_COUNTS = "SELECT list, user_id, player_id, start, entries FROM log_counts ORDER BY 1, 2, 3, 4"


def make_activity(number: int, at: int, user_id: str = ANN, player_id: str | None = PLAYER) -> ActivityEntry:
    return ActivityEntry(
        make_numbered_id("activity", number), at, user_id, player_id, "Login", "Client", f"192.0.2.{number % 2}", None
    )


def make_trade(number: int, at: int, player_id: str = PLAYER, target_id: str = OTHER) -> TradeEntry:
    return TradeEntry(make_numbered_id("trade", number), NO_ID, at, ANN, player_id, target_id, None, "[]", "[]")


def add(world: World, *entries: ActivityEntry) -> int:
    return world.run(world.keeper.store.write(lambda tx: logs.add_activity(tx, entries)))


def add_trades(world: World, *entries: TradeEntry) -> int:
    return world.run(world.keeper.store.write(lambda tx: logs.add_trades(tx, entries)))


def check_counts(world: World) -> list[tuple[str, int]]:
    """Compare the counts with those of all entries; return lists and numbers of entries."""
    kept = world.sql(LIST_COUNTS)
    world.run(world.keeper.store.write(logs.recount))
    assert world.sql(LIST_COUNTS) == kept
    return [(row[0], row[4]) for row in kept]


def test_entries_are_added_once_with_counts_and_addresses(world: World) -> None:
    first, second = make_activity(1, 5), make_activity(2, DAY_MS + 5)
    assert add(world, first, second, first) == 2
    assert add(world, second, make_activity(3, 7)) == 1
    assert check_counts(world) == [("activity", 2), ("activity", 1)]
    found = world.sql("SELECT address, last_used FROM log_addresses WHERE user_id = $1 ORDER BY address", ANN)
    assert [tuple(row) for row in found] == [("192.0.2.0", DAY_MS + 5), ("192.0.2.1", 7)]


@pytest.mark.parametrize("limit", [1, 100])
def test_deleted_entries_are_subtracted(world: World, limit: int) -> None:
    add(world, *(make_activity(number, number) for number in range(4)), make_activity(9, DAY_MS, NO_ID, None))
    add(world, make_activity(10, DAY_MS))
    add_trades(world, make_trade(1, 5), make_trade(2, 500))

    async def delete(tx: logs.Writing) -> int:
        return await logs.delete_old(tx, 100, limit)

    while world.run(world.keeper.store.write(delete)):
        check_counts(world)
    assert [tuple(row) for row in world.sql("SELECT address FROM log_addresses")] == [("192.0.2.0",)]
    assert sum(count for kind, count in check_counts(world) if kind == "activity") == 2

    async def erase(tx: logs.Writing) -> int:
        return await logs.delete_of_user(tx, ANN, limit)

    while world.run(world.keeper.store.write(erase)):
        check_counts(world)
    assert check_counts(world) == [("activity", 1), ("activity_by_minute", 1)]
    assert world.sql("SELECT COUNT(*) FROM log_addresses") == [(0,)]
