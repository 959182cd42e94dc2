"""The demo's data: complete, deterministic, and consistent like data written by the API."""

import pytest

from demo_databases import ANYBODY, at_work, filled, trace
from findings import faults
from gamekeeper.demo import loader, names, world
from gamekeeper.demo.sample_sessions import DAYS
from gamekeeper.game import economy_reports
from gamekeeper.game import player_edits as character_rules
from gamekeeper.game.calendar_steps import DAY_MS, HOUR_MS
from gamekeeper.game.keeper import Keeper
from gamekeeper.http import mail_cursor
from gamekeeper.store import (
    clock,
    players,
    signals,
    users,
)


def test_second_and_third_fill_change_nothing(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        before = await trace(keeper)
        second, third = await filled(keeper), await filled(keeper)
        assert await trace(keeper) == before
        assert second.opens_players
        assert third.opens_players
        assert second.token != third.token

    at_work(demo_database, work)


@pytest.mark.long_only
def test_new_password_is_set_for_api_account_only(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        before = await trace(keeper)
        access = await loader.fill(keeper, "another one")
        assert [row[:1] + row[2:3] for row in (await trace(keeper))[len(before) :]] == [
            ("password_changed", names.make_stable_id("user", "keeper"))
        ]
        assert not access.opens_players
        api, marlow = [await users.find_by_fold(keeper.store, name) for name in ("keeper", "marlow")]
        assert api
        assert marlow
        assert await keeper.passwords.is_right(access.wire_password, api.password)
        assert not await keeper.passwords.is_right(access.wire_password, marlow.password)

    at_work(demo_database, work)


@pytest.mark.long_only
def test_doctor_finds_no_errors(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        await loader.load_players(keeper, 300, lambda _: None)
        assert await faults(keeper) == []

    at_work(demo_database, work)


@pytest.mark.long_only
def test_database_with_other_accounts_is_unchanged(database: str) -> None:
    async def work(keeper: Keeper) -> None:
        before = await trace(keeper)
        with pytest.raises(loader.NotADemo, match="Use an empty database"):
            await filled(keeper)
        assert await trace(keeper) == before

    at_work(database, work)


@pytest.mark.long_only
def test_only_missing_players_are_loaded(demo_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "BATCH_SIZE", 100)

    async def work(keeper: Keeper) -> None:
        await loader.load_players(keeper, 110, lambda _: None)
        gone = names.make_numbered_id("player", 7)
        await keeper.changes.apply(
            ANYBODY, lambda tx: character_rules.delete(tx, gone, keeper.changes.codec), lambda _: b""
        )
        await loader.load_players(keeper, 130, lambda _: None)
        assert await players.count(keeper.store) == 48 + 130
        before = await trace(keeper)
        await loader.load_players(keeper, 130, lambda _: None)
        assert await trace(keeper) == before

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
