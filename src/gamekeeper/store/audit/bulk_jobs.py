"""Bulk jobs, their targets, and the results."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import AFTER_CLASHES, Statements, as_column, as_table

SQL = Statements(__file__)
PREVIEWED, RUNNING, PAUSED, FINISHED, CANCELLED = "previewed", "running", "paused", "finished", "cancelled"
FORMER = "former"  # what `claim` returns for a running job that was started in a former epoch
WAITING, DONE, REFUSED, HELD, NOT_FOUND = "waiting", "done", "refused", "held", "not_found"


class NewJob(NamedTuple):
    id: str
    act: str
    details: str  # JSON
    reason: str | None
    creator_id: str
    token_id: str | None
    undoes: str | None
    players: int
    not_found: int
    repeated: int
    created_at: int


class BulkJob(NamedTuple):
    id: str
    state: str
    act: str
    details: str
    reason: str | None
    creator_id: str
    creator: str | None  # its name; None: the account was deleted
    token_id: str | None
    undoes: str | None
    approved: bool
    problem: str | None
    players: int
    done: int
    refused: int
    held: int
    not_found: int
    repeated: int
    created_at: int
    started_at: int | None
    ended_at: int | None

    @property
    def remaining(self) -> int:
        return self.players - self.done - self.refused - self.held


class NewTarget(NamedTuple):
    state: str
    player_id: str | None
    given: str | None


class WaitingTarget(NamedTuple):
    number: int
    player_id: str
    undoes: int | None


class BulkTarget(NamedTuple):
    number: int
    state: str
    player_id: str | None
    player: str | None
    given: str | None
    seq: int | None
    undoes: int | None
    approval_id: str | None
    code: str | None
    problem: str | None


class TargetResult(NamedTuple):
    state: str
    seq: int | None = None
    approval_id: str | None = None
    code: str | None = None
    problem: str | None = None


class HeldTarget(NamedTuple):
    """A target whose change waits for an approval of its own."""

    job_id: str
    number: int
    approval_id: str


class JobUndos(NamedTuple):
    """The undone changes of a job."""

    changes: int = 0  # number of changes that the job made
    undone: int = 0  # number of those that are undone, by another job or one by one
    at: int | None = None  # time of the last undo
    by: str | None = None  # job of the last undo; None: it was a single one

    @property
    def open(self) -> int:
        """The number of changes that can still be undone."""
        return self.changes - self.undone


class GivenName(NamedTuple):
    place: int
    name: str
    fold: str


class NameMatch(NamedTuple):
    place: int
    player_id: str
    fold: str
    is_exact: bool


def insert(tx: Writing, new: NewJob, targets: Iterable[NewTarget]) -> None:
    tx.defer(SQL.insert, *new)
    rows = (
        {"number": number, "state": each.state, "player": each.player_id, "given": each.given}
        for number, each in enumerate(targets, 1)
    )
    tx.defer(SQL.insert_targets, new.id, as_table(rows))


def insert_undos(tx: Writing, new: NewJob, numbers: Iterable[int]) -> None:
    """Insert a job that undoes these changes of another one, its `undoes`."""
    tx.defer(SQL.insert, *new)
    tx.defer(SQL.insert_undos, new.id, new.undoes, as_column("seq", numbers))


async def read_changes(tx: Reading, job_id: str) -> list[int]:
    """Read the number of the change of each player that a job has changed."""
    return [row[0] for row in await tx.all(SQL.changes, job_id)]


def mark_undone(tx: Writing, seq: int, by: str | None) -> None:
    """Store that a change is undone, if a job made it. `by`: the job that undoes it; None: it is a single undo.

    If the change is an undo itself, the change that it undid is no longer undone, and so on down its chain.
    """
    for sign in (1, -1):
        tx.defer(SQL.mark_undone, seq, by, sign)


def backdate_undos(tx: Writing, job_id: str, at: int) -> None:
    """Give the undos of a job a time of the past, for the demo."""
    tx.defer(SQL.backdate_undos, job_id, at)


async def count_undone(tx: Reading, job_id: str) -> JobUndos:
    found = await tx.row(JobUndos, SQL.count_undone, job_id) or JobUndos()
    return found if found.at is None else found._replace(by=await tx.value(SQL.undone_by, job_id, found.at))


async def is_undone(tx: Reading, job_id: str) -> bool:
    """Tell whether a job has made changes, and all of them are undone."""
    return bool(await tx.value(SQL.is_undone, job_id))


async def find_players_by_name(tx: Reading, names: Iterable[GivenName]) -> list[NameMatch]:
    """Find the players with these names, in any case: up to two for one name, of which the exact one is meant."""
    table = as_table(
        {"at": each.place, "name": each.name, "fold": each.fold, "end": each.fold + AFTER_CLASHES} for each in names
    )
    found = await tx.all(SQL.players_by_name, table)
    return [NameMatch(place, player_id, fold, bool(exact)) for place, player_id, fold, exact in found]


async def find_players_by_id(tx: Reading, ids: Iterable[str]) -> set[str]:
    return {row[0] for row in await tx.all(SQL.players_by_id, as_column("id", ids))}


async def read_online(tx: Reading, most: int) -> list[str]:
    return [row[0] for row in await tx.all(SQL.online, most)]


async def find(tx: Reading, job_id: str) -> BulkJob | None:
    return await tx.row(BulkJob, SQL.find, job_id)


async def lock(tx: Reading, job_id: str) -> BulkJob | None:
    """Find a job, and lock it until the transaction ends."""
    return await tx.row(BulkJob, SQL.lock, job_id)


async def read_page(tx: Reading, before: tuple[int, str], limit: int) -> list[BulkJob]:
    """Read jobs before the cursor (time, id), newest first."""
    return await tx.rows(BulkJob, SQL.page, *before, limit)


async def read_running(tx: Reading, limit: int) -> list[BulkJob]:
    return await tx.rows(BulkJob, SQL.running, limit)


async def claim(tx: Reading, job_id: str) -> str | None:
    """Lock a job until the transaction ends, and return its state; None: another transaction has locked it."""
    return await tx.value(SQL.claim, job_id)


async def find_target_state(tx: Reading, job_id: str, number: int) -> str | None:
    return await tx.value(SQL.target_state, job_id, number)


async def read_waiting(tx: Reading, job_id: str, limit: int) -> list[WaitingTarget]:
    return await tx.rows(WaitingTarget, SQL.waiting, job_id, limit)


async def read_targets(tx: Reading, job_id: str, after: int, limit: int, state: str | None = None) -> list[BulkTarget]:
    """Read targets after a number: of one state, or all."""
    if state is None:
        return await tx.rows(BulkTarget, SQL.targets, job_id, after, limit)
    return await tx.rows(BulkTarget, SQL.targets_in_state, job_id, after, limit, state)


def set_target(tx: Writing, job_id: str, number: int, result: TargetResult) -> None:
    """Store the result of a target, and count it."""
    tx.defer(SQL.set_target, job_id, number, *result)
    tx.defer(SQL.add_counts, job_id, *(int(result.state == each) for each in (DONE, REFUSED, HELD)))


async def find_held(tx: Reading, approval_ids: Iterable[str]) -> list[HeldTarget]:
    """Find the targets that wait for these approvals; most approvals do not belong to a job."""
    return await tx.rows(HeldTarget, SQL.held, as_column("id", approval_ids))


def settle(tx: Writing, held: HeldTarget, result: TargetResult) -> None:
    """Store the result of a target that waited for an approval, and count it."""
    tx.defer(SQL.set_target, held.job_id, held.number, *result._replace(approval_id=held.approval_id))
    tx.defer(SQL.add_settled, held.job_id, *(int(result.state == each) for each in (DONE, REFUSED)))


def refuse_held(tx: Writing, held: Sequence[HeldTarget], code: str, problem: str) -> None:
    """Store that the changes of some targets were not approved.

    The targets of each job are counted first: PostgreSQL updates a row once per flush.
    """
    targets = as_table({"job": each.job_id, "number": each.number} for each in held)
    tx.defer(SQL.refuse_held, targets, code, problem)
    for job_id, refused in Counter(each.job_id for each in held).items():
        tx.defer(SQL.add_settled, job_id, 0, refused)


def start(tx: Writing, job_id: str, started_at: int, *, approved: bool) -> None:
    tx.defer(SQL.start, job_id, started_at, approved)


def pause(tx: Writing, job_id: str, problem: str | None = None) -> None:
    tx.defer(SQL.pause, job_id, problem)


def pause_former(tx: Writing, problem: str) -> None:
    """Pause the running jobs that were started in a former epoch."""
    tx.defer(SQL.pause_former, problem)


def stop(tx: Writing, job_id: str, state: str, ended_at: int) -> None:
    """Store that a job is finished or cancelled."""
    tx.defer(SQL.stop, job_id, state, ended_at)


def erase(tx: Writing, player_ids: Iterable[str], user_id: str) -> None:
    """Remove personal data of an erased account and its players."""
    tx.defer(SQL.erase_targets, as_column("id", player_ids))
    tx.defer(SQL.erase_jobs, user_id)


async def count_previewed(tx: Reading, creator_id: str, most: int) -> int:
    """Count the jobs of an account that wait for their start, up to `most`."""
    return await tx.value(SQL.count_previewed, creator_id, most) or 0


def delete_targets(tx: Writing, job_id: str) -> None:
    tx.defer(SQL.delete_targets, job_id)


async def delete_oldest(tx: Writing, before_ms: int, preview_before_ms: int) -> int:
    """Delete the oldest job that was created before its time, with its targets; return the number of deleted jobs.

    `preview_before_ms`: time for jobs that were never started. They stay while an approval of their start waits.
    """
    row = await _find_oldest_preview(tx, preview_before_ms) or await tx.one(SQL.oldest, before_ms)
    if row is None:
        return 0
    tx.defer(SQL.delete_targets, row[0])
    tx.defer(SQL.delete, row[0])
    return 1


async def _find_oldest_preview(tx: Reading, before_ms: int) -> Row | None:
    """Find and lock a job. The second statement sees an approval that waited for the same lock."""
    found = await tx.one(SQL.oldest_preview, before_ms)
    return found if found and found == await tx.one(SQL.oldest_preview, before_ms) else None


PERSON = (
    PersonRows(120, "bulk_jobs", SQL.of_person),
    PersonRows(130, "bulk_targets", SQL.targets_of_person),
)
