"""The composition root: settings → store → keeper → app."""

import asyncio
import gc
import multiprocessing
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from gamekeeper import doctor
from gamekeeper.console.frame.pages import render_refusal
from gamekeeper.console.frame.routes import PAGES, ROOT
from gamekeeper.console.insight import monitor
from gamekeeper.console.insight.monitor import ConsoleState, DoctorRun, Monitor, Progress
from gamekeeper.game.access import api_keys, credentials, security_log
from gamekeeper.game.access import tokens as token_rules
from gamekeeper.game.access.second_factors import read_policy
from gamekeeper.game.accounts import erasures
from gamekeeper.game.audit import retention
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.insight import activity, signal_watch, standbys
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.players import presence
from gamekeeper.game.world import commands, feed
from gamekeeper.ground import log, shutdown
from gamekeeper.ground.settings import Settings
from gamekeeper.http.access import oidc_settings
from gamekeeper.http.access.oidc_provider import Provider
from gamekeeper.http.accounts import outbox
from gamekeeper.http.audit import bulk_runner
from gamekeeper.http.audit.bulk_runner import BulkRunner
from gamekeeper.http.contract import openapi
from gamekeeper.http.contract.routes import METRICS, REFUSED, ROUTES
from gamekeeper.http.insight import health, public
from gamekeeper.http.insight.health import HealthListener
from gamekeeper.http.server import metrics
from gamekeeper.http.server.admission import Admission, Gate
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.http.server.caller import Callers
from gamekeeper.http.server.dispatcher import ConsoleRoutes
from gamekeeper.http.server.limits import ChatGuard, PublicGuard
from gamekeeper.http.server.metrics import Metrics, RequestRates
from gamekeeper.http.server.opening import build_keeper, open_store, run_with_keeper
from gamekeeper.http.server.proxies import Proxies
from gamekeeper.http.server.request import Services
from gamekeeper.http.server.router import Router
from gamekeeper.http.server.static_files import DocsFiles
from gamekeeper.store.engine import indexes
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.engine.migrate import migrate

__all__ = ["BackgroundJobs", "build", "build_keeper", "build_services", "open_store", "run_with_keeper"]

NOTE_USE_SECONDS = 30.0  # interval between writes of the tokens' last use
ROLLUPS = (*activity.ROLLUPS,)
RETRY_SECONDS = 1.0  # seconds between two attempts to open the database when the server starts
# a background job: its interval in seconds, and the function to run
Job = tuple[float, Callable[[], Awaitable[object]]]


def build(keeper: Keeper, jobs: Sequence[Job] = ()) -> Asgi:
    """Build the ASGI application; `jobs` run in addition to the usual background jobs."""
    callers = Callers(keeper.store, read_policy(keeper.settings))
    upkeep = BackgroundJobs(keeper, callers, jobs)
    pages = None
    if keeper.settings.console:
        live = ConsoleState(
            Monitor(keeper),
            DoctorRun(partial(_run_doctor, keeper.settings), lambda: keeper.feed.is_stopping),
            Provider(chosen) if (chosen := oidc_settings.read(keeper.settings)) else None,
        )
        upkeep.provider = live.provider
        pages = ConsoleRoutes(ROOT.encode(), PAGES, render_refusal, live)
        upkeep.jobs.append((monitor.SAMPLE_SECONDS, live.monitor.sample))
    services = build_services(keeper, callers, pages)
    upkeep.save_requests = partial(_save_requests, keeper, services.metrics.request_rates)
    upkeep.jobs.append((activity.SAVE_REQUESTS_SECONDS, upkeep.save_requests))
    upkeep.jobs.append((bulk_runner.POLL_SECONDS, BulkRunner(services).run))
    if keeper.settings.metrics_token and keeper.settings.workers > 1:
        upkeep.jobs.append((metrics.PUBLISH_SECONDS, services.metrics.publish))
    if keeper.settings.health_port:
        upkeep.health = HealthListener(keeper.settings.host, keeper.settings.health_port, services.readiness)
    return Asgi(services, upkeep.start, upkeep.stop, pages)


def build_services(keeper: Keeper, callers: Callers, pages: ConsoleRoutes | None = None) -> Services:
    if keeper.settings.public_boards:
        public.parse_fields(keeper.settings)  # a wrong setting is reported at the start
    shown = public.ROUTES if keeper.settings.public_boards else ()
    more = (*shown, *REFUSED, *(pages.routes if pages else ()), *((METRICS,) if keeper.settings.metrics_token else ()))
    admission, readiness = Admission(keeper.settings.requests_in_flight), health.make_readiness_query(keeper)
    return Services(
        keeper=keeper,
        router=Router((*ROUTES, *more)),
        callers=callers,
        proxies=Proxies(keeper.settings),
        files=DocsFiles(lambda tolerant: openapi.make_document(ROUTES, keeper.settings, tolerant=tolerant)),
        admission=admission,
        gate=Gate(admission),
        readiness=readiness,
        metrics=Metrics(keeper, callers, admission, readiness),
        chat_guard=ChatGuard(),
        public_guard=PublicGuard(),
        live=pages.live if pages else None,
    )


async def _save_requests(keeper: Keeper, rates: RequestRates) -> None:
    counts = rates.take_unsaved()
    if not counts.requests:
        return
    try:
        await activity.save_requests(keeper.store, *counts)
    except DatabaseUnavailable:
        rates.put_back(counts)
        raise


def _run_doctor(settings: Settings, progress: Progress) -> list[doctor.DoctorFinding]:
    """Run the doctor on its own connections. It reads the whole database, so the caller runs it in its own thread."""
    return asyncio.run(run_with_keeper(settings, lambda keeper: doctor.examine(keeper, progress)))


class BackgroundJobs:
    """Periodic jobs of a serving process, such as expiring leases, deleting old rows and sending mail."""

    def __init__(self, keeper: Keeper, callers: Callers, jobs: Sequence[Job]) -> None:
        self._keeper = keeper
        self._callers = callers
        tidying = retention.RetentionJob(keeper)

        async def roll_up() -> None:
            await activity.run_rollups(keeper.store, ROLLUPS, await tidying.clock.find_time())

        self.jobs: list[Job] = [
            (presence.EXPIRE_SECONDS, lambda: presence.expire_leases(keeper.store)),
            (retention.TIDY_SECONDS, tidying.tidy),
            (ordered_lists.MAINTAIN_SECONDS, keeper.lists.maintain_and_report),
            (credentials.POLL_SECONDS, lambda: credentials.wrap_all(keeper)),
            (erasures.POLL_SECONDS, lambda: erasures.run_all_jobs(keeper.store)),
            (activity.ROLLUP_SECONDS, roll_up),
            (feed.FOLLOW_SECONDS, keeper.economy.follow),
            (feed.FOLLOW_SECONDS, keeper.boards.follow),
            (signal_watch.RUN_SECONDS, keeper.signal_checks.run),
            (NOTE_USE_SECONDS, self.note_use),
            (commands.SAVE_SECONDS, keeper.feed.cursors.save),
            (security_log.FLUSH_SECONDS, keeper.failed_guesses.flush),
            *_mail_jobs(keeper),
            *_list_standby_jobs(keeper),
            *jobs,
        ]
        self._tasks: list[asyncio.Task[None]] = []
        self._give_back: Callable[[], None] = lambda: None
        self.health: HealthListener | None = None
        self.provider: Provider | None = None
        self.save_requests: Callable[[], Awaitable[None]] | None = None

    async def start(self) -> None:
        gc.enable()  # `__main__.py` disables it for the import
        # at shutdown, answer waiting long polls of the change feed at once
        self._give_back = shutdown.on_shutdown(self._keeper.feed.stop)
        while not await self._prepare_store():  # noqa: ASYNC110 - polling: there is no event when the database is back
            await asyncio.sleep(RETRY_SECONDS)
        if self.health:
            await self.health.start()
        self._tasks = [asyncio.create_task(_repeat(seconds, work)) for seconds, work in self.jobs]
        gc.collect()
        # exempt the objects made at start from garbage collection: scanning them would delay requests
        gc.freeze()

    async def stop(self) -> None:
        if self.health:
            await self.health.stop()
        if self.provider:
            self.provider.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await _run_job(self.note_use)
        await _run_job(self._keeper.failed_guesses.flush)
        if self.save_requests:
            await _run_job(self.save_requests)
        await self._keeper.feed.close()
        await self._keeper.store.close()
        self._keeper.passwords.close()
        self._give_back()
        gc.unfreeze()

    async def _prepare_store(self) -> bool:
        """Open and migrate the store. Return False if the database is unreachable: then a worker process tries again.

        A process that is not a worker, or that is being stopped, raises DatabaseUnavailable instead.
        """
        store = self._keeper.store
        try:
            await store.open()
            await migrate(store)
            await indexes.create_missing(store)  # indexes come first: counting the rows of the ordered lists needs them
            await self._keeper.lists.prepare()
            # set the time limit of SQL statements last: migrations and counting the ordered lists may take longer
            await store.limit_statements(self._keeper.settings.statement_seconds)
        except DatabaseUnavailable as away:
            await store.close()
            if multiprocessing.parent_process() is None or self._keeper.feed.is_stopping:
                raise
            log.problem("start", f"the database is unreachable: {away}")
            return False
        return True

    async def note_use(self) -> None:
        """Store when and from where credentials were used. A background job does it: no request waits for it."""
        await token_rules.note_use(self._keeper.store, self._callers.take_uses())
        await api_keys.note_use(self._keeper.store, self._callers.take_used_keys())


def _mail_jobs(keeper: Keeper) -> list[Job]:
    if not keeper.settings.smtp_url:
        return []
    sender = outbox.Sender(keeper.settings)
    return [(outbox.POLL_SECONDS, lambda: sender.send_due(keeper.store))] * outbox.CONCURRENT_SENDERS


def _list_standby_jobs(keeper: Keeper) -> list[Job]:
    return (
        [(standbys.POLL_SECONDS, standbys.StandbyMonitor(keeper).check)] if keeper.settings.synchronous_standbys else []
    )


async def _repeat(seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await _run_job(work)


async def _run_job(work: Callable[[], Awaitable[object]]) -> None:
    try:
        await work()
    except DatabaseUnavailable as away:
        log.problem("upkeep", f"the database is unreachable: {away}")
    except Exception:  # noqa: BLE001 - logged; the job runs again after its interval
        log.failure("upkeep")
