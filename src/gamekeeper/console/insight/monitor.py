"""Data and state that all viewers of the console share in one process; app.py creates them.

They are player counts, game servers, latest changes, health checks, and the run of all checks of `gamekeeper doctor` in
a background thread, at most one per process.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, Protocol, cast

from msgspec import Struct

from gamekeeper.console.frame import formats
from gamekeeper.console.frame import pages as console_pages
from gamekeeper.console.frame.texts import LANGUAGE, LANGUAGES, PerLanguage, gettext, pgettext
from gamekeeper.console.insight import latest_changes
from gamekeeper.console.players.online import MAX_SCANNED
from gamekeeper.game.core.background_jobs import Job, Run
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists.list_index import NAMES, ONLINE, USERS
from gamekeeper.ground import log
from gamekeeper.http.insight.health import make_readiness_query
from gamekeeper.http.server.admission import SharedQuery
from gamekeeper.http.server.request import Services
from gamekeeper.store.accounts import mails
from gamekeeper.store.engine.database_checks import find_standby_shortage
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.players import presence
from gamekeeper.store.world import feed

PAUSE_SECONDS = 0.005  # pause after each batch of rows, so that the doctor does not slow down requests


class ShownFinding(Protocol):
    @property
    def level(self) -> str: ...

    @property
    def check(self) -> str: ...

    @property
    def message(self) -> str: ...


Progress = Callable[[str, int, int], None]  # name of the check, rows checked so far, rows in total
Examine = Callable[[Progress], Sequence[ShownFinding]]


class ShuttingDown(Exception):
    """Stops a running doctor because the process shuts down."""


class DoctorResult(Struct, frozen=True):
    ended_at: int  # end of the doctor's run, in milliseconds since 1970
    seconds: float  # duration of the doctor's run
    findings: Sequence[ShownFinding] | None  # None: the doctor failed with an exception, which is in the log


class DoctorRun:
    def __init__(self, examine: Examine, stopping: Callable[[], bool]) -> None:
        """`examine` runs the doctor. It may take minutes and opens its own database connections."""
        self._examine, self._stopping = examine, stopping
        self._thread: threading.Thread | None = None
        self.steps: dict[str, tuple[int, int]] = {}  # name of a check → (rows checked, rows in total)
        self.result: DoctorResult | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the doctor, unless it is already running: then the page shows the progress of that run."""
        if self.is_running:
            return
        self.steps = {}
        self._thread = threading.Thread(target=self._run, daemon=True)  # a daemon thread does not delay a shutdown
        self._thread.start()

    def _run(self) -> None:
        began, findings = time.monotonic(), None
        try:
            findings = self._examine(self._report_progress)
        except ShuttingDown:
            return
        except Exception:  # noqa: BLE001 - any error is logged, and the page reports that the run failed
            log.failure("doctor")
        self.result = DoctorResult(int(time.time() * 1000), time.monotonic() - began, findings)

    def _report_progress(self, what: str, done: int, total: int) -> None:
        if self._stopping():
            raise ShuttingDown
        self.steps = {**self.steps, what: (done, total)}
        time.sleep(PAUSE_SECONDS)


SNAPSHOT_SECONDS = 1.0  # all viewers share player counts and latest changes that are at most this old
CHECKS_SECONDS = 5.0  # all viewers share health checks at most this old: each run of them writes to the database
SAMPLE_SECONDS = 5.0  # interval between two samples of the number of online players
SAMPLES = 60  # samples kept for the chart of online players: five minutes
FAILED_MAIL_MS = 7 * 24 * 3600 * 1000  # failed mails of this time are counted
MOST_OVERDUE = 100  # overdue commands that are counted and listed
MOST_MAILS = 500  # newest mails among which failed ones are counted, which bounds the read
HOME_SERVERS = 5  # game servers shown on the home page
STUCK_MAIL_MS = 10 * 60 * 1000  # the health check reports a mail that has been due for longer
LAPSED_LEASE_MS = 10 * 1000  # the health check reports a lease that ended longer ago and is not removed yet
GOOD, STRAINED, DOWN = "Good", "Strained", "Down"  # statuses of a health check; the style sheets use the same words


STATUS_TITLES = PerLanguage(
    lambda: {
        GOOD: pgettext("health", "Good"),
        STRAINED: pgettext("health", "Strained"),
        DOWN: pgettext("health", "Down"),
    }
)


class OverviewSnapshot(NamedTuple):
    online: int
    players: int
    accounts: int | None  # number of accounts; None: the viewer does not have the permission users.query
    latest: str  # HTML of the latest changes, already escaped


class HealthCheck(NamedTuple):
    subject: str
    status: str
    message: str
    cause: str = ""  # the database's error message; only for account managers, because it may name hosts and files


class Monitor:
    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._readiness = make_readiness_query(keeper)
        # results with texts are shared by the viewers of one language
        self._checks = {language: SharedQuery(self._run_checks, CHECKS_SECONDS) for language in LANGUAGES}
        self._snapshots = {
            (language, accounts, undoes): SharedQuery(
                partial(self._take_snapshot, accounts=accounts, undoes=undoes), SNAPSHOT_SECONDS
            )
            for language in LANGUAGES
            for accounts in (True, False)
            for undoes in (True, False)
        }
        # the first game servers by name, one more than the home page shows
        self.first_servers = SharedQuery(
            lambda: presence.read_servers(keeper.store, MAX_SCANNED, HOME_SERVERS + 1), CHECKS_SECONDS
        )
        self.overdue = SharedQuery(self._count_overdue, SNAPSHOT_SECONDS)
        self.failed_mails = SharedQuery(
            lambda: keeper.store.value(mails.SQL.count_recent_failures, FAILED_MAIL_MS, MOST_MAILS), CHECKS_SECONDS
        )
        self.online_samples: deque[int] = deque(maxlen=SAMPLES)  # numbers of online players, oldest first
        self.streams: Counter[str] = Counter()  # open event streams by account id

    async def sample(self) -> None:
        self.online_samples.append(await self._keeper.lists.count(ONLINE))

    async def read_snapshot(self, rights: frozenset[str]) -> OverviewSnapshot:
        """Return counts and latest changes for a viewer with these permissions. They are at most one second old."""
        return await self._snapshots[LANGUAGE.get(), "users.query" in rights, "audit.undo" in rights].get()

    async def _count_overdue(self) -> int:
        seconds = self._keeper.settings.delivery_warning_seconds
        return len(await feed.read_overdue(self._keeper.store, seconds * 1000, MOST_OVERDUE))

    async def read_checks(self) -> list[HealthCheck]:
        """Return the quick health checks. All viewers share a result that is at most a few seconds old."""
        try:
            return await self._checks[LANGUAGE.get()].get()
        except DatabaseUnavailable as away:
            return [
                HealthCheck(
                    gettext("Database"), DOWN, gettext("Not accepting writes. The log has the reason."), str(away)
                )
            ]

    @contextmanager
    def count_stream(self, account_id: str) -> Generator[None]:
        self.streams[account_id] += 1
        try:
            yield
        finally:
            self.streams -= Counter([account_id])  # subtracting a Counter also removes accounts with a count of 0

    async def _take_snapshot(self, *, accounts: bool, undoes: bool) -> OverviewSnapshot:
        """Load what the home page shows. `undoes`: the viewers may undo changes, so single ones get an Undo button."""
        keeper = self._keeper
        online, characters = await keeper.lists.count(ONLINE), await keeper.lists.count(NAMES)
        found = await latest_changes.load(keeper, accounts=accounts)
        shown = (
            console_pages.get_environment()
            .get_template("insight/latest_changes.html")
            .render(changes=found.lines, undone=found.undone, accounts=accounts, undoes=undoes)
        )
        return OverviewSnapshot(online, characters, await keeper.lists.count(USERS) if accounts else None, shown)

    async def _run_checks(self) -> list[HealthCheck]:
        await self._readiness.get()
        store = self._keeper.store
        stuck = await store.value(mails.SQL.any_stuck, STUCK_MAIL_MS) is not None
        lapsed = await presence.has_lapsed(store, LAPSED_LEASE_MS)
        return [
            HealthCheck(gettext("Database"), GOOD, gettext("Accepting writes")),
            _check_outbox(stuck=stuck, is_set_up=bool(self._keeper.settings.smtp_url)),
            _check_leases(lapsed=lapsed),
            *await self._check_standbys(),
        ]

    async def _check_standbys(self) -> list[HealthCheck]:
        """Check the number of synchronous standbys, if the setting synchronous_standbys is set."""
        expected = self._keeper.settings.synchronous_standbys
        if not expected:
            return []
        shortage = await find_standby_shortage(self._keeper.store, expected)
        said = shortage or gettext("As many standbys as the setting requires")
        return [HealthCheck(gettext("Synchronous standbys"), STRAINED if shortage else GOOD, said)]


def name_status(status: str) -> str:
    return STATUS_TITLES()[status]


def find_worst_status(checks: list[HealthCheck]) -> str:
    """Return the worst status of all health checks."""
    return max((each.status for each in checks), key=(GOOD, STRAINED, DOWN).index)


def _check_outbox(*, stuck: bool, is_set_up: bool) -> HealthCheck:
    if not stuck:
        return HealthCheck(gettext("Outbox"), GOOD, gettext("No mail is overdue"))
    advice = gettext("See the page Mail.") if is_set_up else gettext("Mail is not configured: set GAMEKEEPER_SMTP_URL.")
    wait = gettext("A mail has waited for more than %(minutes)s minutes.", minutes=STUCK_MAIL_MS // 60_000)
    return HealthCheck(gettext("Outbox"), STRAINED, f"{wait} {advice}")


def _check_leases(*, lapsed: bool) -> HealthCheck:
    if not lapsed:
        return HealthCheck(gettext("Game servers"), GOOD, gettext("No expired leases"))
    return HealthCheck(
        gettext("Game servers"),
        STRAINED,
        gettext(
            "The lease of a game server has expired, but its players are still online: the background jobs do not run. "
            "Look at the log, and restart the service."
        ),
    )


formats.FILTERS["health_title"] = name_status


def _sample_online(services: Services) -> Run | None:
    return cast("Mapping[type, Monitor]", services.live)[Monitor].sample if services.live else None


SHARED = (Monitor,)
JOBS = (Job("samples of online players", SAMPLE_SECONDS, _sample_online),)
