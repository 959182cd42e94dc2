"""Keep rows that have no place in Gamekeeper as they were, as JSON: friends, quests, hotbars, guild banks and more."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from gamekeeper.game.bulk_loads import load_leftovers
from gamekeeper.intersect import values
from gamekeeper.intersect.existing import GUILD, LEFTOVER, PLAYER, USER
from gamekeeper.intersect.import_run import ImportBatch, ImportRun
from gamekeeper.intersect.report import CountsByTable, ReportEntry
from gamekeeper.intersect.source import Row
from gamekeeper.store import leftovers
from gamekeeper.store.engine import Reading
from gamekeeper.store.leftovers import Leftover

OWNER_SKIPPED = "its owner was skipped"
# owners → kind of their ids, and the tables whose rows are kept
KEPT_TABLES: Mapping[str, tuple[str, Sequence[str]]] = {
    leftovers.USERS: (USER, ("user_variables",)),
    leftovers.PLAYERS: (PLAYER, ("friends", "quests", "hotbars")),
    leftovers.GUILDS: (GUILD, ("guild_bank",)),
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
