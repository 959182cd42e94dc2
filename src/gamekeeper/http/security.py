"""The security log: list sign-ins, failed guesses, and changes of credentials and roles."""

import csv
import io
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import astuple

from gamekeeper.game import lookup, security
from gamekeeper.game import refusals as no
from gamekeeper.game.history import Pause
from gamekeeper.http import samples, wire
from gamekeeper.http.history import CSV_BATCH, format_cell
from gamekeeper.http.instants import format_instant
from gamekeeper.http.mail_cursor import MailCursor
from gamekeeper.http.operation import NO_STORE, READ, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.engine import Reading
from gamekeeper.store.security import SecurityFilter, SecurityRow

ReadCsv = Callable[[Reading, Pause], Coroutine[Any, Any, tuple[bytes, tuple[int, str] | None]]]

GROUP = Group("Security", "The security log: sign-ins, failed guesses, credentials and roles.")
ATTACHMENT = (b"content-disposition", b'attachment; filename="security.csv"')


@GROUP.operation(
    "GET /api/keeper/v1/security",
    name="list_security_events",
    permissions=needs("audit.read", "users.query"),
    access=READ,
    cache=NO_STORE,
    query=wire.security.SecurityQuery,
    answer=wire.security.SecurityEvents,
    rows=wire.history.LIMITS["csv"][1],
    gated=True,
    refusals=(no.NoSuchUser, no.TooManyLongReads),
    example_answer=wire.security.SecurityEvents([samples.SECURITY_EVENT], samples.MAIL_CURSOR),
)
async def list_events(request: Request, query: wire.security.SecurityQuery) -> bytes | Response:
    """List events of the security log, newest first, with filters; `format=csv` for a table."""
    store = request.services.keeper.store
    user_id = await _find_user_id(store, query.user) if query.user else None
    wanted = SecurityFilter(user_id, query.kind or None, query.since, query.to)
    usual, most = wire.history.LIMITS[query.format]
    limit = min(query.limit or usual, most)
    if query.format == "csv":
        return await _answer_csv(request, partial(_read_csv, wanted=wanted, before=query.before, limit=limit), limit)
    page = await store.read(lambda tx: security.load_page(tx, wanted, query.before, limit))
    following = str(MailCursor(*page.next)) if page.next else None
    return wire.encode(wire.security.SecurityEvents([make_event(each) for each in page.events], following))


async def _find_user_id(tx: Reading, key: str) -> str:
    """Return the id of an account. An unknown id is no error: it has no events."""
    return lookup.parse_guid(key) or (await lookup.find_user(tx, key)).id


async def _answer_csv(request: Request, read: ReadCsv, limit: int) -> bytes | Response:
    found = await request.run_until_disconnect(request.read_in_pieces(read, long=limit > security.PIECE_ROWS))
    if found is None:
        return b""  # nobody reads this answer: the client has disconnected
    content, following = found
    more = [] if following is None else [(b"x-next", str(MailCursor(*following)).encode())]
    return Response(content, headers=(ATTACHMENT, *more), content_type=b"text/csv; charset=utf-8")


async def _read_csv(
    tx: Reading, rest: Pause, wanted: SecurityFilter, before: tuple[int, str], limit: int
) -> tuple[bytes, tuple[int, str] | None]:
    """Make a CSV table of events. Cells that a spreadsheet could run as a formula get a leading apostrophe."""
    out, following = io.StringIO(newline=""), None
    writer = csv.writer(out)
    writer.writerow(wire.security.SecurityEvent.__struct_fields__)
    async for part in security.load_pages(tx, wanted, before, limit):
        for start in range(0, len(part.events), CSV_BATCH):
            await rest()
            some = part.events[start : start + CSV_BATCH]
            writer.writerows([format_cell(value) for value in astuple(make_event(row))] for row in some)
        following = part.next
    return out.getvalue().encode(), following


def make_event(row: SecurityRow) -> wire.security.SecurityEvent:
    whose = (row.user_id, row.user, row.actor_id, row.actor)
    details = msgspec.json.decode(row.details, type=wire.security.EventDetails) if row.details else None
    return wire.security.SecurityEvent(
        row.id, format_instant(row.at), row.kind, *whose, row.address, row.browser, row.credential_id, details
    )
