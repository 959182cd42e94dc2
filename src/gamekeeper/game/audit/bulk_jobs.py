"""Bulk jobs: one act for many players, which the server works through one player at a time.

The players of a new job are found by name and id before the job's transaction, in parts.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from gamekeeper.game.audit import refusals
from gamekeeper.game.audit.changes import BulkJobChanged
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Step, Unlogged
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.undo import find_undone
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.access import api_keys
from gamekeeper.store.accounts import users
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.audit.bulk_jobs import (
    CANCELLED,
    DONE,
    FINISHED,
    FORMER,
    HELD,
    NOT_FOUND,
    PAUSED,
    PREVIEWED,
    REFUSED,
    RUNNING,
    WAITING,
    BulkJob,
    BulkTarget,
    GivenName,
    HeldTarget,
    NewJob,
    NewTarget,
    TargetResult,
)
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Writing

# players of one job: as many as an operator wants to look through, and their ids fit into a body of half a megabyte
MOST_PLAYERS = 10_000
LOOKUP_BATCH = 250  # names that one statement looks up: takes a few milliseconds


class FoundTargets(NamedTuple):
    targets: list[NewTarget]  # in the order given, each player and each unknown text once
    repeated: int  # number of players and texts that were given again

    @property
    def players(self) -> int:
        return sum(each.player_id is not None for each in self.targets)


async def find_targets(tx: Reading, rest: Pause, given: Sequence[str], *, online: bool) -> FoundTargets:
    """Find the players with these names and ids. `online`: also all players who are online now."""
    texts = [*given, *(await bulk_jobs.read_online(tx, MOST_PLAYERS + 1) if online else ())]
    targets, seen, repeated = list[NewTarget](), set[str](), 0
    for first in range(0, len(texts), LOOKUP_BATCH):
        some = texts[first : first + LOOKUP_BATCH]
        found = await _find_players(tx, some)
        for place, text in enumerate(some):
            player_id = found.get(place)
            key = player_id or text
            if key in seen:
                repeated += 1
                continue
            seen.add(key)
            targets.append(NewTarget(WAITING, player_id, None) if player_id else NewTarget(NOT_FOUND, None, text[:255]))
        await rest()
    return FoundTargets(targets, repeated)


async def _find_players(tx: Reading, texts: Sequence[str]) -> dict[int, str]:
    """Find players by name or id; return the id of each by the place of its text."""
    ids = {place: guid for place, text in enumerate(texts) if (guid := lookup.parse_guid(text))}
    known = await bulk_jobs.find_players_by_id(tx, set(ids.values())) if ids else set[str]()
    found = {place: guid for place, guid in ids.items() if guid in known}
    names = [
        GivenName(place, text, lookup.fold(text))
        for place, text in enumerate(texts)
        if place not in ids and lookup.is_nameable(text)
    ]
    for match in sorted(await bulk_jobs.find_players_by_name(tx, names), key=_sort_match) if names else ():
        found.setdefault(match.place, match.player_id)
    return found


def _sort_match(match: bulk_jobs.NameMatch) -> tuple[int, bool, str]:
    """Return the order in which the players of a name are tried: the exact spelling first."""
    return match.place, not match.is_exact, match.fold


PIECE_TARGETS = 250  # targets that one statement of a long list reads
UNDO = "undo_change"  # act of a job that undoes another one


class JobDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a job does to each player; which fields it has depends on the act."""

    item_id: str | None = None
    quantity: int | None = None
    bank_overflow: bool = False
    variable_id: str | None = None
    value: int | bool | None = None
    days: int | None = None
    minutes: int | None = None
    until: int | None = None  # end of a ban or mute in milliseconds, instead of a duration


class Creator(NamedTuple):
    """The account that creates a job."""

    id: str
    name: str
    token_id: str
    most_previews: int  # number of its jobs that may wait for their start


class Plan(NamedTuple):
    """A job that is to be created."""

    act: str
    details: JobDetails
    found: FoundTargets
    reason: str | None
    creator: Creator


class JobPage(NamedTuple):
    jobs: list[BulkJob]
    next: tuple[int, str] | None


class TargetPage(NamedTuple):
    targets: list[BulkTarget]
    next: int | None  # number of the last target, if there are more
    undone: Mapping[int, int] = {}  # number of an undone change → number of the change that undid it


class JobTaken(Exception):
    """Another instance is working on the job, or it does not run any more."""


class CreatorLostAccess(Exception):
    """The account that created the job, or its API key, can no longer make its changes."""


def read_details(job: BulkJob) -> JobDetails:
    return msgspec.json.decode(job.details, type=JobDetails)


async def create(tx: Reading, plan: Plan) -> Decision[BulkJob]:
    """Store a job; nothing is changed before it is started."""
    (targets, repeated), players, creator = plan.found, plan.found.players, plan.creator
    if not players:
        raise refusals.NoPlayers
    if len(targets) > MOST_PLAYERS:
        raise refusals.TooManyPlayers(most=MOST_PLAYERS)
    await _require_few_previews(tx, creator.id, creator.most_previews)
    now, until = await clock.now(tx), plan.details.until
    if until is not None and until <= now:
        raise BadField(field="Until", problem="must be in the future")
    details = msgspec.json.encode(plan.details).decode()
    new = NewJob(
        *(lookup.new_guid(), plan.act, details, plan.reason, creator.id, creator.token_id, None),
        *(players, len(targets) - players, repeated, now),
    )

    async def insert(tx: Writing) -> None:
        bulk_jobs.insert(tx, new, targets)

    return Decision([Unlogged(insert)], _make_new(new, creator.name), subject=(None, creator.id))


async def undo(tx: Reading, job_id: str, reason: str | None, creator: Creator) -> Decision[BulkJob]:
    """Create a job that undoes the changes of another one that are not undone yet."""
    await _require_few_previews(tx, creator.id, creator.most_previews)
    job = await lock(tx, job_id)
    if job.state == RUNNING:
        raise refusals.JobRunning
    made = await bulk_jobs.read_changes(tx, job_id)
    if not made:
        raise refusals.NothingToUndo
    # By the audit log: an instance of an older version, which runs during an upgrade, does not mark what it undoes.
    undone = await find_undone(tx, made)
    numbers = [seq for seq in made if seq not in undone]
    if not numbers:
        raise refusals.JobUndone
    new = NewJob(
        *(lookup.new_guid(), UNDO, "{}", reason, creator.id, creator.token_id, job_id),
        *(len(numbers), 0, 0, await clock.now(tx)),
    )

    async def insert(tx: Writing) -> None:
        bulk_jobs.insert_undos(tx, new, numbers)

    return Decision([Unlogged(insert)], _make_new(new, creator.name), subject=(None, creator.id))


class Terms(NamedTuple):
    """What the start of a job depends on, besides the job itself."""

    account_id: str
    token_id: str
    permission: str | None  # permission of each change
    details: dict[str, object]  # as the API names them
    approved: bool  # a second person approves the start


async def start(tx: Reading, job_id: str, terms: Terms) -> Decision[BulkJob]:
    """Start a job, or resume a paused one."""
    job = await lock(tx, job_id)
    _require_not_ended(job)
    if job.creator_id != terms.account_id:
        raise refusals.NotYourJob
    if job.token_id != terms.token_id and await api_keys.is_any_key(tx, job.token_id, terms.token_id):
        raise refusals.JobOfAnotherKey
    if job.state == RUNNING:
        return Decision([], job)
    details = read_details(job)
    gift = None
    if job.act == "give_item" and details.item_id:
        gift = details.item_id, (details.quantity or 0) * job.players
    started_at, approved = job.started_at or await clock.now(tx), job.approved or terms.approved
    after = job._replace(state=RUNNING, problem=None, started_at=started_at, approved=approved)
    return Decision([BulkJobChanged(job, after, terms.details, terms.permission, gift)], after)


async def pause(tx: Reading, job_id: str, details: dict[str, object]) -> Decision[BulkJob]:
    job = await lock(tx, job_id)
    _require_not_ended(job)
    if job.state == PREVIEWED:
        raise refusals.JobNotStarted
    if job.state == PAUSED:
        return Decision([], job)
    after = job._replace(state=PAUSED)
    return Decision([BulkJobChanged(job, after, details, None)], after)


async def cancel(tx: Reading, job_id: str, details: dict[str, object]) -> Decision[BulkJob]:
    """Cancel a job. What it has changed stays, and can be undone."""
    job = await lock(tx, job_id)
    if job.state == CANCELLED:
        return Decision([], job)
    _require_not_ended(job)
    after = job._replace(state=CANCELLED, problem=None, ended_at=await clock.now(tx))
    return Decision([BulkJobChanged(job, after, details, None)], after)


async def find(tx: Reading, job_id: str) -> BulkJob:
    return _require(job_id, await bulk_jobs.find(tx, job_id))


async def lock(tx: Reading, job_id: str) -> BulkJob:
    return _require(job_id, await bulk_jobs.lock(tx, job_id))


async def load_page(tx: Reading, before: tuple[int, str], limit: int) -> JobPage:
    found = await bulk_jobs.read_page(tx, before, limit + 1)
    shown = found[:limit]
    return JobPage(shown, (shown[-1].created_at, shown[-1].id) if len(found) > limit else None)


async def load_targets(tx: Reading, job_id: str, after: int, limit: int, state: str | None) -> TargetPage:
    """Load some targets of a job with one statement. For a long list, use `load_target_pages`."""
    await find(tx, job_id)
    return await _read_targets(tx, job_id, after, limit, state)


async def load_target_pages(
    tx: Reading, job_id: str, after: int, limit: int, state: str | None
) -> AsyncGenerator[TargetPage]:
    """Yield targets of a job in parts of a few milliseconds each; `next` of the last part is the cursor."""
    await find(tx, job_id)
    left = limit
    while True:
        page = await _read_targets(tx, job_id, after, min(left, PIECE_TARGETS), state)
        made = {each.seq for each in page.targets if each.seq is not None}
        yield page._replace(undone=await find_undone(tx, made) if made else {})
        left -= len(page.targets)
        if page.next is None or not left:
            return
        after = page.next


async def _read_targets(tx: Reading, job_id: str, after: int, limit: int, state: str | None) -> TargetPage:
    found = await bulk_jobs.read_targets(tx, job_id, after, limit + 1, state)
    shown = found[:limit]
    return TargetPage(shown, shown[-1].number if len(found) > limit else None)


def make_step(job: BulkJob, number: int, check_creator: Callable[[Reading], Coroutine[Any, Any, None]]) -> Step:
    """Make the part of a target's transaction that belongs to the job."""

    async def begin(tx: Writing) -> None:
        await _claim(tx, job.id, number)
        await check_creator(tx)

    record = partial(record_result, job_id=job.id, number=number)
    return Step(begin, record, is_approved=job.approved and job.act != UNDO)


def record_result(tx: Writing, numbers: Sequence[int], approval_id: str | None, *, job_id: str, number: int) -> None:
    """Store the result of a target: the numbers of its changes, or the approval for which they wait."""
    result = TargetResult(HELD if approval_id else DONE, numbers[0] if numbers else None, approval_id)
    bulk_jobs.set_target(tx, job_id, number, result)


def make_approved_step(held: HeldTarget) -> Step:
    """Make the part of an approved change's transaction that belongs to the job which asked for it."""

    async def begin(_: Writing) -> None:
        """Nothing to check: the job may have ended."""

    def record(tx: Writing, numbers: Sequence[int], _: str | None) -> None:
        bulk_jobs.settle(tx, held, TargetResult(DONE, numbers[0] if numbers else None))

    return Step(begin, record, is_approved=True)


async def refuse_target(store: Store, job_id: str, number: int, code: str, problem: str) -> None:
    """Store that the change of a target was refused."""

    async def write(tx: Writing) -> None:
        await _claim(tx, job_id, number)
        bulk_jobs.set_target(tx, job_id, number, TargetResult(REFUSED, code=code, problem=problem))

    await store.write(write)


async def stop_running(store: Store, job_id: str, problem: str | None) -> None:
    """Pause a running job because of a problem; without one, finish it if no target waits."""

    async def write(tx: Writing) -> None:
        state = await bulk_jobs.claim(tx, job_id)
        if state not in {RUNNING, FORMER}:
            raise JobTaken
        if state == FORMER:
            bulk_jobs.pause(tx, job_id, refusals.JobOfFormerEpoch().message)
        elif problem is not None:
            bulk_jobs.pause(tx, job_id, problem)
        elif not await bulk_jobs.read_waiting(tx, job_id, 1):
            bulk_jobs.stop(tx, job_id, FINISHED, await clock.now(tx))

    await store.write(write)


async def _claim(tx: Writing, job_id: str, number: int) -> None:
    """Lock the job; require that it runs, and that nobody has worked on the target since it was read."""
    state = await bulk_jobs.claim(tx, job_id)
    if state == FORMER:
        raise refusals.JobOfFormerEpoch
    if state != RUNNING:
        raise JobTaken
    if await bulk_jobs.find_target_state(tx, job_id, number) != WAITING:
        raise JobTaken


async def _require_few_previews(tx: Reading, creator_id: str, most: int) -> None:
    """Lock the account, so that it creates one job at a time, and require that few of its jobs wait for their start."""
    await users.lock(tx, creator_id)
    if await bulk_jobs.count_previewed(tx, creator_id, most) >= most:
        raise refusals.TooManyPreviewedJobs(most=most)


def _require_not_ended(job: BulkJob) -> None:
    if job.state in {FINISHED, CANCELLED}:
        raise refusals.JobEnded(state=job.state)


def _require(job_id: str, job: BulkJob | None) -> BulkJob:
    if job is None:
        raise refusals.NoSuchBulkJob(id=job_id)
    return job


def _make_new(new: NewJob, creator: str) -> BulkJob:
    """Return a new job, as it will be read."""
    return BulkJob(
        *(new.id, PREVIEWED, new.act, new.details, new.reason, new.creator_id, creator, new.token_id, new.undoes),
        approved=False,
        problem=None,
        players=new.players,
        done=0,
        refused=0,
        held=0,
        not_found=new.not_found,
        repeated=new.repeated,
        created_at=new.created_at,
        started_at=None,
        ended_at=None,
    )
