"""Import guilds, variables of the server and of guilds, and objects that no rule depends on, such as npcs and quests.

Members of guilds are imported with the players. Rows that have no place in Gamekeeper are kept as they were, as JSON:
friends, quests, hotbars, guild banks and more.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

import msgspec

from gamekeeper.game.core.lookup import ZERO_GUID, fold
from gamekeeper.game.core.values import BOOLEAN, INTEGER, NUMBER, STRING
from gamekeeper.game.world.loads import load_guild_variables, load_guilds, load_leftovers, load_server_variables
from gamekeeper.intersect import catalogue, import_run, values
from gamekeeper.intersect.catalogue import TYPES
from gamekeeper.intersect.data import CountsByTable, ReportEntry
from gamekeeper.intersect.import_run import (
    GUILD,
    GUILD_NAME,
    GUILD_VARIABLE,
    LEFTOVER,
    PLAYER,
    SERVER_VARIABLE,
    USER,
    ImportBatch,
    ImportRun,
)
from gamekeeper.intersect.sources import OBJECT_TABLES, Row
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import imports
from gamekeeper.store.world.catalogue import NamedEntry
from gamekeeper.store.world.guild_variables import GuildValue, GuildVariableDeclaration
from gamekeeper.store.world.guilds import GuildColumns, GuildMember
from gamekeeper.store.world.imports import Leftover
from gamekeeper.store.world.server_variables import ServerVariable

BAD_ID = "its id is not a guid, or is a duplicate"
NEVER_SET = "its value was never set or cannot be read"
_ARTICLES = {BOOLEAN: "a", INTEGER: "an", STRING: "a", NUMBER: "a"}
# table → type of its variables in versions without a type column
SERVER_TABLES = {"server_variables": INTEGER, "server_switches": BOOLEAN}


def find_type(value: float | bool | str) -> str:  # noqa: FBT001 - a value, not an option
    if isinstance(value, str):
        return STRING
    if isinstance(value, bool):
        return BOOLEAN
    return NUMBER if isinstance(value, float) else INTEGER


def describe_mismatch(found: str, declared: str) -> str:
    return f"its value is {_ARTICLES[found]} {found}, but its variable is {_ARTICLES[declared]} {declared}"


async def import_variables(run: ImportRun) -> None:
    """Import all declared variables of the server, with their values, and of guilds: they are few, so at once."""

    async def turn(tx: Reading | None) -> ImportBatch:
        counts, lines = CountsByTable(), list[ReportEntry]()
        server: list[ServerVariable] = []
        for noun, usual in SERVER_TABLES.items():
            for row in await _find_new(run, tx, noun, SERVER_VARIABLE, counts, lines):
                server.append(_read_server_variable(row, usual, noun == "server_switches"))
                lines += _describe_value(run.data.names[noun], row, server[-1])
        guild = [
            GuildVariableDeclaration(*_read_declaration(row, INTEGER), values.parse_ticks(row[5]))
            for row in await _find_new(run, tx, "guild_variables", GUILD_VARIABLE, counts, lines)
        ]
        run.existing.note(SERVER_VARIABLE, [each.id for each in server])
        run.existing.note(GUILD_VARIABLE, [each.id for each in guild])
        loads = [
            *([load_server_variables(server)] if server else []),
            *([load_guild_variables(guild)] if guild else []),
        ]
        return ImportBatch(loads, counts, lines)

    await run.commit_stage(turn)


async def _find_new(
    run: ImportRun, tx: Reading | None, noun: str, kind: str, counts: CountsByTable, lines: list[ReportEntry]
) -> list[Row]:
    """Return the declared variables of a table that Gamekeeper does not have yet, and count all rows of the table."""
    if noun not in run.data.tables:
        return []
    table = run.data.tables[noun]
    rows: dict[str, Row] = {}
    for row in run.data.game.read_table(table):
        if row[0] is None or row[0] == ZERO_GUID or row[0] in rows:
            counts[table.name].left += 1
            lines.append(ReportEntry(table.name, row[0] or "invalid", BAD_ID))
        else:
            rows[row[0]] = row
    known = await run.existing.find(tx, kind, rows)
    counts[table.name].there, counts[table.name].taken = len(known), len(rows) - len(known)
    return [row for own_id, row in rows.items() if own_id not in known]


def _read_declaration(row: Row, usual: str) -> tuple[str, str, str, str, str]:
    own_id, name, kind, text_id, folder = row[:5]
    texts = values.clean_text(text_id), values.clean_text(folder)
    return own_id, values.clean_text(name), TYPES.get(kind, usual), *texts


def _read_server_variable(row: Row, usual: str, is_switch: bool) -> ServerVariable:  # noqa: FBT001 - one caller
    value = values.parse_flag(row[6]) if is_switch else values.parse_scalar(row[6])
    stored = None if value is None else msgspec.json.encode(value).decode()
    return ServerVariable(*_read_declaration(row, usual), stored, values.parse_ticks(row[5]))


def _describe_value(table: str, row: Row, read: ServerVariable) -> Iterator[ReportEntry]:
    if values.has_replacement(row):
        yield ReportEntry(table, read.id, values.NOT_UTF8, taken=True)
    if read.value is None:
        yield ReportEntry(table, read.id, f"{NEVER_SET}: imported without a value", taken=True)
        return
    kind = find_type(msgspec.json.decode(read.value))
    if kind != read.type:
        yield ReportEntry(table, read.id, f"{describe_mismatch(kind, read.type)}: kept", taken=True)


DUPLICATE_ID = "another row has the same id"
NO_OWNER = "it has no owner: imported without one"
SAME_NAME = "another guild has this name, apart from case: imported"
BAD_VARIABLE = "its variable's id is not a guid, or is a duplicate"
RowsByOwner = Mapping[str, list[Row]]


async def import_guilds(run: ImportRun) -> None:
    if "guilds" not in run.data.tables:
        return
    owned = _find_owned_guilds(run)

    async def work(ids: list[str]) -> None:
        read = {noun: run.read_rows(noun, ids) for noun in ("guilds", "guild_values")}
        await run.commit_batch(ids[-1], partial(_build_guild_batch, run, owned, read))

    await run.process_batches("guilds", work)


def _find_owned_guilds(run: ImportRun) -> set[str]:
    """Return the ids of all guilds that have an owner, which is a player with the rank 0."""
    table, source = run.data.tables["players"], run.data.players
    guild, rank = table.columns[-3], table.columns[-2]
    if not guild or not rank:
        return set()
    found = source.read_distinct(table, guild, rank)
    return {guild_id for row in found if (guild_id := values.parse_guid(row[0]))}


async def _build_guild_batch(
    run: ImportRun, owned: set[str], read: Mapping[str, RowsByOwner], tx: Reading | None
) -> ImportBatch:
    names, counts, lines, new = run.data.names, CountsByTable(), list[ReportEntry](), list[GuildColumns]()
    known = await run.existing.find(tx, GUILD, read["guilds"])
    for own_id, rows in read["guilds"].items():
        counts[names["guilds"]].left += len(rows) - 1
        lines += [ReportEntry(names["guilds"], own_id, DUPLICATE_ID) for _ in rows[1:]]
        if own_id not in known:
            new.append(_read_guild(rows[0]))
            if own_id not in owned:
                lines.append(ReportEntry(names["guilds"], own_id, NO_OWNER, taken=True))
    counts[names["guilds"]].taken, counts[names["guilds"]].there = len(new), len(known)
    used = await run.existing.find(tx, GUILD_NAME, [each.fold for each in new])
    for each in new:
        if each.fold in used:
            lines.append(ReportEntry(names["guilds"], each.id, SAME_NAME, taken=True))
        used.add(each.fold)
    given = _read_values(run, read["guild_values"], known, counts, lines)
    run.existing.note(GUILD, [each.id for each in new])
    run.existing.note(GUILD_NAME, [each.fold for each in new])
    return ImportBatch([load_guilds(new, given)] if new else [], counts, lines)


def _read_guild(row: Row) -> GuildColumns:
    own_id, raw_name, founded, slots, instance = row
    name, zone = values.clean_text(raw_name) or own_id, values.parse_guid(instance)
    founded_at, size = values.parse_time(founded) or 0, values.parse_number(slots, 0) or 0
    return GuildColumns(own_id, name, fold(name), founded_at, size, None if zone == ZERO_GUID else zone)


def _read_values(
    run: ImportRun, read: RowsByOwner, known: set[str], counts: CountsByTable, lines: list[ReportEntry]
) -> list[GuildValue]:
    """Convert the values of the variables of new guilds; those of existing guilds stay as they are here."""
    if "guild_values" not in run.data.tables:
        return []
    table, taken = run.data.names["guild_values"], dict[tuple[str, str], GuildValue]()
    for guild_id, rows in read.items():
        if guild_id in known:
            counts[table].there += len(rows)
            continue
        for _, raw_id, raw_value, row_id in rows:
            variable_id, value = values.parse_guid(raw_id), values.parse_scalar(raw_value)
            if variable_id is None or (guild_id, variable_id) in taken or value is None:
                counts[table].left += 1
                reason = NEVER_SET if variable_id and value is None else BAD_VARIABLE
                lines.append(ReportEntry(table, values.show_id(row_id or raw_id), reason))
            else:
                encoded = msgspec.json.encode(value).decode()
                taken[guild_id, variable_id] = GuildValue(guild_id, variable_id, find_type(value), encoded)
    counts[table].taken += len(taken)
    return list(taken.values())


def read_member(row: Row) -> GuildMember | str | None:
    """Return a player's membership, a reason why it cannot be imported, or None if the player is in no guild."""
    raw_guild, raw_rank, joined = row[-3:]
    guild_id = values.parse_guid(raw_guild)
    if raw_guild is None or guild_id == ZERO_GUID:
        return None
    rank = values.parse_number(raw_rank, 0)
    if guild_id is None or rank is None:
        return (
            f"its guild {values.show_id(raw_guild)} or its rank {raw_rank!r} cannot be read: imported without a guild"
        )
    return GuildMember(row[0], guild_id, rank, values.parse_time(joined))


EVENT_OF_MAP = "it is an event of a map, which Intersect does not list"
SECOND_TIME = "there is one entry of this kind"
TIME = "time"


async def import_objects(run: ImportRun, noun: str) -> None:
    """Import one table in batches, in the order of its ids."""
    if noun not in run.data.tables:
        return
    table = run.data.tables[noun]
    rows = run.data.game.read_table(table)
    done, total = 0, run.counts[table.name].rows
    if run.last_id != ZERO_GUID:  # rows without a valid id come first, and were reported by the first batch
        rows = (row for row in rows if row[0] is not None and row[0] > run.last_id)
    while some := _read_batch(rows):

        async def turn(tx: Reading | None, some: list[Row] = some) -> ImportBatch:
            return await _build_object_batch(run, noun, some, tx)

        if _has_no_id(some[-1]):  # no row of the table has a valid id
            await run.commit_stage(turn)
        else:
            await run.commit_batch(some[-1][0], turn)
        done += len(some)
        run.on_progress(table.name, done, total)


def _read_batch(rows: Iterator[Row]) -> list[Row]:
    """Read the rows of a batch. Rows with the same id, or without one, are never in two batches."""
    some = list(islice(rows, import_run.BATCH_SIZE))
    while some and _has_no_id(some[-1]) and (more := next(rows, None)):
        some.append(more)
    return some


def _has_no_id(row: Row) -> bool:
    return row[0] is None or row[0] == ZERO_GUID


async def _build_object_batch(run: ImportRun, noun: str, rows: list[Row], tx: Reading | None) -> ImportBatch:
    table, counts, lines = run.data.tables[noun], CountsByTable(), list[ReportEntry]()
    entries: dict[str, NamedEntry] = {}
    for row in rows:
        reason = _find_obstacle(run, noun, row, entries)
        if reason:
            counts[table.name].left += 1
            lines.append(ReportEntry(table.name, row[0] or "invalid", reason))
            continue
        own_id = ZERO_GUID if noun == TIME else row[0]
        entry = entries[own_id] = NamedEntry(own_id, "" if noun == TIME else values.clean_text(row[1]))
        try:
            entries[own_id] = entry._replace(details=catalogue.encode_details(noun, table.columns, row))
        except catalogue.TooLargeError:
            lines.append(ReportEntry(table.name, row[0], catalogue.TOO_LARGE, taken=True))
        if values.has_replacement(row):
            lines.append(ReportEntry(table.name, row[0], values.NOT_UTF8, taken=True))
    kind = OBJECT_TABLES[noun].kind
    existing = await run.existing.find_entries(tx, kind, entries)
    changes, completed = import_run.complete_entries(kind, entries, existing)
    lines += [ReportEntry(table.name, each, import_run.COMPLETED, taken=True) for each in completed]
    counts[table.name].taken, counts[table.name].there = len(entries) - len(existing), len(existing)
    return ImportBatch(changes, counts, lines)


def _find_obstacle(run: ImportRun, noun: str, row: Row, entries: dict[str, NamedEntry]) -> str | None:
    """Return why a row cannot be imported, or None."""
    if _has_no_id(row) or row[0] in entries:
        return BAD_ID
    if noun == TIME:
        return SECOND_TIME if entries else None
    columns = run.data.tables[noun].columns
    if noun == "events" and "CommonEvent" in columns and not values.parse_flag(row[1 + columns.index("CommonEvent")]):
        return EVENT_OF_MAP
    return None


OWNER_SKIPPED = "its owner was skipped"
# owners → kind of their ids, and the tables whose rows are kept
KEPT_TABLES: Mapping[str, tuple[str, Sequence[str]]] = {
    imports.USERS: (USER, ("user_variables",)),
    imports.PLAYERS: (PLAYER, ("friends", "quests", "hotbars")),
    imports.GUILDS: (GUILD, ("guild_bank",)),
}


async def keep_rows(run: ImportRun, owners: str) -> None:
    """Store the leftovers of all accounts, players or guilds that are in the database by now."""
    owner_kind, nouns = KEPT_TABLES[owners]
    present = [noun for noun in nouns if noun in run.data.tables and run.counts[run.data.names[noun]].unaccounted]

    async def work(ids: list[str]) -> None:
        read = {noun: run.read_rows(noun, ids) for noun in present}

        async def turn(tx: Reading | None) -> ImportBatch:
            counts, lines, new = CountsByTable(), list[ReportEntry](), list[Leftover]()
            known = await run.existing.find(tx, owner_kind, {each for rows in read.values() for each in rows})
            kept = await run.existing.find_leftovers(tx, owners, known)
            for noun in present:
                count = counts[run.data.names[noun]]
                for owner_id, rows in read[noun].items():
                    if owner_id not in known:
                        count.left += len(rows)
                        table = run.data.names[noun]
                        lines += [ReportEntry(table, values.show_id(row[1]), OWNER_SKIPPED) for row in rows]
                    elif (owner_id, noun) in kept:
                        count.there += len(rows)
                    else:
                        count.taken += len(rows)
                        new.append(Leftover(owner_id, noun, encode_rows(run.data.tables[noun].last_names, rows)))
            run.existing.note(LEFTOVER, (f"{each.owner_id} {each.kind}" for each in new))
            return ImportBatch([load_leftovers(owners, new)] if new else [], counts, lines)

        await run.commit_batch(ids[-1], turn)

    if present:
        await run.process_batches(owners, work)


def encode_rows(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Encode rows as a JSON list of objects by column name; guids are spelt as everywhere in Gamekeeper."""
    found = [{name: _show(value) for name, value in zip(names, row[1:], strict=True)} for row in rows]
    return msgspec.json.encode(found).decode()


def _show(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return values.parse_guid(value) or (value.hex() if isinstance(value, bytes) else values.clean_text(value))
