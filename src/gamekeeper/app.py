"""The composition root: settings → store → keeper → app."""

import asyncio
import gc
import multiprocessing
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gamekeeper.console.frame.pages import render_refusal
from gamekeeper.console.frame.routes import ROOT
from gamekeeper.console.insight.monitor import DoctorRun, Progress, ShownFinding
from gamekeeper.console.pages import PAGES
from gamekeeper.game.access.second_factors import read_policy
from gamekeeper.game.core.background_jobs import Job, Run
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import log, rooms, shutdown
from gamekeeper.ground.settings import Settings
from gamekeeper.http import openapi
from gamekeeper.http.access import oidc_settings
from gamekeeper.http.access.oidc_provider import Provider
from gamekeeper.http.insight import health, public
from gamekeeper.http.insight.health import HealthListener
from gamekeeper.http.keeper_builder import build_keeper, open_store, run_with_keeper
from gamekeeper.http.routes import REFUSED, ROUTES
from gamekeeper.http.server.admission import Admission, Gate
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.http.server.caller import Callers
from gamekeeper.http.server.dispatcher import ConsoleRoutes
from gamekeeper.http.server.metrics import Metrics
from gamekeeper.http.server.proxies import Proxies
from gamekeeper.http.server.rate_limits import ChatGuard, PublicGuard
from gamekeeper.http.server.request import Services
from gamekeeper.http.server.router import Router
from gamekeeper.http.server.static_files import DocsFiles
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.engine.migrate import migrate

__all__ = ["BackgroundJobs", "build", "build_keeper", "build_services", "open_store", "run_with_keeper"]

RETRY_SECONDS = 1.0  # seconds between two attempts to open the database when the server starts
Repeated = tuple[float, Run]  # a background job: its interval in seconds, and the function to run


def build(keeper: Keeper, jobs: Sequence[Repeated] = ()) -> Asgi:
    """Build the ASGI application; `jobs` run in addition to those that the rooms register."""
    pages = provider = None
    if keeper.settings.console:
        provider = Provider(chosen) if (chosen := oidc_settings.read(keeper.settings)) else None
        run = DoctorRun(partial(_run_doctor, keeper.settings), lambda: keeper.feed.is_stopping)
        made = [make(keeper) for make in rooms.collect("console", "SHARED")]
        shared = (*made, run, *([provider] if provider else []))
        pages = ConsoleRoutes(ROOT.encode(), PAGES, render_refusal, {type(each): each for each in shared})
    services = build_services(keeper, Callers(keeper.store, read_policy(keeper.settings)), pages)
    upkeep = BackgroundJobs(services, jobs)
    upkeep.provider = provider
    if keeper.settings.health_port:
        upkeep.health = HealthListener(keeper.settings.host, keeper.settings.health_port, services.readiness)
    return Asgi(services, upkeep.start, upkeep.stop, pages)


def build_services(keeper: Keeper, callers: Callers, pages: ConsoleRoutes | None = None) -> Services:
    rooms.import_modules("store")  # now, because the first export may come when an upgrade has replaced the files
    if keeper.settings.public_boards:
        public.parse_fields(keeper.settings)  # a wrong setting is reported at the start
    shown = public.ROUTES if keeper.settings.public_boards else ()
    more = (
        *shown,
        *REFUSED,
        *(pages.routes if pages else ()),
        *((health.METRICS_ROUTE,) if keeper.settings.metrics_token else ()),
    )
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


def _run_doctor(settings: Settings, progress: Progress) -> Sequence[ShownFinding]:
    """Run the doctor on its own connections. It reads the whole database, so the caller runs it in its own thread."""
    from gamekeeper.doctor.examination import examine  # noqa: PLC0415 - servers that never run it do without

    return asyncio.run(run_with_keeper(settings, lambda keeper: examine(keeper, progress)))


class BackgroundJobs:
    """Periodic jobs of a serving process, such as expiring leases, deleting old rows and sending mail."""

    def __init__(self, services: Services, more: Sequence[Repeated] = ()) -> None:
        self._keeper = services.keeper
        registered: list[tuple[Job[Any], Run | None]] = [
            (job, job.start(held))
            for floor, held in (("game", services.keeper), ("http", services), ("console", services))
            for job in rooms.collect(floor, "JOBS")
        ]
        self._at_stop = [run for job, run in registered if run and job.at_stop]
        self.jobs: list[Repeated] = [*((job.seconds, run) for job, run in registered if run), *more]
        self._tasks: list[asyncio.Task[None]] = []
        self._give_back: Callable[[], None] = lambda: None
        self.health: HealthListener | None = None
        self.provider: Provider | None = None

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
        for run in self._at_stop:
            await _run_job(run)
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
            # indexes come first: counting the rows of the ordered lists needs them
            await database_checks.create_missing_indexes(store)
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


async def _repeat(seconds: float, work: Run) -> None:
    while True:
        await asyncio.sleep(seconds)
        await _run_job(work)


async def _run_job(work: Run) -> None:
    try:
        await work()
    except DatabaseUnavailable as away:
        log.problem("upkeep", f"the database is unreachable: {away}")
    except Exception:  # noqa: BLE001 - logged; the job runs again after its interval
        log.failure("upkeep")
