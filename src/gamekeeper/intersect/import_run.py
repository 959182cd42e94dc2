"""State of one import, and which ids, names, email addresses and bags the target database has or had.

Each batch is one transaction, which also stores the position reached. An import can be killed at any time; the next run
resumes at the stored position.
"""

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import apsw
import msgspec

from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.world.changes import CataloguePut
from gamekeeper.game.world.loads import save_progress
from gamekeeper.ground.settings import Settings
from gamekeeper.intersect import values
from gamekeeper.intersect.data import CountsByTable, Report, ReportEntry, ReportFile, RowCounts, SourceData
from gamekeeper.intersect.sources import GAME_TABLES, OWNER_TABLES, BadSource, Row
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import variables
from gamekeeper.store.world import catalogue, guilds, imports
from gamekeeper.store.world.catalogue import CatalogueEntry
from gamekeeper.store.world.imports import DONE_STAGE, ImportState


class KeySet:
    """Keys that this run has seen, in a temporary file: they may be many."""

    def __init__(self) -> None:
        self._db = apsw.Connection("")  # "" opens a temporary SQLite database
        self._db.execute("CREATE TABLE seen (kind TEXT, key TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID")
        self._db.execute("BEGIN")

    def add(self, kind: str, keys: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", ((kind, key) for key in keys))

    def find_known(self, kind: str, keys: Iterable[str]) -> set[str]:
        text = "SELECT seen.key FROM json_each(?) AS asked JOIN seen ON seen.kind = ? AND seen.key = asked.value"
        return {row[0] for row in self._db.execute(text, (json.dumps(list(keys)), kind))}


# function that returns those of some ids, names or other keys that a database has
FindKnown = Callable[[Reading, Iterable[str]], Coroutine[Any, Any, set[str]]]
COMPLETED = "it existed without its further fields: they were added"


class OwnedKeys(NamedTuple):
    """What existing players have of the data that an import adds to them."""

    members: set[str]  # players who are in a guild
    texts: set[tuple[str, str]]  # player and variable of texts and decimals


async def find_owned(tx: Reading | None, player_ids: set[str]) -> OwnedKeys:
    if tx is None or not player_ids:
        return OwnedKeys(set(), set())
    texts = await variables.read_texts_between(tx, min(player_ids), max(player_ids))
    return OwnedKeys(
        set(await guilds.read_memberships(tx, player_ids)), {(each.player_id, each.variable_id) for each in texts}
    )


BATCH_SIZE = 2_500  # accounts or players that an import writes per transaction
IMPORT_INTENT = Intent(request_id="import-intersect")

# function that shows an import's progress; arguments: name of the table, rows done, rows in total
OnProgress = Callable[[str, int, int | None], None]


@dataclass(slots=True, kw_only=True)
class ImportBatch(Report):
    """One transaction of an import, while it is being made."""

    run: "ImportRun"
    tx: Reading | None  # None: a dry run without a database
    changes: list[Change | Unlogged] = field(default_factory=list[Change | Unlogged])
    last_entries: Iterable[ReportEntry] = ()  # may be a generator, which updates `counts` as they are written

    async def find(self, known: FindKnown, keys: Iterable[str]) -> set[str]:
        """Return the keys that the database has; in a dry run also those that a real import would have added by now."""
        asked = list(keys)
        found = await known(self.tx, asked) if self.tx and asked else set[str]()
        return found | self.run.seen.find_known(known.__module__ + known.__name__, asked) if self.run.dry_run else found

    def add_known(self, known: FindKnown, keys: Iterable[str]) -> None:
        """Let a dry run find the imported keys; a real import has them in the database after the commit."""
        if self.run.dry_run:
            self.run.seen.add(known.__module__ + known.__name__, keys)

    async def find_clashes(self, known: FindKnown, wanted: Mapping[str, str]) -> set[str]:
        """Return the ids of new rows whose name or email is taken, by an existing row or by an earlier new one."""
        taken = await self.find(known, wanted.values())
        clashing: set[str] = set()
        for own_id, each in wanted.items():
            if each in taken:
                clashing.add(own_id)
            taken.add(each)
        self.add_known(known, wanted.values())
        return clashing

    async def put_entries(self, noun: str, entries: Mapping[str, CatalogueEntry]) -> None:
        """Add new entries to the catalogue, and details to existing entries that have none."""
        kind = GAME_TABLES[noun].kind
        existing: dict[str, CatalogueEntry] = {}
        if self.tx:
            await catalogue.lock_kind(self.tx, kind)
            found = await catalogue.find_by_ids(self.tx, kind, entries)
            existing = {each.id: each for each in await catalogue.add_details(self.tx, kind, [*found.values()])}
        bare = [each for each in existing.values() if each.details is None and entries[each.id].details is not None]
        completed = [each._replace(details=entries[each.id].details) for each in bare]
        new = [each for own_id, each in entries.items() if own_id not in existing]
        if completed or new:
            self.changes.append(CataloguePut(kind, bare, [*completed, *new]))
        for each in bare:
            self.note(noun, each.id, COMPLETED)
        self.count(noun).taken, self.count(noun).there = len(new), len(existing)


BuildBatch = Callable[[ImportBatch], Awaitable[None]]
RowsByTable = Mapping[
    str, Mapping[str, list[Row]]
]  # rows of a batch by Gamekeeper's table name, then by their owner's id


@dataclass(slots=True)
class ImportRun:
    data: SourceData
    settings: Settings
    keeper: Keeper | None  # the target database; None: a dry run without a database
    report_file: ReportFile
    on_progress: OnProgress
    dry_run: bool
    source: str = ""
    report_path: str = ""  # path of the import's report, as stored in the database
    stage: str = ""
    next_stage: str = ""
    last_id: str = ZERO_GUID
    report_bytes: int = 0  # length in bytes of the import's report so far
    counts: CountsByTable = field(default_factory=CountsByTable)
    resumed: bool = False  # True: this run continues an import that an earlier run started
    old_log_entries: int = 0  # imported log entries that are deleted soon, because they are older than `log_days`
    had_work: bool = True  # False: an earlier run completed the import
    seen: KeySet = field(default_factory=KeySet)
    not_utf8: list[ReportEntry] = field(
        default_factory=list[ReportEntry]
    )  # report entries for rows with invalid UTF-8, imported with the batch that is being made

    async def resume(self) -> bool:
        """Load the position at which an earlier run of the import stopped; False if that run completed the import."""
        self.source, self.report_path = self.data.fingerprint, values.clean_text(str(self.report_file.path))
        state = await imports.find_import(self.keeper.store, self.source) if self.keeper else None
        if state is None:
            self.counts = self.data.count_rows()
            return True
        self.resumed = True
        self.stage, self.last_id, self.report_bytes = state.stage, state.last, state.listed
        self.counts = CountsByTable(msgspec.json.decode(state.counts, type=dict[str, RowCounts]))
        if state.stage != DONE_STAGE:
            self._require_report(state.report)
        self.report_path = state.report
        return state.stage != DONE_STAGE

    def _require_report(self, begun: str) -> None:
        """Fail if the report file is not that of the import's earlier run: its entries would be lost."""
        if self.report_path != begun:
            raise BadSource(
                f"This import was started with another report file, which must be continued. Add: --report {begun}"
            )
        if self.report_file.measure_size() < self.report_bytes:
            raise BadSource(
                f"The report {begun} was deleted or truncated after this import was started. Restore the file, or "
                "import into an empty database."
            )

    def enter_stage(self, stage: str, next_stage: str) -> None:
        self.next_stage = next_stage
        if stage != self.stage:
            self.stage, self.last_id = stage, ZERO_GUID

    async def commit_stage(self, build: BuildBatch) -> None:
        """Apply the only batch of a stage, and store the next stage: a resumed import must not count its rows again."""
        self.stage = self.next_stage
        await self.commit_batch(ZERO_GUID, build)

    async def commit_batch(self, last: str, build: BuildBatch) -> None:
        """Apply one batch of an import in one transaction. It may be retried; the last attempt counts."""
        after = self.counts, self.report_bytes

        async def decide(tx: Reading | None) -> Decision[None]:
            nonlocal after
            batch = ImportBatch(self.data.names, run=self, tx=tx)
            await build(batch)
            entries = chain(self.not_utf8, batch.entries, batch.last_entries)
            listed = self.report_file.write(self.report_bytes, entries)
            counts = self.counts.add(batch.counts)
            after = counts, listed
            encoded = msgspec.json.encode(counts).decode()
            state = ImportState(self.source, self.stage, last, self.report_path, listed, encoded)
            return Decision([*batch.changes, save_progress(state)], None)

        if self.keeper and not self.dry_run:
            await self.keeper.changes.apply(IMPORT_INTENT, decide, lambda _: b"")
        else:
            await decide(self.keeper.store if self.keeper else None)
        self.counts, self.report_bytes = after
        self.last_id = last
        self.not_utf8.clear()

    async def process_batches(
        self, owners: str, nouns: Sequence[str], build: Callable[[RowsByTable, ImportBatch], Awaitable[None]]
    ) -> None:
        """Call `build` with the rows of tables for batches of their owners, from the stored position on."""
        if owners not in self.data.tables:
            return
        table = self.data.tables[owners]
        total, done = self.counts[table.name].rows, 0
        while ids := self.data.find_source(owners).read_ids(table, self.last_id, BATCH_SIZE):
            read = {noun: self._read_rows(noun, ids) for noun in nouns}
            await self.commit_batch(ids[-1], partial(build, read))
            done += len(ids)
            self.on_progress(table.name, done, total)

    def _read_rows(self, noun: str, ids: Sequence[str]) -> dict[str, list[Row]]:
        """Return a table's rows by their owner's id, for owners from the first to the last of the sorted `ids`."""
        tables = self.data.tables
        if noun not in tables:
            return {}
        source = self.data.find_source(noun)
        found = source.read_rows(tables[OWNER_TABLES[noun]], tables[noun], ids[0], ids[-1])
        if source.has_bad_text:
            # index of the column with the row's own id; in owned tables column 0 is the owner's id
            own = 0 if OWNER_TABLES[noun] == noun else 1
            odd = (values.show_id(row[own]) for row in found if values.has_replacement(row))
            self.not_utf8 += [ReportEntry(tables[noun].name, row_id, values.NOT_UTF8, taken=True) for row_id in odd]
        return {key: list(rows) for key, rows in groupby(found, itemgetter(0))}
