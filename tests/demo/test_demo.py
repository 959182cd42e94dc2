"""The demo's data: complete, deterministic, and consistent like data written by the API."""

from demo_databases import at_work, filled, trace
from findings import faults
from gamekeeper.demo import world
from gamekeeper.demo.sample_past import DAYS
from gamekeeper.game.insight import economy_reports
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import DAY_MS, HOUR_MS
from gamekeeper.http.server import query_values
from gamekeeper.store.engine import clock
from gamekeeper.store.insight import signals


def test_second_and_third_fill_change_nothing(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        before = await trace(keeper)
        second, third = await filled(keeper), await filled(keeper)
        assert await trace(keeper) == before
        assert second.opens_players
        assert third.opens_players
        assert second.token != third.token

    at_work(demo_database, work)


def test_signals_find_both_incidents_and_each_day_has_its_holders(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        await keeper.economy.follow(0)
        found = await signals.read_page(keeper.store, query_values.START, 50, "gain", None)
        gains = {each.player_id for each in found}
        assert gains == {world.make_stable_id("player", name) for name in ("Balthus", "Peregrin")}
        recent, past = await signals.read_page(keeper.store, query_values.START, 50, "supply", None)
        assert (recent.item_id, past.item_id) == (world.SHARD.id, world.SHARD.id)
        assert past.last_at - past.first_at < HOUR_MS
        assert recent.first_at - past.last_at > 8 * DAY_MS
        today = await clock.now(keeper.store) // DAY_MS
        days = economy_reports.Days(today - DAYS + 1, today)
        report = await keeper.economy.read(lambda tx: economy_reports.report_item(tx, world.COIN.id, days))
        assert all(each.holders for each in report.days)
        assert await faults(keeper) == []

    at_work(demo_database, work)
