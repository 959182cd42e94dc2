"""Bulk jobs: one act for many players, which the server works through. `bulk_runner.py` does it."""

import time
from collections.abc import Sequence
from functools import partial
from operator import attrgetter

import msgspec
from msgspec import UNSET

from gamekeeper.game.access.refusals import PermissionMissing
from gamekeeper.game.audit import bulk_jobs
from gamekeeper.game.audit.approvals import PreviewedChange, encode_preview
from gamekeeper.game.audit.bulk_jobs import BulkTarget, BulkTargets, Creator, FoundTargets, Plan, Terms
from gamekeeper.game.audit.changes import read_details
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.audit.refusals import (
    FilterTooWide,
    JobEnded,
    JobNotStarted,
    JobOfAnotherKey,
    JobRunning,
    JobUndone,
    NoPlayers,
    NoSuchBulkJob,
    NothingToUndo,
    NotYourJob,
    TooManyPlayers,
    TooManyPreviewedJobs,
)
from gamekeeper.game.core import refusals as no
from gamekeeper.http.audit import bulk_runner, bulk_shapes
from gamekeeper.http.audit.bulk_runner import ACTS, make_request_id
from gamekeeper.http.audit.history import CSV
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import MOST_AT_ONCE, Group, needs
from gamekeeper.http.contract.path_parameters import declare_id
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server import dispatcher
from gamekeeper.http.server.paging import answer_table
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import APPROVAL_HEADER, Response
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.audit.bulk_jobs import BulkJob
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading

# Examples for the documents, made of the demo data.
NEW_BULK_JOB = bulk_shapes.NewBulkJob(
    "give_item", [examples.PLAYER, examples.PLAYER_ID], ItemId=examples.DRAUGHT, Quantity=2
)
RUN = needs("bulk.run", "players.read")
GROUP = Group("Bulk jobs", "One act for many players, as a job of the server.", place=360, permissions=RUN)
GROUPS = (GROUP,)
LARGE_BODY = 1_048_576  # bytes: the ids of MOST_PLAYERS need less than half of it
CHECK_SECONDS = 2.0  # of trying players for expected refusals; the answer says how many were tried
MISSING = (no.PowerMissing, PermissionMissing)


declare_id("jobId", "The bulk job's id.", examples.BULK_JOB_ID, "job_id")


@GROUP.operation(
    "POST /api/keeper/v1/bulk",
    body_limit=LARGE_BODY,
    answer=bulk_shapes.BulkJob,
    refusals=(
        NoPlayers,
        TooManyPlayers,
        TooManyPreviewedJobs,
        FilterTooWide,
        no.SearchNotReady,
        no.TooManyLongReads,
        no.RoleMissing,
        *MISSING,
    ),
    example_body=NEW_BULK_JOB,
)
async def create_bulk_job(request: Request, body: bulk_shapes.NewBulkJob) -> Response:
    """Create a job for many players. Nothing is changed before it is started."""
    act = ACTS[body.Act]
    request.caller.require(frozenset({act.permission} if act.permission else ()))
    details, players = bulk_runner.read_act(body), [each.strip() for each in body.Players or []]
    if body.Filter is not UNSET:
        players += await bulk_runner.collect(request, body.Filter)
    given = list(filter(None, players))

    async def find(tx: Reading, rest: Pause) -> FoundTargets:
        return await bulk_jobs.find_targets(tx, rest, given, online=body.Online)

    found = await request.read_in_pieces(find, long=len(given) > bulk_jobs.LOOKUP_BATCH)
    plan = Plan(body.Act, details, found, request.make_intent().reason, _make_creator(request))
    return await request.change(partial(bulk_jobs.create, plan=plan), make_job)


@GROUP.operation("GET /api/keeper/v1/bulk", rows=MOST_AT_ONCE)
async def list_bulk_jobs(request: Request, query: bulk_shapes.JobsQuery) -> bulk_shapes.BulkJobs:
    """List jobs, newest first."""
    page = await bulk_jobs.load_page(request.services.keeper.store, query.before, query.limit)
    following = str(MailCursor(*page.next)) if page.next else None
    return bulk_shapes.BulkJobs([make_job(each) for each in page.jobs], following)


@GROUP.operation("GET /api/keeper/v1/bulk/[jobId]", refusals=(NoSuchBulkJob,))
async def get_bulk_job(request: Request, job_id: str) -> bulk_shapes.BulkJob:
    """Get a job with its progress."""
    return make_job(await bulk_jobs.find(request.services.keeper.store, job_id))


@GROUP.operation(
    "GET /api/keeper/v1/bulk/[jobId]/targets",
    answer=BulkTargets,
    rows=bulk_jobs.MOST_PLAYERS,
    gated=True,
    refusals=(NoSuchBulkJob,),
)
async def list_bulk_targets(request: Request, query: bulk_shapes.TargetsQuery, job_id: str) -> bytes | Response:
    """List the players of a job with their results; `format=csv` for a table."""
    load = partial(
        bulk_jobs.load_target_pages, job_id=job_id, after=query.after, limit=query.limit, state=query.state or None
    )
    file, is_long = "bulk-job.csv" if query.format == CSV else None, query.limit > bulk_jobs.PIECE_TARGETS
    return await answer_table(request, load, attrgetter("targets"), BulkTargets, file, long=is_long)


@GROUP.operation(
    "GET /api/keeper/v1/bulk/[jobId]/preview",
    rows=50,
    refusals=(NoSuchBulkJob, no.TooManyLongReads, *MISSING),
)
async def preview_bulk_job(request: Request, query: bulk_shapes.PreviewQuery, job_id: str) -> bulk_shapes.BulkPreview:
    """Try the job on its next players, and change nothing."""
    store = request.services.keeper.store
    job = await bulk_jobs.find(store, job_id)
    request.caller.require(bulk_runner.find_route(request.services, job).permissions or frozenset())
    targets = await bulk_jobs.read_targets(store, job_id, 0, max(query.limit, query.check), rows.WAITING)
    tried = [await _try_target(request, job, each) for each in targets[: query.limit]]
    check = None
    if query.check:
        account, gate = request.caller.account_id, request.services.gate
        check = await gate.run(account, lambda rest: _check(request, job, tried, targets, rest), long=True)
    return bulk_shapes.BulkPreview(tried, check)


@GROUP.operation(
    "POST /api/keeper/v1/bulk/[jobId]/start",
    answer=bulk_shapes.BulkJob,
    refusals=(NoSuchBulkJob, NotYourJob, JobOfAnotherKey, JobEnded, *MISSING),
)
async def start_bulk_job(request: Request, job_id: str) -> Response:
    """Start a job, or resume a paused one."""
    job = await rows.find(request.services.keeper.store, job_id)
    if job:
        request.caller.require(bulk_runner.find_route(request.services, job).permissions or frozenset())
    terms = Terms(
        request.caller.account_id,
        request.caller.token_id,
        ACTS[job.act].permission if job else None,
        approved=request.consent is not None,
    )
    return await request.change(partial(bulk_jobs.start, job_id=job_id, terms=terms), make_job)


@GROUP.operation(
    "POST /api/keeper/v1/bulk/[jobId]/pause",
    answer=bulk_shapes.BulkJob,
    refusals=(NoSuchBulkJob, JobEnded, JobNotStarted),
)
async def pause_bulk_job(request: Request, job_id: str) -> Response:
    """Pause a job after the player that it works on; also 200 if it is paused already."""
    return await request.change(partial(bulk_jobs.pause, job_id=job_id), make_job)


@GROUP.operation(
    "POST /api/keeper/v1/bulk/[jobId]/cancel",
    answer=bulk_shapes.BulkJob,
    refusals=(NoSuchBulkJob, JobEnded),
)
async def cancel_bulk_job(request: Request, job_id: str) -> Response:
    """Cancel a job. What it has changed stays."""
    return await request.change(partial(bulk_jobs.cancel, job_id=job_id), make_job)


@GROUP.operation(
    "POST /api/keeper/v1/bulk/[jobId]/undo",
    permissions=RUN | needs("audit.undo"),
    answer=bulk_shapes.BulkJob,
    refusals=(NoSuchBulkJob, JobRunning, NothingToUndo, JobUndone, TooManyPreviewedJobs),
)
async def undo_bulk_job(request: Request, job_id: str) -> Response:
    """Create a job that undoes what is not undone yet of another job. Start it like any job."""
    decide = partial(bulk_jobs.undo, job_id=job_id, reason=request.make_intent().reason, creator=_make_creator(request))
    return await request.change(decide, make_job)


def _make_creator(request: Request) -> Creator:
    me, most = request.caller, request.services.keeper.settings.bulk_previews
    return Creator(me.account_id, me.name, me.token_id, most)


async def _try_target(request: Request, job: BulkJob, target: BulkTarget) -> bulk_shapes.PreviewedTarget:
    """Run a dry run of the request for one player, as the caller."""
    code = message = None
    changes, needs_approval = list[PreviewedChange](), False
    waiting = rows.WaitingTarget(target.number, target.player_id or "", target.undone_seq)
    sent = bulk_runner.make_request(request.services, job, read_details(job), waiting, None)
    try:
        tried = await dispatcher.call_as(sent.request, request.caller, sent.route, sent.params)
        changes = msgspec.json.decode(encode_preview(tried.entries), type=list[PreviewedChange])
        needs_approval = APPROVAL_HEADER in tried.headers
    except no.Refusal as refusal:
        code, message = refusal.code, refusal.message
    return bulk_shapes.PreviewedTarget(
        target.number, target.player_id or "", target.player, code, message, needs_approval, changes
    )


async def _check(
    request: Request,
    job: BulkJob,
    tried: list[bulk_shapes.PreviewedTarget],
    targets: Sequence[BulkTarget],
    rest: Pause,
) -> bulk_shapes.BulkCheck:
    """Count the refusals that the job would get. Players are tried for CHECK_SECONDS, or until the database fails."""
    until, found = time.monotonic() + CHECK_SECONDS, list(tried)
    for each in targets[len(tried) :]:
        if time.monotonic() > until:
            break
        try:
            found.append(await _try_target(request, job, each))
        except DatabaseUnavailable:
            break
        await rest()
    refused: dict[str, bulk_shapes.ExpectedRefusal] = {}
    for each in found:
        if each.Code is not None:
            first = bulk_shapes.ExpectedRefusal(each.Code, each.Message or "", 0, each.Player)
            refused.setdefault(each.Code, first).Players += 1
    refusals = sorted(refused.values(), key=lambda each: (-each.Players, each.Code))
    held = sum(each.NeedsApproval for each in found)
    return bulk_shapes.BulkCheck(len(found), job.remaining, held, refusals)


def make_job(job: BulkJob) -> bulk_shapes.BulkJob:
    made, details = make_request_id(job.id), read_details(job)
    return make_record(bulk_shapes.BulkJob, job, details, UndoOf=job.undoes, RequestId=made)
