"""The course of an import: in batches, each one transaction that also says how far it has come.

It can be killed at any time, and the next run goes on where this one stopped.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from gamekeeper.game.bulk_loads import save_progress
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.effects import Change, Unlogged
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import values
from gamekeeper.intersect.data import OWNERS, Data
from gamekeeper.intersect.eras import BadSource
from gamekeeper.intersect.report import Counts, File, Line
from gamekeeper.intersect.seen import Seen
from gamekeeper.intersect.source import Row
from gamekeeper.intersect.there import There
from gamekeeper.settings import Settings
from gamekeeper.store import imports
from gamekeeper.store.engine import Reading
from gamekeeper.store.imports import DONE_STAGE, ImportState

BATCH = 2_500  # accounts or characters in one transaction
BY_IMPORT = Intent(request_id="import-intersect")

Moved = Callable[[str, int, int | None], None]  # what is gone through, how many of it are done, of how many


class Turned(NamedTuple):
    """What a batch comes to."""

    changes: Sequence[Change | Unlogged]
    counts: Counts
    lines: Iterable[Line]  # counted when they are written, at the latest


@dataclass(slots=True)
class Course:
    data: Data
    settings: Settings
    keeper: Keeper | None  # None: a dry run, and there is no database
    there: There
    file: File
    moved: Moved
    dry: bool
    source: str = ""
    report: str = ""  # the file, as the database knows it
    stage: str = ""
    last: str = ZERO_GUID
    listed: int = 0  # bytes of the file
    counts: Counts = field(default_factory=Counts)
    began: bool = False  # in an earlier run
    worked: bool = True  # whether there was anything to do
    walked: Seen = field(default_factory=Seen)  # bags of characters that were there before
    replaced: list[Line] = field(default_factory=list[Line])  # rows of the next step with text that is not UTF-8

    async def resume(self) -> bool:
        """Takes up what another run left; False: it left nothing to do."""
        self.source, self.report = self.data.fingerprint, values.text(str(self.file.path))
        state = await imports.find(self.keeper.store, self.source) if self.keeper else None
        if state is None:
            self.counts = self.data.counts()
            return True
        self.began = True
        self.stage, self.last, self.counts = state.stage, state.last, Counts.read(state.counts)
        self.listed = state.listed
        if state.stage != DONE_STAGE:
            self._require_report(state.report)
        self.report = state.report
        return state.stage != DONE_STAGE

    def _require_report(self, begun: str) -> None:
        """What was listed in the earlier run is not lost."""
        if self.report != begun:
            raise BadSource(f"This import was begun with another report, which goes on. Give --report {begun}")
        if self.file.size() < self.listed:
            raise BadSource(
                f"{begun} is gone or was cut since this import was begun: it has the rows that were listed by then. "
                "Bring it back, or import into an empty database."
            )

    def come_to(self, stage: str) -> None:
        if stage != self.stage:
            self.stage, self.last = stage, ZERO_GUID

    async def step(self, last: str, turn: Callable[[Reading | None], Awaitable[Turned]]) -> None:
        """One transaction. It may be tried more than once; what the last try came to holds."""
        after = self.counts, self.listed

        async def decide(tx: Reading | None) -> Decision[None]:
            nonlocal after
            turned = await turn(tx)
            listed = self.file.write(self.listed, chain(self.replaced, turned.lines))
            counts = self.counts.plus(turned.counts)
            after = counts, listed
            state = ImportState(self.source, self.stage, last, self.report, listed, counts.json())
            return Decision([*turned.changes, save_progress(state)], None)

        if self.keeper and not self.dry:
            await self.keeper.changes.apply(BY_IMPORT, decide, lambda _: b"")
        else:
            await decide(self.keeper.store if self.keeper else None)
        self.counts, self.listed = after
        self.last = last
        self.replaced.clear()

    async def batches(self, noun: str, work: Callable[[list[str]], Awaitable[None]]) -> None:
        """All of a table's ids, from where it stopped."""
        table = self.data.tables[noun]
        total, done = self.counts[table.name].rows, 0
        while ids := self.data.players.ids(table, self.last, BATCH):
            await work(ids)
            done += len(ids)
            self.moved(table.name, done, total)

    def rows(self, noun: str, ids: Sequence[str]) -> dict[str, list[Row]]:
        """What those with these ids, which follow each other, have in a table."""
        tables = self.data.tables
        if noun not in tables:
            return {}
        found = self.data.players.rows(tables[OWNERS[noun]], tables[noun], ids[0], ids[-1])
        if self.data.players.replaces:
            own = 0 if OWNERS[noun] == noun else 1  # where its id stands
            odd = (values.shown(row[own]) for row in found if values.replaced(row))
            self.replaced += [Line(tables[noun].name, row_id, values.NOT_UTF8, taken=True) for row_id in odd]
        return {key: list(rows) for key, rows in groupby(found, itemgetter(0))}
