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
from gamekeeper.game.world.loads import load_guilds, load_leftovers, load_variables
from gamekeeper.intersect import catalogue, import_run, values
from gamekeeper.intersect.catalogue import TYPES
from gamekeeper.intersect.data import BAD_ID
from gamekeeper.intersect.import_run import FindKnown, ImportBatch, ImportRun, RowsByTable
from gamekeeper.intersect.sources import PLAYER_TABLES, Row, has_id
from gamekeeper.store.accounts import users
from gamekeeper.store.players import presence
from gamekeeper.store.world import catalogue as store_catalogue
from gamekeeper.store.world import guilds, imports
from gamekeeper.store.world.catalogue import CatalogueGuildVariable, CatalogueServerVariable, NamedEntry
from gamekeeper.store.world.guilds import GuildColumns, GuildMember, GuildValue
from gamekeeper.store.world.imports import Leftover

NEVER_SET = "its value was never set or cannot be read"
_TYPES = {str: STRING, bool: BOOLEAN, float: NUMBER, int: INTEGER}
# table → type of its variables in versions without a type column
SERVER_TABLES = {"server_variables": INTEGER, "server_switches": BOOLEAN}


def find_type(value: float | bool | str) -> str:  # noqa: FBT001 - a value, not an option
    return _TYPES[type(value)]


def describe_mismatch(found: str, declared: str) -> str:
    given, wanted = (f"{'an' if each == INTEGER else 'a'} {each}" for each in (found, declared))
    return f"its value is {given}, but its variable is {wanted}"


async def import_variables(run: ImportRun) -> None:
    """Import all declared variables of the server, with their values, and of guilds: they are few, so at once."""

    async def build(batch: ImportBatch) -> None:
        server: list[CatalogueServerVariable] = []
        for noun, usual in SERVER_TABLES.items():
            for row in await _find_new(batch, noun, store_catalogue.find_known_server_variables):
                server.append(_read_server_variable(row, usual, noun == "server_switches"))
                _note_value(batch, noun, row, server[-1])
        guild = [
            CatalogueGuildVariable(*_read_declaration(row, INTEGER), values.parse_ticks(row[5]))
            for row in await _find_new(batch, "guild_variables", guilds.find_known_variables)
        ]
        batch.add_known(store_catalogue.find_known_server_variables, [each.id for each in server])
        batch.add_known(guilds.find_known_variables, [each.id for each in guild])
        if server:
            batch.changes.append(load_variables("servervariables", server))
        if guild:
            batch.changes.append(load_variables("guildvariables", guild))

    await run.commit_stage(build)


async def _find_new(batch: ImportBatch, noun: str, find_known: FindKnown) -> list[Row]:
    """Return the declared variables of a table that Gamekeeper does not have yet, and count all rows of the table."""
    data, rows = batch.run.data, dict[str, Row]()
    if noun not in data.tables:
        return []
    for row in data.game.read_table(data.tables[noun]):
        if not has_id(row) or row[0] in rows:
            batch.skip(noun, row[0] or "invalid", BAD_ID)
        else:
            rows[row[0]] = row
    known = await batch.find(find_known, rows)
    batch.count(noun).there, batch.count(noun).taken = len(known), len(rows) - len(known)
    return [row for own_id, row in rows.items() if own_id not in known]


def _read_declaration(row: Row, usual: str) -> tuple[str, str, str, str, str]:
    own_id, name, kind, text_id, folder = row[:5]
    texts = values.clean_text(text_id), values.clean_text(folder)
    return own_id, values.clean_text(name), TYPES.get(kind, usual), *texts


def _read_server_variable(row: Row, usual: str, is_switch: bool) -> CatalogueServerVariable:  # noqa: FBT001 - one caller
    value = values.parse_flag(row[6]) if is_switch else values.parse_scalar(row[6])
    stored = None if value is None else msgspec.json.encode(value).decode()
    return CatalogueServerVariable(*_read_declaration(row, usual), values.parse_ticks(row[5]), stored)


def _note_value(batch: ImportBatch, noun: str, row: Row, read: CatalogueServerVariable) -> None:
    if values.has_replacement(row):
        batch.note(noun, read.id, values.NOT_UTF8)
    if read.value is None:
        batch.note(noun, read.id, f"{NEVER_SET}: imported without a value")
        return
    kind = find_type(msgspec.json.decode(read.value))
    if kind != read.type:
        batch.note(noun, read.id, f"{describe_mismatch(kind, read.type)}: kept")


NO_OWNER = "it has no owner: imported without one"
SAME_NAME = "another guild has this name, apart from case: imported"
BAD_VARIABLE = "its variable's id is not a guid, or is a duplicate"


async def import_guilds(run: ImportRun) -> None:
    owned = _find_owned_guilds(run)

    async def build(read: RowsByTable, batch: ImportBatch) -> None:
        known, new = await batch.find(guilds.find_known_ids, read["guilds"]), list[GuildColumns]()
        for own_id, rows in read["guilds"].items():
            batch.skip_doubled("guilds", own_id, rows)
            if own_id not in known:
                new.append(_read_guild(rows[0]))
                if own_id not in owned:
                    batch.note("guilds", own_id, NO_OWNER)
        batch.count("guilds").taken, batch.count("guilds").there = len(new), len(known)
        for each in sorted(await batch.find_clashes(guilds.find_known_folds, {each.id: each.fold for each in new})):
            batch.note("guilds", each, SAME_NAME)
        given = _read_values(batch, read["guild_values"], known)
        batch.add_known(guilds.find_known_ids, [each.id for each in new])
        if new:
            batch.changes.append(load_guilds(new, given))

    await run.process_batches("guilds", ("guilds", "guild_values"), build)


def _find_owned_guilds(run: ImportRun) -> set[str]:
    """Return the ids of all guilds that have an owner, which is a player with the rank 0."""
    table, source = run.data.tables["players"], run.data.players
    guild, rank = table.columns[-3], table.columns[-2]
    if not guild or not rank:
        return set()
    found = source.read_distinct(table, guild, rank)
    return {guild_id for row in found if (guild_id := values.parse_guid(row[0]))}


def _read_guild(row: Row) -> GuildColumns:
    own_id, raw_name, founded, slots, instance = row
    name, zone = values.clean_text(raw_name) or own_id, values.parse_guid(instance)
    founded_at, size = values.parse_time(founded) or 0, values.parse_number(slots, 0) or 0
    return GuildColumns(own_id, name, fold(name), founded_at, size, None if zone == ZERO_GUID else zone)


def _read_values(batch: ImportBatch, read: Mapping[str, list[Row]], known: set[str]) -> list[GuildValue]:
    """Convert the values of the variables of new guilds; those of existing guilds stay as they are here."""
    taken = dict[tuple[str, str], GuildValue]()
    for guild_id, rows in read.items():
        if guild_id in known:
            batch.count("guild_values").there += len(rows)
            continue
        for _, raw_id, raw_value, row_id in rows:
            variable_id, value = values.parse_guid(raw_id), values.parse_scalar(raw_value)
            if variable_id is None or (guild_id, variable_id) in taken or value is None:
                reason = NEVER_SET if variable_id and value is None else BAD_VARIABLE
                batch.skip("guild_values", row_id or raw_id, reason)
            else:
                encoded = msgspec.json.encode(value).decode()
                taken[guild_id, variable_id] = GuildValue(guild_id, variable_id, find_type(value), encoded)
                batch.count("guild_values").taken += 1
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
        build = partial(_build_object_batch, noun, some)
        if has_id(some[-1]):
            await run.commit_batch(some[-1][0], build)
        else:  # no row of the table has a valid id
            await run.commit_stage(build)
        done += len(some)
        run.on_progress(table.name, done, total)


def _read_batch(rows: Iterator[Row]) -> list[Row]:
    """Read the rows of a batch. Rows with the same id, or without one, are never in two batches."""
    some = list(islice(rows, import_run.BATCH_SIZE))
    while some and not has_id(some[-1]) and (more := next(rows, None)):
        some.append(more)
    return some


async def _build_object_batch(noun: str, rows: list[Row], batch: ImportBatch) -> None:
    columns = batch.run.data.tables[noun].columns
    entries: dict[str, NamedEntry] = {}
    for row in rows:
        reason = _find_obstacle(noun, columns, row, entries)
        if reason:
            batch.skip(noun, row[0] or "invalid", reason)
            continue
        own_id = ZERO_GUID if noun == TIME else row[0]
        entry = NamedEntry(own_id, "" if noun == TIME else values.clean_text(row[1]))
        entries[own_id] = catalogue.add_details(batch, noun, columns, row, entry)
    await batch.put_entries(noun, entries)


def _find_obstacle(noun: str, columns: Sequence[str | None], row: Row, entries: Mapping[str, NamedEntry]) -> str | None:
    """Return why a row cannot be imported, or None."""
    if not has_id(row) or row[0] in entries:
        return BAD_ID
    if noun == TIME:
        return SECOND_TIME if entries else None
    if noun == "events" and "CommonEvent" in columns and not values.parse_flag(row[1 + columns.index("CommonEvent")]):
        return EVENT_OF_MAP
    return None


OWNER_SKIPPED = "its owner was skipped"
# owners → function that finds those of some ids that the database has
FIND_OWNERS = {
    imports.USERS: users.find_known_ids,
    imports.PLAYERS: presence.find_known_players,
    imports.GUILDS: guilds.find_known_ids,
}


async def keep_rows(run: ImportRun, owners: str) -> None:
    """Store the leftovers of all accounts, players or guilds that are in the database by now."""
    kept_whole = [noun for noun, spec in PLAYER_TABLES.items() if spec.whole and spec.owner == owners]
    nouns = [noun for noun in kept_whole if noun in run.data.tables and run.counts[run.data.names[noun]].unaccounted]

    async def build(read: RowsByTable, batch: ImportBatch) -> None:
        new: list[Leftover] = []
        known = await batch.find(FIND_OWNERS[owners], {each for rows in read.values() for each in rows})
        kept = await imports.find_known_leftovers(batch.tx, owners, known) if batch.tx else ()
        for noun, owned in read.items():
            for owner_id, rows in owned.items():
                if owner_id not in known:
                    for row in rows:
                        batch.skip(noun, row[1], OWNER_SKIPPED)
                elif (owner_id, noun) in kept:
                    batch.count(noun).there += len(rows)
                else:
                    batch.count(noun).taken += len(rows)
                    new.append(Leftover(owner_id, noun, encode_rows(run.data.tables[noun].last_names, rows)))
        if new:
            batch.changes.append(load_leftovers(owners, new))

    if nouns:
        await run.process_batches(owners, nouns, build)


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
