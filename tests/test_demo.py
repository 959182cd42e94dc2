"""The demo's data: complete, deterministic, and consistent like data written by the API."""

from typing import Any

import pytest

from demo_databases import ANYBODY, at_work, filled, trace
from findings import faults
from gamekeeper.demo import game_servers, names, world
from gamekeeper.demo.sample_sessions import DAYS
from gamekeeper.game import commands, economy_reports, moderation
from gamekeeper.game.actors import Actor
from gamekeeper.game.calendar_steps import DAY_MS, HOUR_MS
from gamekeeper.game.changes import Decide
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.permissions import PERMISSIONS
from gamekeeper.http import mail_cursor
from gamekeeper.store import clock, deliveries, feed, players, signals
from gamekeeper.store import presence as presence_rows


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
        found = await signals.read_page(keeper.store, mail_cursor.START, 50, "gain", None)
        gains = {each.player_id for each in found}
        assert gains == {names.make_stable_id("player", name) for name in ("Balthus", "Peregrin")}
        recent, past = await signals.read_page(keeper.store, mail_cursor.START, 50, "supply", None)
        assert (recent.item_id, past.item_id) == (world.SHARD.id, world.SHARD.id)
        assert past.last_at - past.first_at < HOUR_MS
        assert recent.first_at - past.last_at > 8 * DAY_MS
        today = await clock.now(keeper.store) // DAY_MS
        days = economy_reports.Days(today - DAYS + 1, today)
        report = await economy_reports.report_item(keeper.store, keeper.economy, world.COIN.id, days)
        assert all(each.holders for each in report.days)
        assert await faults(keeper) == []

    at_work(demo_database, work)


# --- the game servers of the demo --------------------------------------------------------------------------------


def allow(_: frozenset[str]) -> None:
    """Do not limit the credential."""


def order(name: str) -> commands.CommandRequest:
    staff = Actor(names.make_stable_id("user", world.API_ACCOUNT), world.API_ACCOUNT, frozenset(PERMISSIONS), allow)
    return commands.CommandRequest(name, staff, key_is_player=True, life_ms=60_000)


async def carry_out(keeper: Keeper, *acts: Decide[Any]) -> None:
    """Carry out these acts of staff."""
    for act in acts:
        await keeper.changes.apply(ANYBODY, act, lambda _: b"")


@pytest.mark.long_only
def test_game_servers_carry_out_and_acknowledge_commands(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        game, codec = game_servers.DemoGame(keeper), keeper.changes.codec
        await game.keep_online()
        await game.follow()
        docks = commands.Destination(world.MAPS[1].id, (3, 4))
        first = (await feed.read_state(keeper.store)).last
        await carry_out(
            keeper,
            lambda tx: moderation.kick(tx, moderation.ModerationRequest("Elowen", key_is_player=True)),
            lambda tx: commands.kill(tx, order("Halvard")),
            lambda tx: commands.warp(tx, order("Halvard"), docks, codec),
            lambda tx: commands.send_to_all(tx, {"Message": "hi"}, 60_000),
        )
        numbers = list(range(first + 1, (await feed.read_state(keeper.store)).last + 1))
        await game.follow()
        found = await deliveries.read_of_changes(keeper.store, numbers)
        assert [(each.server, each.state) for each in found] == [*[("realm-1", "applied")] * 4, ("realm-2", "applied")]
        assert not await presence_rows.is_online(keeper.store, names.make_stable_id("player", "Elowen"))
        stored = await players.find_record_by_fold(keeper.store, "halvard")
        assert stored
        warped = codec.decode_player(stored.document, None)
        assert (warped.map_id, warped.x, warped.y) == (world.MAPS[1].id, 3, 4)
        await game.follow()
        assert await deliveries.read_overdue(keeper.store, -60_000, 10) == []

    at_work(demo_database, work)
