"""Carry out bulk jobs: the background job that works through running jobs, one player at a time.

An act of a job calls an operation for each player, so a job becomes requests. The players that a filter selects are
collected once, when the job is created.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from msgspec import UNSET

from gamekeeper.game.access.refusals import PermissionMissing, QuotaReached
from gamekeeper.game.audit import bulk_jobs
from gamekeeper.game.audit.bulk_jobs import MOST_PLAYERS, UNDO, CreatorLostAccess, JobDetails, JobTaken
from gamekeeper.game.audit.refusals import (
    ApprovalRequired,
    FilterTooWide,
    JobOfFormerEpoch,
    RequesterLostAccess,
    TooManyPlayers,
)
from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.core.change import REQUEST_PREFIX, Step
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField, Overloaded, PowerMissing, Refusal, RoleMissing, TooManyRequests
from gamekeeper.game.core.values import require_order
from gamekeeper.game.lists import player_filters
from gamekeeper.game.lists.player_filters import PageWanted
from gamekeeper.game.lists.player_walks import PlayerFilter
from gamekeeper.ground import log
from gamekeeper.ground.instants import format_instant, parse_instant
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit.bulk_shapes import JobFilter, NewBulkJob
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import QUERY, Route, needs
from gamekeeper.http.players import player_shapes, variable_shapes
from gamekeeper.http.server import dispatcher, queries
from gamekeeper.http.server.caller import load_requester
from gamekeeper.http.server.request import Request, Services
from gamekeeper.http.server.response import JSON
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.audit.bulk_jobs import BulkJob, WaitingTarget
from gamekeeper.store.engine.interface import DatabaseUnavailable, Reading
from gamekeeper.store.lists.search import PART_LETTERS

MAX_COMPARED = 100_000  # players that are compared with one filter: one to two seconds, in steps
STEP_PLAYERS = 2000  # matches that one step finds at most


async def collect(request: Request, body: JobFilter) -> list[str]:
    """Find the ids of all players that match now. Each step is a short read of its own."""
    wanted = _read_filter(request, body)
    found, compared, page = dict[str, None](), 0, PageWanted(STEP_PLAYERS)
    while True:
        read = partial(player_filters.find, wanted=wanted, page=page)
        step = await request.run_through_gate(partial(request.services.keeper.store.read, read))
        found |= dict.fromkeys(step.ids)
        compared += step.searched
        if len(found) > MOST_PLAYERS:
            raise TooManyPlayers(most=MOST_PLAYERS)
        if wanted.search and step.total is None:
            raise BadField(field="Search", problem="matches too many names to find them all: it needs more letters")
        if step.next is None:
            return list(found)
        if compared >= MAX_COMPARED:
            raise FilterTooWide(most=MAX_COMPARED)
        page = page._replace(cursor=step.next)


def _read_filter(request: Request, body: JobFilter) -> PlayerFilter:
    if body.Banned is not UNSET:
        request.caller.require(QUERY)
    seen_from, seen_to = (parse_instant(each) if each else None for each in (body.SeenFrom, body.SeenTo))
    require_order("SeenFrom", seen_from, seen_to)
    require_order("LevelFrom", body.LevelFrom or None, body.LevelTo or None)
    wanted = PlayerFilter(
        *(body.ClassId or None, body.MapId or None, body.LevelFrom or None, body.LevelTo or None),
        *(seen_from, seen_to),
        None if body.Banned is UNSET else body.Banned,
        None if body.Online is UNSET else body.Online,
        *(body.ItemId or None, body.Search or ""),
    )
    if wanted == PlayerFilter():
        raise BadField(field="Filter", problem="needs a condition")
    if body.Search is not UNSET and len(lookup.fold(body.Search)) < PART_LETTERS:
        raise BadField(field="Search", problem="needs at least 3 letters")
    return wanted


SET = "set_variable"


class Act(NamedTuple):
    path: str  # of the operation, with {} for the player or the number of the change
    fields: tuple[str, ...]  # fields of a new job that it needs
    permission: str | None  # None: that depends on the change
    make_body: Callable[[JobDetails, BulkJob], object]


def _give(details: JobDetails, _: BulkJob) -> object:
    return player_shapes.GiveItem(details.item_id or "", details.quantity or 0, details.bank_overflow)


def _take(details: JobDetails, _: BulkJob) -> object:
    return player_shapes.TakeItem(details.item_id or "", details.quantity or 0)


def _set(details: JobDetails, _: BulkJob) -> object:
    return variable_shapes.SetVariable(0 if details.value is None else details.value)


def _punish(details: JobDetails, job: BulkJob) -> object:
    minutes = UNSET if details.minutes is None else details.minutes
    until = UNSET if details.until is None else format_instant(details.until)
    return account_shapes.Penalty(details.days or 0, job.reason, minutes=minutes, until=until)


def _send_nothing(_: JobDetails, __: BulkJob) -> object:
    return None


ACTS: Mapping[str, Act] = {
    "give_item": Act("/api/v1/players/{}/items/give", ("ItemId", "Quantity"), "items.give", _give),
    "take_item": Act("/api/v1/players/{}/items/take", ("ItemId", "Quantity"), "items.take", _take),
    SET: Act("/api/v1/players/{}/variables/", ("VariableId", "Value"), "variables.write", _set),
    "ban_player": Act("/api/v1/players/{}/admin/ban", (), "moderation.ban", _punish),
    "mute_player": Act("/api/v1/players/{}/admin/mute", (), "moderation.mute", _punish),
    UNDO: Act("/api/keeper/v1/changes/{}/undo", (), None, _send_nothing),
}
LENGTHS = ("Days", "Minutes", "Until")  # ways to say how long a ban or mute lasts
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "give_item": ("BankOverflow",),
    "ban_player": LENGTHS,
    "mute_player": LENGTHS,
}
ACT_FIELDS = ("ItemId", "Quantity", "BankOverflow", "VariableId", "Value", *LENGTHS)


def read_details(body: NewBulkJob) -> JobDetails:
    """Check that a new job has the fields of its act, and no others."""
    needed, optional = ACTS[body.Act].fields, OPTIONAL.get(body.Act, ())
    for name in ACT_FIELDS:
        is_given = getattr(body, name) is not UNSET
        if name in needed and not is_given:
            raise BadField(field=name, problem=f"is missing: {body.Act} needs it")
        if is_given and name not in (*needed, *optional):
            raise BadField(field=name, problem=f"does not belong to {body.Act}")
    lengths = [name for name in LENGTHS if getattr(body, name) is not UNSET]
    if optional is LENGTHS and not lengths:
        raise BadField(field="Days", problem=f"is missing: {body.Act} needs one of Days, Minutes and Until")
    if len(lengths) > 1:
        raise BadField(field=lengths[-1], problem="cannot be combined: send one of Days, Minutes and Until")
    return JobDetails(
        body.ItemId or None,
        body.Quantity or None,
        body.BankOverflow is True,
        body.VariableId or None,
        None if body.Value is UNSET else body.Value,
        None if body.Days is UNSET else body.Days,
        None if body.Minutes is UNSET else body.Minutes,
        None if body.Until is UNSET else parse_instant(body.Until),
    )


def find_route(services: Services, job: BulkJob) -> Route:
    """Find the operation that a job calls for each player."""
    path = ACTS[job.act].path.format(1 if job.act == UNDO else ZERO_GUID)
    return services.router.find("POST", (path + (ZERO_GUID if job.act == SET else "")).encode())[0]


class TargetRequest(NamedTuple):
    """A request for one player, which has been read as far as its route."""

    request: Request
    route: Route
    params: tuple[str, ...]


def make_request(
    services: Services, job: BulkJob, details: JobDetails, target: WaitingTarget, step: Step | None
) -> TargetRequest:
    """Make the request for one player; without a step it is a dry run."""
    act = ACTS[job.act]
    path = act.path.format(target.undoes if job.act == UNDO else target.player_id)
    path += (details.variable_id or "") if job.act == SET else ""
    body = act.make_body(details, job)
    headers = {b"content-type": JSON} | ({b"x-reason": job.reason.encode()} if job.reason else {})
    request = Request(
        services=services,
        id=make_request_id(job.id),
        method="POST",
        raw_path=path.encode(),
        raw_query=b"" if step else queries.make_dry_run("").encode(),
        headers=headers,
        scope={"headers": ()},
        receive=_receive_nothing,
        raw_body=b"" if body is None else shapes.encode(body),
        step=step,
    )
    return TargetRequest(request, *services.router.find("POST", request.raw_path))


def make_request_id(job_id: str) -> str:
    return REQUEST_PREFIX + job_id


async def _receive_nothing() -> dict[str, object]:
    return {"type": "http.disconnect"}


POLL_SECONDS = 1.0
BATCH_TARGETS = 20  # players of one job before the next job has its turn, and requests have a pause
MAX_JOBS = 100  # jobs that take turns; later ones wait
# pause after a batch, as a multiple of the batch's duration: a job uses at most half of the time
REST_FACTOR = 1
RUN = needs("bulk.run")
LOST_ACCESS = "The account or API key that created this job can no longer make its changes."
FAILED = "An internal error stopped this job. The server's log has the details under the job's RequestId."


class BulkRunner:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> None:
        """Work on the running jobs in turns, until there are none or other instances work on all of them."""
        store = self._services.keeper.store
        while jobs := await rows.read_running(store, MAX_JOBS):
            started = time.monotonic()
            worked = [await self._run_batch(job) for job in jobs]
            if not any(worked):
                return
            await asyncio.sleep(REST_FACTOR * (time.monotonic() - started))

    async def _run_batch(self, job: BulkJob) -> bool:
        """Change the next players of a job. False: another instance is working on it."""
        store = self._services.keeper.store
        try:
            for target in (targets := await rows.read_waiting(store, job.id, BATCH_TARGETS)):
                await self.run_target(job, target)
            if len(targets) < BATCH_TARGETS:
                await bulk_jobs.stop_running(store, job.id, None)
        except JobTaken:
            return False
        except CreatorLostAccess:
            await self._pause(job, LOST_ACCESS)
        except (JobOfFormerEpoch, QuotaReached) as stopped:
            await self._pause(job, stopped.message)
        except (DatabaseUnavailable, Overloaded, TooManyRequests):
            raise  # the next turn tries again; if the outcome is unknown, the state of the target tells it
        except Exception:  # noqa: BLE001 - logged; a person decides whether the job goes on
            log.failure(make_request_id(job.id))
            await self._pause(job, FAILED)
        return True

    async def run_target(self, job: BulkJob, target: WaitingTarget) -> None:
        """Change one player, and store the result."""
        services, details = self._services, bulk_jobs.read_details(job)
        route = find_route(services, job)
        step = bulk_jobs.make_step(job, target.number, partial(_check_creator, job=job, route=route))
        sent = make_request(services, job, details, target, step)
        try:
            caller = await load_requester(services.keeper.store, job.creator_id, job.token_id)
            await dispatcher.call_as(sent.request, caller, sent.route, sent.params)
        except RequesterLostAccess:
            raise CreatorLostAccess from None
        except ApprovalRequired:
            pass  # the transaction that holds the change has stored that
        except (JobOfFormerEpoch, QuotaReached, Overloaded, TooManyRequests):
            raise
        except Refusal as refusal:
            await bulk_jobs.refuse_target(services.keeper.store, job.id, target.number, refusal.code, refusal.message)

    async def _pause(self, job: BulkJob, problem: str) -> None:
        with contextlib.suppress(JobTaken):
            await bulk_jobs.stop_running(self._services.keeper.store, job.id, problem)


async def _check_creator(tx: Reading, job: BulkJob, route: Route) -> None:
    """Check in the transaction of a change that the creator of the job still has the permissions for it."""
    try:
        caller = await load_requester(tx, job.creator_id, job.token_id)
        caller.require(RUN)
        dispatcher.require_permissions(caller, route)
    except (RequesterLostAccess, PermissionMissing, PowerMissing, RoleMissing):
        raise CreatorLostAccess from None


JOBS = (Job[Services]("bulk jobs", POLL_SECONDS, lambda services: BulkRunner(services).run),)
