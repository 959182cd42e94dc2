"""How the service is: what is cheap to know at once, and what `gamekeeper doctor` finds when it is asked."""

import os
import socket
from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper import __version__
from gamekeeper.console import live, pages, pulse, sessions
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.settings import Settings, describe
from gamekeeper.store import erasures, feed, mails, migrate

PAGE = "/console/health"
LEFT_MOST = 100_000  # changes to blank that are counted: some milliseconds
DAY_MS = 24 * 60 * 60 * 1000
KINDS = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
KEPT = ("ledger_days", "key_days", "token_days", "mail_days")
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


class Fact(NamedTuple):
    what: str
    value: str


class Kept(NamedTuple):
    """A setting that says for how long something is kept."""

    setting: str
    days: int
    meaning: str


async def show(request: Request) -> Response:
    """`asked` names the process whose doctor was asked to look: another one may answer."""
    kept = live.of(request)
    checks = await kept.pulse.checks()
    return pages.render(
        request,
        "health.html",
        checks=checks,
        word=pulse.word(checks),
        facts=await facts(request),
        retention=retention(request.services.keeper.settings),
        checkup=kept.checkup,
        process=process(),
        asked=request.query.get("asked", "") or process(),
    )


async def examine(request: Request, raw: bytes) -> Response:
    """Has the whole doctor look, and comes back at once."""
    sessions.own_fields(request, raw)
    live.of(request).checkup.begin()
    return pages.redirect(f"{PAGE}?{urlencode({'asked': process()})}")


def process() -> str:
    """This one, told apart from the other workers and from those of other instances."""
    return f"{os.getpid()}@{socket.gethostname()}"


async def facts(request: Request) -> list[Fact]:
    store = request.services.keeper.store
    newest = max((await migrate.read_applied(store)).values())
    standing = await feed.read_state(store)
    waiting, failed = await mails.count_open(store, DAY_MS)
    return [
        Fact("Version", __version__),
        Fact("Up for", span(request.services.metrics.request_rates.uptime_ms // 1000)),
        Fact("Database", KINDS[store.engine]),
        Fact("Schema", f"{newest.number:04} {newest.name}"),
        Fact("Newest change", f"{standing.last:,}"),
        Fact("Changes trimmed up to", f"{standing.trimmed:,}" if standing.trimmed else "none"),
        Fact("Changes of erased accounts to blank", _counted(await erasures.count_left(store, LEFT_MOST), LEFT_MOST)),
        Fact("Mails waiting", _counted(waiting, mails.COUNT_LIMIT)),
        Fact("Mails refused in a day", _counted(failed, mails.COUNT_LIMIT)),
        Fact("Processes that serve", str(request.services.keeper.settings.workers)),
        Fact("Pages watching here", str(live.of(request).pulse.watching.total())),
    ]


def retention(settings: Settings) -> list[Kept]:
    return [Kept(name, getattr(settings, name), describe(name)) for name in KEPT]


def span(seconds: int) -> str:
    """The two largest units."""
    found: list[str] = []
    for length, unit in UNITS:
        count, seconds = divmod(seconds, length)
        if count or found:
            found.append(f"{count} {unit}")
    return " ".join(found[:2]) or "0 s"


def _counted(number: int, most: int) -> str:
    """A number that was counted up to `most`."""
    return f"{number:,} or more" if number >= most else f"{number:,}"
