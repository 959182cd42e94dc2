"""The background job that works through running bulk jobs, one player at a time.

Each player is changed by the operation that a single request would call, as the account that created the job. Several
instances may try: a transaction that finds the job locked by another one gives up, and tries again after a while.
"""

import asyncio
import contextlib
import time
from functools import partial

from gamekeeper import log
from gamekeeper.game import bulk_jobs
from gamekeeper.game.approval_refusals import ApprovalRequired, RequesterLostAccess
from gamekeeper.game.bulk_jobs import CreatorLostAccess, JobTaken
from gamekeeper.game.bulk_refusals import JobOfFormerEpoch
from gamekeeper.game.key_refusals import QuotaReached
from gamekeeper.game.refusals import Overloaded, PowerMissing, Refusal, RoleMissing, TooManyRequests
from gamekeeper.game.role_refusals import PermissionMissing
from gamekeeper.http import bulk_acts, dispatcher
from gamekeeper.http.operation import Route, needs
from gamekeeper.http.requesters import load_requester
from gamekeeper.http.services import Services
from gamekeeper.store import bulk_jobs as rows
from gamekeeper.store.bulk_jobs import BulkJob, WaitingTarget
from gamekeeper.store.engine import DatabaseUnavailable, Reading

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
            log.failure(bulk_acts.make_request_id(job.id))
            await self._pause(job, FAILED)
        return True

    async def run_target(self, job: BulkJob, target: WaitingTarget) -> None:
        """Change one player, and store the result."""
        services, details = self._services, bulk_jobs.read_details(job)
        route = bulk_acts.find_route(services, job)
        step = bulk_jobs.make_step(job, target.number, partial(_check_creator, job=job, route=route))
        sent = bulk_acts.make_request(services, job, details, target, step)
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
