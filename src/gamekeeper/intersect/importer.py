"""Import an Intersect server in stages: catalogue, accounts, players, then a report of unused bags and orphan rows."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from gamekeeper.game.accounts.account_changes import UsersLoaded
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.lookup import ZERO_GUID, fold
from gamekeeper.game.players.changes import PlayersLoaded
from gamekeeper.game.players.inventory import Stack
from gamekeeper.game.world.loads import DROP_INDEXES, PAUSE_LISTS, RESUME_LISTS, load_memberships, pause_gc
from gamekeeper.intersect import accounts, catalogue, logs, values, world
from gamekeeper.intersect.accounts import NAME_CLASH, UNUSABLE_EMAIL
from gamekeeper.intersect.catalogue import GameData, Vitals
from gamekeeper.intersect.data import OWNER_TABLES, CountsByTable, ReportEntry
from gamekeeper.intersect.import_run import (
    BAG,
    COMPLETED,
    DELETED_PLAYER,
    DELETED_USER,
    EMAIL,
    GUILD,
    PLAYER,
    PLAYER_NAME,
    USER,
    USER_NAME,
    ImportBatch,
    ImportRun,
    OwnedKeys,
    complete_entries,
    find_owned,
)
from gamekeeper.intersect.players import FullPlayer, PlayerReader, RawBag, RawPlayer
from gamekeeper.intersect.sources import OBJECT_TABLES, Row
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.moderation import ImposedPenalty
from gamekeeper.store.engine import indexes
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players
from gamekeeper.store.world.guilds import GuildMember
from gamekeeper.store.world.imports import DONE_STAGE

OWNED_TABLES = ("inventory", "bank", "spells", "variables", "switches")
SLOT_TABLES = ("inventory", "bank", "bag_slots")  # tables whose rows can hold a bag
DUPLICATE_ID = "another row has the same id"
DELETED_HERE = "it was deleted in Gamekeeper"
NO_ACCOUNT = "its account is missing"
PLAYER_SKIPPED = "its player was skipped"
NO_OWNER = "its owner is missing, or the owner's id is not a guid or all zeros"
NO_END = "its end cannot be read: ban or mute the account again if needed"
MEMBERSHIP_ADDED = "it existed without a guild: its guild was added"
UNUSED_BAG = "no slot of an imported player holds it"
UNSUPPORTED_TABLE = "Gamekeeper does not support this table"
SECRET_TABLES = {"requestlogs": "it may contain bearer tokens, and is never imported"}


RowsByTable = Mapping[
    str, Mapping[str, list[Row]]
]  # rows of the imported database by table, then by the id of their owner


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
        "users": partial(_import_users, run),
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
        await indexes.create_missing(run.keeper.store)
        await logs.count_old_entries(run)
        await run.keeper.lists.prepare()
    return True


# --- the catalogue -------------------------------------------------------------------------------------------------


def _read_game_data(run: ImportRun) -> GameData:
    game = GameData()
    for noun in catalogue.KINDS:
        if noun in run.data.tables:
            table = run.data.tables[noun]
            game.add(noun, table.name, run.data.game.read_table(table), table.columns)
    return game


async def _import_catalogue(run: ImportRun, game: GameData) -> None:
    async def turn(tx: Reading | None) -> ImportBatch:
        counts, changes, completed = CountsByTable(), list[Change](), list[ReportEntry]()
        for noun, entries in game.entries.items():
            kind, count = catalogue.KINDS[noun], counts[run.data.names[noun]]
            existing = await run.existing.find_entries(tx, kind, entries)
            puts, ids = complete_entries(kind, entries, existing)
            count.taken, count.there = len(entries) - len(existing), len(existing)
            changes += puts
            completed += [ReportEntry(run.data.names[noun], each, COMPLETED, taken=True) for each in ids]
        for line in game.report_entries:
            counts[line.table].left += not line.taken
        known = set(run.data.names.values())
        unsupported = [name for name, count in run.counts.tables.items() if name not in known and count.rows]
        whole = [ReportEntry(name, "", SECRET_TABLES.get(name.lower(), UNSUPPORTED_TABLE)) for name in unsupported]
        return ImportBatch(changes, counts, [*game.report_entries, *completed, *whole])

    await run.commit_stage(turn)


# --- accounts ------------------------------------------------------------------------------------------------------


async def _import_users(run: ImportRun) -> None:
    pattern = re.compile(run.settings.name_pattern)

    async def work(ids: list[str]) -> None:
        read = {noun: run.read_rows(noun, ids) for noun in ("users", "bans", "mutes")}
        await run.commit_batch(ids[-1], partial(_build_user_batch, run, pattern, read))

    await run.process_batches("users", work)


async def _build_user_batch(
    run: ImportRun, pattern: re.Pattern[str], read: RowsByTable, tx: Reading | None
) -> ImportBatch:
    names, existing, counts, lines = run.data.names, run.existing, CountsByTable(), list[ReportEntry]()
    known = await existing.find(tx, USER, read["users"])
    deleted = await existing.find(tx, DELETED_USER, read["users"].keys() - known)
    new: list[accounts.ImportedUser] = []
    for own_id, rows in read["users"].items():
        if own_id in deleted:
            _skip_rows(counts, lines, names["users"], [(own_id, DELETED_HERE)])
        elif own_id not in known:
            new.append(accounts.read_user(rows[0], pattern, partial(_add_note, lines, names["users"], own_id)))
        _skip_rows(counts, lines, names["users"], [(own_id, DUPLICATE_ID) for _ in rows[1:]])
    counts[names["users"]].taken, counts[names["users"]].there = len(new), len(known)
    clashing = await _find_clashes(run, tx, USER_NAME, [(each.user.id, each.fold) for each in new])
    addressed = [(each.user.id, each.email_fold) for each in new if each.email_fold is not None]
    unaddressed = {each.user.id for each in new if each.email_fold is None}
    unaddressed |= await _find_clashes(run, tx, EMAIL, addressed)
    lines += [ReportEntry(names["users"], each, NAME_CLASH, taken=True) for each in sorted(clashing)]
    lines += [ReportEntry(names["users"], each, UNUSABLE_EMAIL, taken=True) for each in sorted(unaddressed)]
    bans, mutes = (
        _read_penalties(names[noun], read[noun], known, deleted, counts, lines) for noun in ("bans", "mutes")
    )
    existing.note(USER, [each.user.id for each in new])
    loaded = UsersLoaded([each.user for each in new], clashing, unaddressed, bans, mutes)
    return ImportBatch([PAUSE_LISTS, loaded, RESUME_LISTS] if new else [], counts, lines)


async def _find_clashes(run: ImportRun, tx: Reading | None, kind: str, wanted: Sequence[tuple[str, str]]) -> set[str]:
    """Return the ids of new rows whose name or email is taken, by an existing row or by an earlier new one."""
    taken = await run.existing.find(tx, kind, [each for _, each in wanted])
    clashing: set[str] = set()
    for own_id, each in wanted:
        if each in taken:
            clashing.add(own_id)
        taken.add(each)
    run.existing.note(kind, [each for _, each in wanted])
    return clashing


def _read_penalties(
    table: str,
    read: Mapping[str, list[Row]],
    known: set[str],
    deleted: set[str],
    counts: CountsByTable,
    lines: list[ReportEntry],
) -> list[ImposedPenalty]:
    new = [rows for own_id, rows in read.items() if own_id not in known | deleted]
    found = [(rows[0], accounts.read_penalty(rows)) for rows in new]
    taken = [each for _, each in found if each]
    counts[table].taken, counts[table].there = len(taken), len(read.keys() & known)
    _skip_rows(counts, lines, table, [(values.show_id(row[1]), NO_END) for row, each in found if not each])
    _skip_rows(
        counts, lines, table, [(values.show_id(read[each][0][1]), NO_ACCOUNT) for each in read if each in deleted]
    )
    for rows in read.values():
        _skip_rows(counts, lines, table, [(values.show_id(row[1]), "its account has another one") for row in rows[1:]])
    return taken


# --- players -------------------------------------------------------------------------------------------------------


async def _import_players(run: ImportRun, game: GameData, *, fresh: bool) -> None:
    vitals = Vitals(game.classes, game.bonuses, run.settings.max_level)
    first = (
        [DROP_INDEXES] if fresh else []
    )  # indexes are dropped only in an empty database: existing players must stay searchable
    items, spells, types = game.list_ids("items"), game.list_ids("known_spells"), game.list_variable_types()
    stack_cache = dict[tuple[object, object, object], Stack]()

    async def work(ids: list[str]) -> None:
        read = {noun: run.read_rows(noun, ids) for noun in ("players", *OWNED_TABLES)}
        bags = _read_bags(run, read)

        async def turn(tx: Reading | None) -> ImportBatch:
            reader = PlayerReader(run.data.names, run.settings, vitals, items, spells, types, bags, stack_cache)
            return await _build_player_batch(run, reader, read, tx, first)

        await run.commit_batch(ids[-1], turn)
        first.clear()

    await run.process_batches("players", work)


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
    run: ImportRun,
    reader: PlayerReader,
    read: RowsByTable,
    tx: Reading | None,
    first: Sequence[Unlogged],
) -> ImportBatch:
    existing, names, counts, lines = run.existing, run.data.names, reader.counts, reader.entries
    known = await existing.find(tx, PLAYER, read["players"])
    deleted = await existing.find(tx, DELETED_PLAYER, read["players"].keys() - known)
    owned = await find_owned(tx, known)
    owners = {own_id: values.parse_guid(rows[0][1]) for own_id, rows in read["players"].items()}
    owner_accounts = await existing.find(tx, USER, {each for each in owners.values() if each})
    reader.used_bags |= await existing.find(tx, BAG, reader.bags)
    pattern = re.compile(run.settings.name_pattern)
    new: list[FullPlayer] = []
    for own_id, rows in read["players"].items():
        _skip_rows(counts, lines, names["players"], [(own_id, DUPLICATE_ID) for _ in rows[1:]])
        if own_id in known:
            _count_existing(run, reader, read, own_id, owned)
        elif own_id in deleted or owners[own_id] not in owner_accounts:
            reader.skip("players", own_id, DELETED_HERE if own_id in deleted else NO_ACCOUNT)
            _skip_items(reader, read, own_id)
        else:
            new.append(reader.read(RawPlayer(rows[0], *(read[noun].get(own_id, ()) for noun in OWNED_TABLES)), pattern))
    clashing = await _find_clashes(run, tx, PLAYER_NAME, [(player.id, fold(player.name)) for player, _ in new])
    lines += [ReportEntry(names["players"], each, NAME_CLASH, taken=True) for each in sorted(clashing)]
    existing.note(PLAYER, [player.id for player, _ in new])
    existing.note(BAG, reader.used_bags)
    possible = [player.id for player, _ in new] + sorted(known - owned.members)
    members = await _find_members(run, reader, [read["players"][each][0] for each in possible], tx, known)
    social = [load_memberships(members, reader.texts)] if members or reader.texts else []
    loaded = [PAUSE_LISTS, *first, PlayersLoaded(new, clashing), *social, RESUME_LISTS] if new else social
    return ImportBatch(loaded, counts, lines)


async def _find_members(
    run: ImportRun, reader: PlayerReader, rows: Sequence[Row], tx: Reading | None, existing: set[str]
) -> list[GuildMember]:
    """Return the guild memberships of players, and report those of new players that cannot be imported."""
    found = [(row[0], world.read_member(row)) for row in rows]
    wanted = {each.guild_id for _, each in found if isinstance(each, GuildMember)}
    known = await run.existing.find(tx, GUILD, wanted)
    members: list[GuildMember] = []
    for own_id, each in found:
        if isinstance(each, GuildMember) and each.guild_id in known:
            members.append(each)
            if own_id in existing:
                reader.note("players", own_id, MEMBERSHIP_ADDED)
        elif each and own_id not in existing:
            why = each if isinstance(each, str) else f"its guild {each.guild_id} is missing: imported without a guild"
            reader.note("players", own_id, why)
    return members


def _count_existing(run: ImportRun, reader: PlayerReader, read: RowsByTable, own_id: str, owned: OwnedKeys) -> None:
    """Count an existing player's rows and bags, so that its bags are not reported as unused. Add missing texts."""
    reader.add_missing_texts(own_id, read["variables"].get(own_id, ()), owned.texts)
    reader.counts[reader.tables["players"]].there += 1
    rows = [(noun, row) for noun in OWNED_TABLES for row in read[noun].get(own_id, ())]
    bag_ids: set[str] = set()
    for noun, row in rows:  # the loop appends rows of nested bags
        reader.counts[reader.tables[noun]].there += 1
        bag_id = values.parse_guid(row[5]) if noun in SLOT_TABLES else None
        if bag_id and bag_id in reader.bags and bag_id not in bag_ids:
            bag_ids.add(bag_id)
            reader.counts[reader.tables["bags"]].there += 1
            rows += [("bag_slots", each) for each in reader.bags[bag_id].rows]
    run.bags_counted.add(BAG, bag_ids)


def _skip_items(reader: PlayerReader, read: RowsByTable, own_id: str) -> None:
    """Skip the rows of a player that is not imported, except its bags: unused bags are reported later."""
    for noun in OWNED_TABLES:
        for row in read[noun].get(own_id, ()):
            reader.skip(noun, row[1], PLAYER_SKIPPED)


# --- unused bags and orphans -----------------------------------------------------------------------------------------


async def _report_unused_bags(run: ImportRun) -> None:
    async def work(ids: list[str]) -> None:
        read = {noun: run.read_rows(noun, ids) for noun in ("bags", "bag_slots")}

        async def turn(tx: Reading | None) -> ImportBatch:
            counts, lines = CountsByTable(), list[ReportEntry]()
            found = await run.existing.find(tx, BAG, ids) | run.bags_counted.find_known(BAG, ids)
            names = run.data.names
            for own_id in ids:
                if own_id not in found:
                    _skip_rows(counts, lines, names["bags"], [(own_id, UNUSED_BAG)])
                    slots = read["bag_slots"].get(own_id, ())
                    _skip_rows(
                        counts, lines, names["bag_slots"], [(values.show_id(row[1]), UNUSED_BAG) for row in slots]
                    )
                _skip_rows(
                    counts, lines, names["bags"], [(own_id, DUPLICATE_ID) for _ in read["bags"].get(own_id, ())[1:]]
                )
            return ImportBatch((), counts, lines)

        await run.commit_batch(ids[-1], turn)

    await run.process_batches("bags", work)


async def _report_orphans(run: ImportRun) -> None:
    """Report rows without a valid owner. Search only tables that have rows neither imported nor counted as skipped."""

    async def turn(_: Reading | None) -> ImportBatch:
        counts = CountsByTable()
        return ImportBatch((), counts, _find_orphans(run, counts))

    await run.commit_stage(turn)


def _find_orphans(run: ImportRun, counts: CountsByTable) -> Iterator[ReportEntry]:
    """Yield and count orphan rows of the imported database one by one, because they may be many."""
    tables = run.data.tables
    for noun, owner in OWNER_TABLES.items():
        if noun in tables and run.counts[tables[noun].name].unaccounted:
            for row_id, key in run.data.find_source(noun).read_orphans(tables[owner], tables[noun]):
                counts[tables[noun].name].left += 1
                yield ReportEntry(tables[noun].name, values.show_id(row_id), f"{NO_OWNER}: {values.show_id(key)}")


def _skip_rows(counts: CountsByTable, lines: list[ReportEntry], table: str, rows: Sequence[tuple[str, str]]) -> None:
    counts[table].left += len(rows)
    lines += [ReportEntry(table, row_id, reason) for row_id, reason in rows]


def _add_note(lines: list[ReportEntry], table: str, own_id: str, reason: str) -> None:
    lines.append(ReportEntry(table, own_id, reason, taken=True))
