"""State of one import, and which ids, names, email addresses and bags the target database has or had.

Each batch is one transaction, which also stores the position reached. An import can be killed at any time; the next run
resumes at the stored position.
"""

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import apsw

from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.world.changes import CataloguePut
from gamekeeper.game.world.loads import save_progress
from gamekeeper.ground.settings import Settings
from gamekeeper.intersect import values
from gamekeeper.intersect.data import OWNER_TABLES, CountsByTable, ReportEntry, ReportFile, SourceData
from gamekeeper.intersect.sources import BadSource, Row
from gamekeeper.store.accounts import users
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items, player_texts, players, presence
from gamekeeper.store.world import catalogue, guild_variables, guilds, imports, server_variables
from gamekeeper.store.world.catalogue import CatalogueEntry
from gamekeeper.store.world.imports import DONE_STAGE, ImportState


class KeySet:
    def __init__(self) -> None:
        self._db = apsw.Connection("")  # "" opens a temporary SQLite database
        self._db.execute("CREATE TABLE seen (kind TEXT, key TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID")
        self._db.execute("BEGIN")

    def add(self, kind: str, keys: Iterable[str]) -> None:
        self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", ((kind, key) for key in keys))

    def find_known(self, kind: str, keys: Iterable[str]) -> set[str]:
        text = "SELECT seen.key FROM json_each(?) AS asked JOIN seen ON seen.kind = ? AND seen.key = asked.value"
        return {row[0] for row in self._db.execute(text, (json.dumps(list(keys)), kind))}

    def close(self) -> None:
        self._db.close()


USER, USER_NAME, EMAIL, PLAYER, PLAYER_NAME, BAG = "user", "user name", "email", "player", "player name", "bag"
DELETED_USER, DELETED_PLAYER = "deleted user", "deleted player"
GUILD, GUILD_NAME, LEFTOVER = "guild", "guild name", "leftover"
ACTIVITY, TRADE = "activity", "trade"
SERVER_VARIABLE, GUILD_VARIABLE = "server variable", "guild variable"
_FIND: Mapping[str, Callable[[Reading, Iterable[str]], Coroutine[Any, Any, set[str]]]] = {
    USER: users.find_known_ids,
    USER_NAME: users.find_known_folds,
    EMAIL: users.find_known_emails,
    PLAYER: presence.find_known_players,
    PLAYER_NAME: players.find_known_folds,
    BAG: items.find_known_bags,
    DELETED_USER: ledger.find_deleted_users,
    DELETED_PLAYER: ledger.find_deleted_players,
    GUILD: guilds.find_known_ids,
    GUILD_NAME: guilds.find_known_folds,
    ACTIVITY: imports.find_known_activity,
    TRADE: imports.find_known_trades,
    SERVER_VARIABLE: server_variables.find_known_ids,
    GUILD_VARIABLE: guild_variables.find_known_ids,
}
COMPLETED = "it existed without its further fields: they were added"


class ExistingKeys:
    async def find(self, tx: Reading | None, kind: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        return await _FIND[kind](tx, asked) if tx and asked else set()

    async def find_entries(self, tx: Reading | None, kind: str, ids: Iterable[str]) -> dict[str, CatalogueEntry]:
        """Return the entries that the catalogue has, by id, and lock this kind until the transaction ends."""
        if tx is None:
            return {}
        await catalogue.lock_kind(tx, kind)
        found = await catalogue.find_by_ids(tx, kind, ids)
        return {entry.id: entry for entry in await catalogue.add_details(tx, kind, [*found.values()])}

    async def find_leftovers(self, tx: Reading | None, owners: str, ids: Iterable[str]) -> set[tuple[str, str]]:
        """Return owner and kind of the leftovers that these accounts, players or guilds have."""
        return await imports.find_known_leftovers(tx, owners, ids) if tx else set()

    def note(self, kind: str, keys: Iterable[str]) -> None:
        """Do nothing with the imported ids and names: after the commit they are in the database."""


class DryRunKeys(ExistingKeys):
    """Existing ids and names, in a dry run: also those that a real import would have added by now."""

    def __init__(self) -> None:
        self._seen = KeySet()

    async def find(self, tx: Reading | None, kind: str, keys: Iterable[str]) -> set[str]:
        asked = list(keys)
        return await super().find(tx, kind, asked) | self._seen.find_known(kind, asked)

    def note(self, kind: str, keys: Iterable[str]) -> None:
        self._seen.add(kind, keys)


def complete_entries(
    kind: str, entries: Mapping[str, CatalogueEntry], existing: Mapping[str, CatalogueEntry]
) -> tuple[list[CataloguePut], list[str]]:
    """Plan the new entries of the catalogue, and the details of stored entries that have none.

    Return the changes, and the ids of the stored entries that get details.
    """
    bare = [each for own_id, each in existing.items() if each.details is None and entries[own_id].details is not None]
    completed = [each._replace(details=entries[each.id].details) for each in bare]
    new = [each for own_id, each in entries.items() if own_id not in existing]
    changes = [CataloguePut(kind, bare, [*completed, *new])] if completed or new else []
    return changes, [each.id for each in bare]


class OwnedKeys(NamedTuple):
    """What existing players have of the data that an import adds to them."""

    members: set[str]  # players who are in a guild
    texts: set[tuple[str, str]]  # player and variable of texts and decimals


async def find_owned(tx: Reading | None, player_ids: set[str]) -> OwnedKeys:
    if tx is None or not player_ids:
        return OwnedKeys(set(), set())
    texts = await player_texts.read_between(tx, min(player_ids), max(player_ids))
    return OwnedKeys(
        set(await guilds.read_memberships(tx, player_ids)), {(each.player_id, each.variable_id) for each in texts}
    )


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
        state = await imports.find_import(self.keeper.store, self.source) if self.keeper else None
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
