"""Import an Intersect server in stages: catalogue, accounts, players, then a report of unused bags and orphan rows."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.lookup import ZERO_GUID, fold
from gamekeeper.game.core.player import Stack
from gamekeeper.game.players.changes import PlayersLoaded
from gamekeeper.game.world.loads import DROP_INDEXES, PAUSE_LISTS, RESUME_LISTS, load_memberships, pause_gc
from gamekeeper.intersect import accounts, logs, values, world
from gamekeeper.intersect.accounts import DELETED_HERE, NAME_CLASH, NO_ACCOUNT
from gamekeeper.intersect.catalogue import GameData, Vitals
from gamekeeper.intersect.data import CountsByTable, Report, ReportEntry
from gamekeeper.intersect.import_run import ImportBatch, ImportRun, OwnedKeys, RowsByTable, find_owned
from gamekeeper.intersect.players import FullPlayer, PlayerReader, RawBag
from gamekeeper.intersect.sources import OBJECT_TABLES, OWNER_TABLES, RULE_TABLES, Row
from gamekeeper.store.accounts import users
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import database_checks
from gamekeeper.store.players import items, players, presence
from gamekeeper.store.world import guilds
from gamekeeper.store.world import logs as log_rows
from gamekeeper.store.world.guilds import GuildMember
from gamekeeper.store.world.imports import DONE_STAGE

OWNED_TABLES = ("inventory", "bank", "spells", "variables", "switches")
SLOT_TABLES = ("inventory", "bank", "bag_slots")  # tables whose rows can hold a bag
COUNTED_BAG = "bag of a player that existed before the import"
PLAYER_SKIPPED = "its player was skipped"
NO_OWNER = "its owner is missing, or the owner's id is not a guid or all zeros"
MEMBERSHIP_ADDED = "it existed without a guild: its guild was added"
UNUSED_BAG = "no slot of an imported player holds it"
UNSUPPORTED_TABLE = "Gamekeeper does not support this table"
SECRET_TABLES = {"requestlogs": "it may contain bearer tokens, and is never imported"}


async def run(run: ImportRun) -> bool:
    """Import all data of an Intersect server; False if an earlier run completed this import."""
    if not await run.resume():
        return False
    game, store = _read_game_data(run), run.keeper.store if run.keeper else None
    fresh = store is not None and not (await users.count(store) or await players.count(store))
    stages: Mapping[str, Callable[[], Awaitable[None]]] = {
        "catalogue": partial(_import_catalogue, run, game),
        **{noun: partial(world.import_objects, run, noun) for noun in OBJECT_TABLES},
        "variables": partial(world.import_variables, run),
        "users": partial(accounts.import_users, run),
        "guilds": partial(world.import_guilds, run),
        "players": partial(_import_players, run, game, fresh=fresh),
        "activity": partial(logs.import_activity, run),
        "trades": partial(logs.import_trades, run),
        "user_leftovers": partial(world.keep_rows, run, "users"),
        "player_leftovers": partial(world.keep_rows, run, "players"),
        "guild_leftovers": partial(world.keep_rows, run, "guilds"),
        "bags": partial(_report_unused_bags, run),
        "strays": partial(_report_orphans, run),
    }
    names = list(stages)
    with pause_gc():
        for stage, next_stage in list(pairwise([*names, DONE_STAGE]))[names.index(run.stage or names[0]) :]:
            run.enter_stage(stage, next_stage)
            await stages[stage]()
    if run.keeper and not run.dry_run:
        await database_checks.create_missing_indexes(run.keeper.store)
        # in a dry run those of the source were counted
        run.old_log_entries = await run.keeper.store.value(log_rows.SQL.count_old, logs.find_oldest_kept(run)) or 0
        await run.keeper.lists.prepare()
    return True


# --- the catalogue -------------------------------------------------------------------------------------------------


def _read_game_data(run: ImportRun) -> GameData:
    game = GameData(Report(run.data.names))
    for noun in RULE_TABLES:
        if noun in run.data.tables:
            table = run.data.tables[noun]
            game.add(noun, run.data.game.read_table(table), table.columns)
    return game


async def _import_catalogue(run: ImportRun, game: GameData) -> None:
    async def build(batch: ImportBatch) -> None:
        batch.counts = batch.counts.add(game.report.counts)
        batch.entries += game.report.entries
        for noun, entries in game.entries.items():
            await batch.put_entries(noun, entries)
        known = set(run.data.names.values())
        for name, count in run.counts.items():
            if name not in known and count.rows:
                batch.entries.append(ReportEntry(name, "", SECRET_TABLES.get(name.lower(), UNSUPPORTED_TABLE)))

    await run.commit_stage(build)


# --- players -------------------------------------------------------------------------------------------------------


async def _import_players(run: ImportRun, game: GameData, *, fresh: bool) -> None:
    vitals = Vitals(game.classes, game.bonuses, run.settings.max_level)
    item_ids, spells, types = game.list_ids("items"), game.list_ids("known_spells"), game.list_variable_types()
    stack_cache = dict[tuple[object, object, object], Stack]()

    async def build(read: RowsByTable, batch: ImportBatch) -> None:
        bags = _read_bags(run, read)
        reader = PlayerReader(batch, run.settings, vitals, item_ids, spells, types, bags, stack_cache)
        # indexes are dropped only in an empty database: existing players must stay searchable
        first = [DROP_INDEXES] if fresh and run.last_id == ZERO_GUID else []
        await _build_player_batch(reader, read, batch, first)

    await run.process_batches("players", ("players", *OWNED_TABLES), build)


def _read_bags(run: ImportRun, read: RowsByTable) -> dict[str, RawBag]:
    """Read the imported bags in these slots, and the bags inside them, recursively."""
    tables, source, found = run.data.tables, run.data.players, dict[str, RawBag]()
    wanted = _find_bag_ids(row for noun in ("inventory", "bank") for rows in read[noun].values() for row in rows)
    while wanted:
        rows: dict[str, list[Row]] = {}
        for row in source.read_rows_of(tables["bag_slots"], sorted(wanted)):
            rows.setdefault(row[0], []).append(row)
        sizes = dict(source.read_rows_of(tables["bags"], sorted(wanted)))
        found |= {each: RawBag(sizes[each], rows.get(each, ())) for each in sizes}
        wanted = _find_bag_ids(row for own in rows.values() for row in own) - found.keys()
    return found


def _find_bag_ids(rows: Iterable[Row]) -> set[str]:
    named = {values.parse_guid(raw) for raw in {row[5] for row in rows}}
    return {each for each in named if each and each != ZERO_GUID}


async def _build_player_batch(
    reader: PlayerReader, read: RowsByTable, batch: ImportBatch, first: Sequence[Unlogged]
) -> None:
    known = await batch.find(presence.find_known_players, read["players"])
    deleted = await batch.find(ledger.find_deleted_players, read["players"].keys() - known)
    owned = await find_owned(batch.tx, known)
    owners = {own_id: values.parse_guid(rows[0][1]) for own_id, rows in read["players"].items()}
    owner_accounts = await batch.find(users.find_known_ids, {each for each in owners.values() if each})
    reader.used_bags |= await batch.find(items.find_known_bags, reader.bags)
    pattern = re.compile(reader.settings.name_pattern)
    new: list[FullPlayer] = []
    for own_id, rows in read["players"].items():
        batch.skip_doubled("players", own_id, rows)
        if own_id in known:
            _count_existing(reader, read, batch, own_id, owned)
        elif own_id in deleted or owners[own_id] not in owner_accounts:
            batch.skip("players", own_id, DELETED_HERE if own_id in deleted else NO_ACCOUNT)
            for noun in OWNED_TABLES:  # but not its bags: unused bags are reported later
                for row in read[noun].get(own_id, ()):
                    batch.skip(noun, row[1], PLAYER_SKIPPED)
        else:
            new.append(reader.read(rows[0], {noun: read[noun].get(own_id, ()) for noun in OWNED_TABLES}, pattern))
    clashing = await batch.find_clashes(players.find_known_folds, {player.id: fold(player.name) for player, _ in new})
    for each in sorted(clashing):
        batch.note("players", each, NAME_CLASH)
    batch.add_known(presence.find_known_players, [player.id for player, _ in new])
    batch.add_known(items.find_known_bags, reader.used_bags)
    possible = [player.id for player, _ in new] + sorted(known - owned.members)
    members = await _find_members(batch, [read["players"][each][0] for each in possible], known)
    social = [load_memberships(members, reader.texts)] if members or reader.texts else []
    batch.changes += [PAUSE_LISTS, *first, PlayersLoaded(new, clashing), *social, RESUME_LISTS] if new else social


async def _find_members(batch: ImportBatch, rows: Sequence[Row], existing: set[str]) -> list[GuildMember]:
    """Return the guild memberships of players, and report those of new players that cannot be imported."""
    found = [(row[0], world.read_member(row)) for row in rows]
    known = await batch.find(
        guilds.find_known_ids, {each.guild_id for _, each in found if isinstance(each, GuildMember)}
    )
    members: list[GuildMember] = []
    for own_id, each in found:
        if isinstance(each, GuildMember) and each.guild_id in known:
            members.append(each)
            if own_id in existing:
                batch.note("players", own_id, MEMBERSHIP_ADDED)
        elif each and own_id not in existing:
            why = each if isinstance(each, str) else f"its guild {each.guild_id} is missing: imported without a guild"
            batch.note("players", own_id, why)
    return members


def _count_existing(reader: PlayerReader, read: RowsByTable, batch: ImportBatch, own_id: str, owned: OwnedKeys) -> None:
    """Count an existing player's rows and bags, so that its bags are not reported as unused. Add missing texts."""
    reader.add_missing_texts(own_id, read["variables"].get(own_id, ()), owned.texts)
    batch.count("players").there += 1
    rows = [(noun, row) for noun in OWNED_TABLES for row in read[noun].get(own_id, ())]
    bag_ids: set[str] = set()
    for noun, row in rows:  # the loop appends rows of nested bags
        batch.count(noun).there += 1
        bag_id = values.parse_guid(row[5]) if noun in SLOT_TABLES else None
        if bag_id and bag_id in reader.bags and bag_id not in bag_ids:
            bag_ids.add(bag_id)
            batch.count("bags").there += 1
            rows += [("bag_slots", each) for each in reader.bags[bag_id].rows]
    batch.run.seen.add(COUNTED_BAG, bag_ids)


# --- unused bags and orphans -----------------------------------------------------------------------------------------


async def _report_unused_bags(run: ImportRun) -> None:
    async def build(read: RowsByTable, batch: ImportBatch) -> None:
        found = await batch.find(items.find_known_bags, read["bags"]) | run.seen.find_known(COUNTED_BAG, read["bags"])
        for own_id, rows in read["bags"].items():
            if own_id not in found:
                batch.skip("bags", own_id, UNUSED_BAG)
                for row in read["bag_slots"].get(own_id, ()):
                    batch.skip("bag_slots", row[1], UNUSED_BAG)
            batch.skip_doubled("bags", own_id, rows)

    await run.process_batches("bags", ("bags", "bag_slots"), build)


async def _report_orphans(run: ImportRun) -> None:
    """Report rows without a valid owner. Search only tables that have rows neither imported nor counted as skipped."""

    async def build(batch: ImportBatch) -> None:
        batch.last_entries = _find_orphans(run, batch.counts)

    await run.commit_stage(build)


def _find_orphans(run: ImportRun, counts: CountsByTable) -> Iterator[ReportEntry]:
    """Yield and count orphan rows of the imported database one by one, because they may be many."""
    tables = run.data.tables
    for noun, owner in OWNER_TABLES.items():
        if noun in tables and run.counts[tables[noun].name].unaccounted:
            for row_id, key in run.data.find_source(noun).read_orphans(tables[owner], tables[noun]):
                counts[tables[noun].name].left += 1
                yield ReportEntry(tables[noun].name, values.show_id(row_id), f"{NO_OWNER}: {values.show_id(key)}")
