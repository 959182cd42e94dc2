"""Import guilds with the values of their variables. Members are imported with the players."""

from collections.abc import Mapping
from functools import partial

import msgspec

from gamekeeper.game.bulk_loads import load_guilds
from gamekeeper.game.lookup import ZERO_GUID, fold
from gamekeeper.intersect import values
from gamekeeper.intersect.existing import GUILD, GUILD_NAME
from gamekeeper.intersect.import_run import ImportBatch, ImportRun
from gamekeeper.intersect.report import CountsByTable, ReportEntry
from gamekeeper.intersect.source import Row
from gamekeeper.intersect.variables import NEVER_SET, find_type
from gamekeeper.store.engine import Reading
from gamekeeper.store.guild_variables import GuildValue
from gamekeeper.store.guilds import GuildColumns, GuildMember

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
        await run.commit_batch(ids[-1], partial(_build_batch, run, owned, read))

    await run.process_batches("guilds", work)


def _find_owned_guilds(run: ImportRun) -> set[str]:
    """Return the ids of all guilds that have an owner, which is a player with the rank 0."""
    table, source = run.data.tables["players"], run.data.players
    guild, rank = table.columns[-3], table.columns[-2]
    if not guild or not rank:
        return set()
    found = source.read_distinct(table, guild, rank)
    return {guild_id for row in found if (guild_id := values.parse_guid(row[0]))}


async def _build_batch(
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
