"""State of one import. Each batch is one transaction, which also stores the position reached.

An import can be killed at any time; the next run resumes at the stored position.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from gamekeeper.game.bulk_loads import save_progress
from gamekeeper.game.change import Change, Unlogged
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import values
from gamekeeper.intersect.data import OWNER_TABLES, SourceData
from gamekeeper.intersect.existing import ExistingKeys
from gamekeeper.intersect.key_set import KeySet
from gamekeeper.intersect.report import CountsByTable, ReportEntry, ReportFile
from gamekeeper.intersect.schemas import BadSource
from gamekeeper.intersect.source import Row
from gamekeeper.settings import Settings
from gamekeeper.store import imports
from gamekeeper.store.engine import Reading
from gamekeeper.store.imports import DONE_STAGE, ImportState

BATCH_SIZE = 2_500  # accounts or players that an import writes per transaction
IMPORT_INTENT = Intent(request_id="import-intersect")

# function that shows an import's progress; arguments: name of the table, rows done, rows in total
OnProgress = Callable[[str, int, int | None], None]


class ImportBatch(NamedTuple):
    """Changes, counts and report entries of one batch of an import."""

    changes: Sequence[Change | Unlogged]
    counts: CountsByTable
    entries: Iterable[ReportEntry]  # entries for the report; a generator may update `counts` as they are written


@dataclass(slots=True)
class ImportRun:
    data: SourceData
    settings: Settings
    keeper: Keeper | None  # the target database; None: a dry run without a database
    existing: ExistingKeys
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
    # bags of players that existed before the import: these bags are not reported as unused
    bags_counted: KeySet = field(default_factory=KeySet)
    not_utf8: list[ReportEntry] = field(
        default_factory=list[ReportEntry]
    )  # report entries for rows with invalid UTF-8, imported with the batch that is being made

    async def resume(self) -> bool:
        """Load the position at which an earlier run of the import stopped; False if that run completed the import."""
        self.source, self.report_path = self.data.fingerprint, values.clean_text(str(self.report_file.path))
        state = await imports.find(self.keeper.store, self.source) if self.keeper else None
        if state is None:
            self.counts = self.data.count_rows()
            return True
        self.resumed = True
        self.stage, self.last_id, self.counts = state.stage, state.last, CountsByTable.from_json(state.counts)
        self.report_bytes = state.listed
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

    async def commit_stage(self, turn: Callable[[Reading | None], Awaitable[ImportBatch]]) -> None:
        """Apply the only batch of a stage, and store the next stage: a resumed import must not count its rows again."""
        self.stage = self.next_stage
        await self.commit_batch(ZERO_GUID, turn)

    async def commit_batch(self, last: str, turn: Callable[[Reading | None], Awaitable[ImportBatch]]) -> None:
        """Apply one batch of an import in one transaction. It may be retried; the last attempt counts."""
        after = self.counts, self.report_bytes

        async def decide(tx: Reading | None) -> Decision[None]:
            nonlocal after
            turned = await turn(tx)
            listed = self.report_file.write(self.report_bytes, chain(self.not_utf8, turned.entries))
            counts = self.counts.add(turned.counts)
            after = counts, listed
            state = ImportState(self.source, self.stage, last, self.report_path, listed, counts.to_json())
            return Decision([*turned.changes, save_progress(state)], None)

        if self.keeper and not self.dry_run:
            await self.keeper.changes.apply(IMPORT_INTENT, decide, lambda _: b"")
        else:
            await decide(self.keeper.store if self.keeper else None)
        self.counts, self.report_bytes = after
        self.last_id = last
        self.not_utf8.clear()

    async def process_batches(self, noun: str, work: Callable[[list[str]], Awaitable[None]]) -> None:
        """Call `work` with batches of an imported table's ids, from the stored position on."""
        table = self.data.tables[noun]
        total, done = self.counts[table.name].rows, 0
        while ids := self.data.find_source(noun).read_ids(table, self.last_id, BATCH_SIZE):
            await work(ids)
            done += len(ids)
            self.on_progress(table.name, done, total)

    def read_rows(self, noun: str, ids: Sequence[str]) -> dict[str, list[Row]]:
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
