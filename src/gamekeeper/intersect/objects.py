"""Import the game's objects that no rule depends on, such as npcs and quests, with their fields."""

from collections.abc import Iterator
from itertools import islice

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import details, import_run, values
from gamekeeper.intersect import existing as existing_keys
from gamekeeper.intersect.import_run import ImportBatch, ImportRun
from gamekeeper.intersect.report import CountsByTable, ReportEntry
from gamekeeper.intersect.schemas import OBJECT_TABLES
from gamekeeper.intersect.source import Row
from gamekeeper.store.catalogue import NamedEntry
from gamekeeper.store.engine import Reading

BAD_ID = "its id is not a guid, or is a duplicate"
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
            return await _build_batch(run, noun, some, tx)

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


async def _build_batch(run: ImportRun, noun: str, rows: list[Row], tx: Reading | None) -> ImportBatch:
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
            entries[own_id] = entry._replace(details=details.encode_details(noun, table.columns, row))
        except details.TooLargeError:
            lines.append(ReportEntry(table.name, row[0], details.TOO_LARGE, taken=True))
        if values.has_replacement(row):
            lines.append(ReportEntry(table.name, row[0], values.NOT_UTF8, taken=True))
    kind = OBJECT_TABLES[noun].kind
    existing = await run.existing.find_entries(tx, kind, entries)
    changes, completed = existing_keys.complete_entries(kind, entries, existing)
    lines += [ReportEntry(table.name, each, existing_keys.COMPLETED, taken=True) for each in completed]
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
