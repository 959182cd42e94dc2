"""Query plans of the logs: pages, erasures and retention of a long log without a scan."""

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game import logs as log_rules
from gamekeeper.game.logs import LogFilter, LogSlice
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import logs
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER
from gamekeeper.store.table import as_table
from people import USER_IDS
from plans import PLAYERS, WORDS, find_growing
from world import World

pytestmark = pytest.mark.both_engines

SHOP = USER_IDS["Shop"]
MOST_SKIPPED = 1500  # entries of one day or minute in these tests


def fill(world: World) -> None:
    """Fill the logs: nearly all entries belong to one account and one player."""
    one, other = make_numbered_id("player", 1), make_numbered_id("player", 2)
    made = "SELECT id, row_number() OVER (ORDER BY id) AS number FROM players"
    at = f"number * {24 * 60 * 60 * 1000 // 1000}"
    low, high = sorted((one, other))
    guids = "CAST($1 AS {guid}), CAST($2 AS {guid})"
    world.sql(
        "INSERT INTO activity_log (id, at, user_id, player_id, action, peer, address) "  # noqa: S608 - ours
        f"SELECT id, {at}, {guids}, 'Login', 'Client', '192.0.2.1' FROM ({made}) AS made",
        SHOP,
        low,
    )
    world.sql(
        "INSERT INTO trade_log (id, trade_id, at, user_id, player_id, target_id, items, target_items) "  # noqa: S608 - ours
        f"SELECT id, id, {at}, {guids}, CAST($3 AS {{guid}}), CAST('[]' AS {{json}}), CAST('[]' AS {{json}}) "
        f"FROM ({made}) AS made",
        SHOP,
        low,
        high,
    )
    world.sql("INSERT INTO log_addresses (user_id, address, last_used) SELECT id, '192.0.2.1', 5 FROM users")
    world.run(world.keeper.store.write(logs.recount))
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")


def test_pages_of_a_long_log_are_found_without_scan(world: World) -> None:
    fill(world)
    engine, other, player = world.keeper.store.engine, make_numbered_id("user", 7), make_numbered_id("player", 7)
    ids = as_table({"id": each} for each in (other, SHOP))
    faults = {
        (statement.name, values): found
        for statement, values in (
            *(
                (statement, (*who, 7, 5, 20))
                for statement in (logs.SQL.activity, logs.SQL.activity_backwards)
                for who in ((SHOP, None), (other, None), (None, player))
            ),
            *(
                (statement, (*who, 7, 5, 20))
                for statement in (logs.SQL.trades, logs.SQL.trades_backwards)
                for who in ((None, None), (SHOP, None), (other, None), (None, player), (SHOP, player))
            ),
            *((logs.SQL.counts, ("activity", *who, 0, NEVER)) for who in ((other, None), (None, player))),
            (logs.SQL.addresses, (other, 5, 0)),
            (logs.SQL.count_addresses, (other,)),
            (logs.SQL.other_users, (as_table([{"address": "192.0.2.1"}]), other, 100)),
            (logs.SQL.delete_activity_of_user, (other, 100)),
            (logs.SQL.delete_activity_naming, (other, 100)),
            (logs.SQL.delete_trades_of_user, (other, 100)),
            (logs.SQL.delete_addresses_of_user, (other, 100)),
            (logs.SQL.delete_old_activity, (7, 100)),
            (logs.SQL.delete_old_trades, (7, 100)),
            (logs.SQL.delete_old_addresses, (7, 100)),
            (logs.SQL.activity_of_person, (other, 0, ZERO_GUID, 50)),
            (logs.SQL.activity_naming_person, (other, ZERO_GUID, 50)),
            (logs.SQL.trades_of_person, (other, 0, ZERO_GUID, 50)),
            (logs.SQL.lock_users, (ids,)),
            (logs.SQL.named_users, (as_table([{"fold": "ann"}]),)),
            (logs.SQL.item_names, (ids,)),
        )
        if (found := find_growing(world, statement.render(engine, WORDS[engine]), values))
    }
    assert not faults


def fill_failed(world: World) -> None:
    """Add entries without an account."""
    world.sql(
        "INSERT INTO activity_log (id, at, user_id, action, peer) SELECT id, row_number() OVER (ORDER BY id) * 86400, "
        "CAST($1 AS {guid}), 'FailedLogin', 'Client' FROM users",
        ZERO_GUID,
    )
    world.run(world.keeper.store.write(logs.recount))


def test_page_deep_inside_a_long_log_skips_only_a_day_or_minute(world: World) -> None:
    fill(world)
    fill_failed(world)
    skipped: list[int] = []

    class Watch:
        def __init__(self, tx: Reading) -> None:
            self._tx = tx

        async def all(self, statement: object, *values: object) -> object:
            if statement in (logs.SQL.activity, logs.SQL.trades):
                skipped.append(int(str(values[4])))
            return await self._tx.all(statement, *values)  # pyright: ignore[reportArgumentType] - passed on unchanged

    async def read(tx: Reading) -> list[int]:
        watched: Reading = Watch(tx)  # pyright: ignore[reportAssignmentType] - the rule only calls `all`
        part = LogSlice(PLAYERS - 3, 50)
        activity = await log_rules.load_activity(watched, LogFilter(user_id=SHOP), part)
        trades = await log_rules.load_trades(watched, LogFilter(), part)
        failed = await log_rules.load_activity(watched, LogFilter(user_id=ZERO_GUID), LogSlice(500, 50))
        assert len(failed.rows) == 50
        return [len(activity.rows), len(trades.rows), activity.total, trades.total]

    found = world.run(world.keeper.store.read(read))
    assert found[:2] == [found[2] - PLAYERS + 3, found[3] - PLAYERS + 3]
    assert skipped[0] < MOST_SKIPPED
    assert max(skipped[1:]) < 10  # all trades and the entries without an account are counted by minute
