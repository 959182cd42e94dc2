"""The demo's data: complete, deterministic, and consistent like data written by the API."""

from collections import Counter
from typing import Any

import pytest

from demo_databases import ANYBODY, at_work, filled, find_hour, trace
from findings import faults
from gamekeeper.demo import loader, names, sample_past, sample_players, sample_sessions, world
from gamekeeper.demo.sample_sessions import DAYS
from gamekeeper.game import economy_reports, flows
from gamekeeper.game import player_edits as character_rules
from gamekeeper.game.calendar_steps import DAY_MS, HOUR_MS, read_weekday
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.passwords import NO_PASSWORD
from gamekeeper.game.permissions import list_held
from gamekeeper.http import mail_cursor
from gamekeeper.store import (
    activity,
    bulk_jobs,
    catalogue,
    clock,
    economy,
    ledger,
    players,
    signals,
    users,
)
from gamekeeper.store.activity import Period
from gamekeeper.store.history import NEVER


def test_two_demos_of_one_hour_are_equal(databases: Any) -> None:
    async def load(keeper: Keeper) -> list[tuple[object, ...]]:
        await loader.load_players(keeper, 20, lambda _: None)
        return await trace(keeper)

    async def write(keeper: Keeper) -> list[tuple[object, ...]]:
        await filled(keeper)
        return await load(keeper)

    def write_new() -> list[tuple[object, ...]]:
        url = databases.empty()
        found = at_work(url, write)
        databases.drop(url)
        return found

    first, hour = write_new(), find_hour()
    second = write_new()
    if find_hour() != hour:  # the past of the demo ends at the full hour
        first, second = write_new(), write_new()
    assert first == second


def test_second_and_third_fill_change_nothing(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        before = await trace(keeper)
        second, third = await filled(keeper), await filled(keeper)
        assert await trace(keeper) == before
        assert second.opens_players
        assert third.opens_players
        assert second.token != third.token

    at_work(demo_database, work)


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


def test_stored_data_equals_the_tables(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        assert await players.count(keeper.store) == 48
        assert await users.count(keeper.store) == 1 + len(world.ACCOUNTS)
        for kind, entries in world.CATALOGUE.items():
            assert await catalogue.count(keeper.store, kind) == len(entries)
        api, muted = [await users.find_by_fold(keeper.store, name) for name in ("keeper", "grizelda")]
        assert api
        assert all(api.powers)
        assert muted
        assert muted.mute_reason == world.MUTED["Grizelda"]
        record = await players.find_record_by_fold(keeper.store, "aldwyn")
        assert record
        assert record.class_name in {each.name for each in world.CLASS_NAMES}
        assert record.map_name in {each.name for each in world.MAPS}

    at_work(demo_database, work)


def test_doctor_finds_no_errors(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        await loader.load_players(keeper, 300, lambda _: None)
        assert await faults(keeper) == []

    at_work(demo_database, work)


def test_database_with_other_accounts_is_unchanged(database: str) -> None:
    async def work(keeper: Keeper) -> None:
        before = await trace(keeper)
        with pytest.raises(loader.NotADemo, match="Use an empty database"):
            await filled(keeper)
        assert await trace(keeper) == before

    at_work(database, work)


def test_players_are_loaded_in_batches(demo_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "BATCH_SIZE", 100)

    async def work(keeper: Keeper) -> None:
        advanced: list[int] = []
        before = len(await trace(keeper))
        await loader.load_players(keeper, 250, advanced.append)
        assert await players.count(keeper.store) == 48 + 250
        assert await users.count(keeper.store) == 1 + len(world.ACCOUNTS) + 250
        kinds = [row[0] for row in (await trace(keeper))[before:]]
        assert kinds == ["users_loaded", "players_loaded"] * 3
        assert sum(advanced) == 250
        one = await users.find_by_fold(keeper.store, names.make_numbered_name(249).lower())
        assert one
        assert one.password == NO_PASSWORD

    at_work(demo_database, work)


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


def test_demo_has_a_past_with_rhythm_and_new_players(demo_database: str) -> None:
    async def read(keeper: Keeper) -> tuple[list[Period], list[str]]:
        today = await clock.now(keeper.store) // DAY_MS
        return await activity.read_periods(keeper.store, "day", today - DAYS, today), await faults(keeper)

    days, wrong = at_work(demo_database, read)
    assert wrong == []
    assert len(days) == DAYS
    assert all(10 < each.active < 60 for each in days)
    assert sum(each.new_players for each in days) == sample_sessions.NEW_PLAYERS
    assert sum(each.returned for each in days) > 5
    weekend = [each.active for each in days if read_weekday(each.day * DAY_MS) >= sample_sessions.SATURDAY]
    week = [each.active for each in days if read_weekday(each.day * DAY_MS) < sample_sessions.SATURDAY]
    assert sum(weekend) / len(weekend) > 1.1 * sum(week) / len(week)


async def read_all(keeper: Keeper) -> list[ledger.LedgerRow]:
    return await ledger.read_after(keeper.store, 0, 10_000)


def test_changes_of_the_past_are_in_order_and_of_many_kinds(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        now = await clock.now(keeper.store)
        rows = await read_all(keeper)
        times = [row.at for row in rows]
        assert times == sorted(times)
        assert times[0] == sample_sessions.find_start(now)
        assert times[-1] < now
        assert {row.at // DAY_MS for row in rows} >= set(range(times[0] // DAY_MS, now // DAY_MS))
        counts = Counter(row.kind for row in rows)
        assert counts["user_banned"] == 1 + 3
        assert counts["user_muted"] == 1 + 3
        assert counts["user_unbanned"] == 1
        assert counts["note_added"] > 5
        assert counts["bulk_job_changed"] == 4
        by = Counter((row.kind, row.over_link, bool(row.token_id)) for row in rows)
        assert by["items_set", True, False] > 250
        given = Counter(row.actor_id for row in rows if row.kind == "items_given")
        assert given[sample_past.MASTER.id] > 15
        assert given[sample_past.KEEPER.id] > 40  # with those of bulk jobs
        assert Counter(row.token_id for row in rows)[names.make_stable_id("api key", world.SHOP_KEY)] > 90

    at_work(demo_database, work)


def test_bans_and_mutes_of_the_past_are_over_as_they_said(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        found = {name: await users.find_by_fold(keeper.store, name.lower()) for name in world.ACCOUNTS}
        assert {name for name, user in found.items() if user and user.ban_reason} == set(world.BANNED)
        assert {name for name, user in found.items() if user and user.mute_reason} == {*world.MUTED, "Fitzroy"}

    at_work(demo_database, work)


def test_jobs_of_the_past_have_a_result_for_each_player(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        now = await clock.now(keeper.store)
        jobs = await bulk_jobs.read_page(keeper.store, (now, names.make_stable_id("any", "id")), 10)
        numbers = [(each.act, each.state, each.players, each.done, each.refused) for each in jobs]
        assert numbers == [
            ("give_item", "finished", 8, 8, 0),
            ("undo_change", "finished", 12, 12, 0),
            ("give_item", "finished", 12, 12, 0),
            ("give_item", "finished", 21, 20, 1),
        ]
        assert jobs[1].undoes == jobs[2].id
        for job in jobs:
            creator = await users.find_by_id(keeper.store, job.creator_id)
            assert creator
            assert "bulk.run" in list_held(creator), creator.name
            assert job.started_at is not None
            assert job.ended_at is not None
            assert job.created_at < job.started_at < job.ended_at < now
            targets = await bulk_jobs.read_targets(keeper.store, job.id, 0, 100)
            assert all((each.seq is None) == (each.state == "refused") for each in targets)

    at_work(demo_database, work)


def test_creation_of_the_demo_counts_as_import(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        await keeper.economy.follow(0)
        sums: Counter[str] = Counter()
        for flow in await economy.read_flows_between(
            keeper.store, await economy.read_flow_items(keeper.store), 0, NEVER
        ):
            sums[flow.source] += flow.created
        made = sum(
            stack.quantity for _, state in sample_players.build_named_players() for stack in state.slots.values()
        )
        assert sums[flows.IMPORT] == made
        assert 0 < sums[flows.STAFF] < 10_000
        assert min(sums[flows.KEY], sums[flows.GAME]) > 100

    at_work(demo_database, work)


def test_incidents_multiply_an_item_within_an_hour(demo_database: str) -> None:
    """The supply of an item is more than ten times as large at the end of the hour; one player got nearly all."""

    async def work(keeper: Keeper) -> None:
        now = await clock.now(keeper.store)
        supply, hours = 0, dict[int, tuple[int, int]]()
        gains: Counter[tuple[int, str | None]] = Counter()
        for row in await read_all(keeper):
            if row.kind == "catalogue_put":
                continue
            codec = keeper.changes.codec
            after, before = (codec.count_items(side).get(world.SHARD.id, 0) for side in (row.after, row.before))
            hour = row.at // HOUR_MS
            first, _ = hours.get(hour, (supply, 0))
            supply += after - before
            hours[hour] = first, supply
            gains[hour, row.player_id] += after - before
        grown = {hour for hour, (first, last) in hours.items() if first > 100 and last > 10 * first}
        player_ids = [names.make_stable_id("player", name) for name in ("Balthus", "Peregrin")]
        past, recent = sorted(grown)
        assert now // DAY_MS - past * HOUR_MS // DAY_MS == 9
        assert 0 < now - recent * HOUR_MS < DAY_MS
        assert gains[past, player_ids[0]] > 7_000
        assert gains[recent, player_ids[1]] > 7_000

    at_work(demo_database, work)


def test_every_day_of_the_past_has_requests_and_most_have_sign_ins(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        today = await clock.now(keeper.store) // DAY_MS
        days = await activity.read_periods(keeper.store, "day", today - DAYS, today)
        assert all(each.requests > 1_000 for each in days[:-2])
        assert all(0 < each.errors < each.requests / 20 for each in days[:-2])
        assert sum(each.sign_ins > 0 for each in days) > DAYS / 2

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
