"""The health page: quick checks and facts, and on request the findings of `gamekeeper doctor`.

A page of its own lists the commands that no game server has acknowledged in time.
"""

import os
import socket
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper import __version__
from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.menu import ADMINISTRATION, MANAGE, SECURITY
from gamekeeper.console.frame.routes import form_route, page_route
from gamekeeper.console.frame.texts import gettext, translate_message
from gamekeeper.console.insight import monitor
from gamekeeper.console.insight.monitor import DoctorRun, Monitor
from gamekeeper.ground.instants import DAY_MS
from gamekeeper.ground.settings import Settings, describe
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import erasures, mails
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import migrate
from gamekeeper.store.world import feed

PAGE = "/console/health"
MAX_LEFT = 100_000  # the count of changes still to be blanked after erasures stops here: counting more is slow
ENGINE_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
RETENTION_SETTINGS = ("ledger_days", "key_days", "token_days", "mail_days")
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


class RetentionRow(NamedTuple):
    """A setting that limits how many days some kind of data is kept."""

    setting: str
    days: int
    meaning: str


async def show(request: Request) -> Response:
    """Show the health page. The parameter `asked` names the worker process in which the doctor was started."""
    heart = pages.get_shared(request, Monitor)
    checks = await heart.read_checks()
    return pages.render(
        request,
        "insight/health.html",
        checks=checks,
        word=monitor.find_worst_status(checks),
        facts=await load_facts(request),
        retention=list_retention(request.services.keeper.settings),
        checkup=pages.get_shared(request, DoctorRun),
        process=process_name(),
        asked=request.query.get("asked", "") or process_name(),
    )


async def start_doctor(request: Request, raw: bytes) -> Response:
    """Start the doctor in the background and redirect to the health page."""
    sessions.verify_form(request, raw)
    pages.get_shared(request, DoctorRun).start()
    return pages.redirect(f"{PAGE}?{urlencode({'asked': process_name()})}")


def process_name() -> str:
    """Return a name for this worker process that is unique among all hosts: process id and host name."""
    return f"{os.getpid()}@{socket.gethostname()}"


async def load_facts(request: Request) -> list[Fact]:
    store = request.services.keeper.store
    newest = max((await migrate.read_applied(store)).values())
    standing = await ledger.read_state(store)
    left = await erasures.count_left(store, MAX_LEFT)
    waiting, failed = await mails.count_open(store, DAY_MS)
    return [
        Fact(gettext("Version"), __version__),
        Fact(gettext("Uptime"), format_duration(request.services.metrics.request_rates.uptime_ms // 1000)),
        Fact(gettext("Database"), ENGINE_NAMES[store.engine]),
        Fact(gettext("Schema"), f"{newest.number:04} {newest.name}"),
        Fact(gettext("Newest change"), format_number(standing.last)),
        Fact(
            gettext("Changes deleted up to"), format_number(standing.trimmed) if standing.trimmed else gettext("none")
        ),
        Fact(gettext("Changes with personal data still to erase"), _format_count(left, MAX_LEFT)),
        Fact(gettext("Waiting mails"), _format_count(waiting, mails.COUNT_LIMIT)),
        Fact(gettext("Failed mails of the last day"), _format_count(failed, mails.COUNT_LIMIT)),
        Fact(gettext("Worker processes"), str(request.services.keeper.settings.workers)),
        Fact(gettext("Live pages of this process"), str(pages.get_shared(request, Monitor).streams.total())),
    ]


def list_retention(settings: Settings) -> list[RetentionRow]:
    return [
        RetentionRow(name, getattr(settings, name), translate_message(describe(name))) for name in RETENTION_SETTINGS
    ]


def format_duration(seconds: int) -> str:
    """Format a duration with its two largest units, such as `3 d 4 h`."""
    found: list[str] = []
    for length, unit in UNITS:
        count, seconds = divmod(seconds, length)
        if count or found:
            found.append(f"{count} {unit}")
    return " ".join(found[:2]) or "0 s"


def _format_count(number: int, most: int) -> str:
    """Format a count that stopped at `most`: add `or more` if the limit was reached."""
    return gettext("%(count)s or more", count=format_number(number)) if number >= most else format_number(number)


async def show_overdue(request: Request) -> Response:
    """Show the overdue commands, the newest first."""
    keeper = request.services.keeper
    seconds = keeper.settings.delivery_warning_seconds
    found = await feed.read_overdue(keeper.store, seconds * 1000, monitor.MOST_OVERDUE)
    return pages.render(request, "insight/deliveries.html", found=found, seconds=seconds)


PAGES = (
    page_route("/health", show)
    .in_menu("Health", ADMINISTRATION, 60, "health", ("/console/deliveries",))
    .with_help("State of the server and its database. The doctor compares all data with the audit log.", "operating"),
    form_route("/health/examine", start_doctor, MANAGE),
    page_route("/deliveries", show_overdue, SECURITY).with_help(
        "Commands that no game server has acknowledged in time. Check that the game server runs and is connected.",
        "link",
    ),
)
