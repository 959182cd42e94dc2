"""The health page: quick checks and facts, and on request the findings of `gamekeeper doctor`."""

import os
import socket
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper import __version__
from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.texts import gettext, translate_message
from gamekeeper.console.insight import monitor
from gamekeeper.ground.settings import Settings, describe
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import erasures, mails
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import migrate

PAGE = "/console/health"
MAX_LEFT = 100_000  # the count of changes still to be blanked after erasures stops here: counting more is slow
DAY_MS = 24 * 60 * 60 * 1000
ENGINE_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
RETENTION_SETTINGS = ("ledger_days", "key_days", "token_days", "mail_days")
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


class HealthFact(NamedTuple):
    label: str
    value: str


class RetentionRow(NamedTuple):
    """A setting that limits how many days some kind of data is kept."""

    setting: str
    days: int
    meaning: str


async def show(request: Request) -> Response:
    """Show the health page. The parameter `asked` names the worker process in which the doctor was started."""
    kept = monitor.get_state(request)
    checks = await kept.monitor.read_checks()
    return pages.render(
        request,
        "insight/health.html",
        checks=checks,
        word=monitor.find_worst_status(checks),
        facts=await load_facts(request),
        retention=list_retention(request.services.keeper.settings),
        checkup=kept.doctor,
        process=process_name(),
        asked=request.query.get("asked", "") or process_name(),
    )


async def start_doctor(request: Request, raw: bytes) -> Response:
    """Start the doctor in the background and redirect to the health page."""
    sessions.verify_form(request, raw)
    monitor.get_state(request).doctor.start()
    return pages.redirect(f"{PAGE}?{urlencode({'asked': process_name()})}")


def process_name() -> str:
    """Return a name for this worker process that is unique among all hosts: process id and host name."""
    return f"{os.getpid()}@{socket.gethostname()}"


async def load_facts(request: Request) -> list[HealthFact]:
    store = request.services.keeper.store
    newest = max((await migrate.read_applied(store)).values())
    standing = await ledger.read_state(store)
    left = await erasures.count_left(store, MAX_LEFT)
    waiting, failed = await mails.count_open(store, DAY_MS)
    return [
        HealthFact(gettext("Version"), __version__),
        HealthFact(gettext("Uptime"), format_duration(request.services.metrics.request_rates.uptime_ms // 1000)),
        HealthFact(gettext("Database"), ENGINE_NAMES[store.engine]),
        HealthFact(gettext("Schema"), f"{newest.number:04} {newest.name}"),
        HealthFact(gettext("Newest change"), format_number(standing.last)),
        HealthFact(
            gettext("Changes deleted up to"), format_number(standing.trimmed) if standing.trimmed else gettext("none")
        ),
        HealthFact(gettext("Changes with personal data still to erase"), _format_count(left, MAX_LEFT)),
        HealthFact(gettext("Waiting mails"), _format_count(waiting, mails.COUNT_LIMIT)),
        HealthFact(gettext("Failed mails of the last day"), _format_count(failed, mails.COUNT_LIMIT)),
        HealthFact(gettext("Worker processes"), str(request.services.keeper.settings.workers)),
        HealthFact(gettext("Live pages of this process"), str(monitor.get_state(request).monitor.streams.total())),
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
