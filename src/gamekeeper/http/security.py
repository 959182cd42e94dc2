"""The security log: list sign-ins, failed guesses, and changes of credentials and roles."""

import csv
import io

import msgspec

from gamekeeper.game import security
from gamekeeper.game.security import EventPage
from gamekeeper.http import samples, wire
from gamekeeper.http.history import format_cell
from gamekeeper.http.instants import format_instant
from gamekeeper.http.mail_cursor import MailCursor
from gamekeeper.http.operation import NO_STORE, READ, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.security import SecurityFilter, SecurityRow

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
    refusals=(),
    example_answer=wire.security.SecurityEvents([samples.SECURITY_EVENT], samples.MAIL_CURSOR),
)
async def list_events(request: Request, query: wire.security.SecurityQuery) -> bytes | Response:
    """List events of the security log, newest first, with filters; `format=csv` for a table."""
    wanted = SecurityFilter(query.user or None, query.kind or None, query.since, query.to)
    page = await security.load_page(request.services.keeper.store, wanted, query.before, query.limit)
    following = str(MailCursor(*page.next)) if page.next else None
    if query.format == "csv":
        more = [] if following is None else [(b"x-next", following.encode())]
        return Response(make_csv(page), headers=(ATTACHMENT, *more), content_type=b"text/csv; charset=utf-8")
    return wire.encode(wire.security.SecurityEvents([make_event(each) for each in page.events], following))


def make_event(row: SecurityRow) -> wire.security.SecurityEvent:
    whose = (row.user_id, row.user, row.actor_id, row.actor)
    details = msgspec.json.decode(row.details, type=wire.security.EventDetails) if row.details else None
    return wire.security.SecurityEvent(
        row.id, format_instant(row.at), row.kind, *whose, row.address, row.browser, row.credential_id, details
    )


def make_csv(page: EventPage) -> bytes:
    """Make a CSV table of events. Cells that a spreadsheet could run as a formula get a leading apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(wire.security.SecurityEvent.__struct_fields__)
    for row in page.events:
        writer.writerow([format_cell(value) for value in msgspec.structs.astuple(make_event(row))])
    return out.getvalue().encode()
