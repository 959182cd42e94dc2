"""The security log: list sign-ins, failed guesses, and changes of credentials and roles."""

import csv
import io
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import astuple

from gamekeeper.game.access import security_log
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import Group, needs
from gamekeeper.http.server.paging import CSV_BATCH, fill_list, format_cell
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access.security_log import SecurityFilter, SecurityRow
from gamekeeper.store.engine.interface import Reading

ReadCsv = Callable[[Reading, Pause], Coroutine[Any, Any, tuple[bytes, tuple[int, str] | None]]]

GROUP = Group("Security", "The security log: sign-ins, failed guesses, credentials and roles.", place=330)
GROUPS = (GROUP,)
ATTACHMENT = (b"content-disposition", b'attachment; filename="security.csv"')


@GROUP.operation(
    "GET /api/keeper/v1/security",
    permissions=needs("audit.read", "users.query"),
    answer=credential_shapes.SecurityEvents,
    rows=shapes.LIMITS["csv"][1],
    gated=True,
    refusals=(no.NoSuchUser,),
)
async def list_security_events(request: Request, query: credential_shapes.SecurityQuery) -> bytes | Response:
    """List events of the security log, newest first, with filters; `format=csv` for a table."""
    store = request.services.keeper.store
    user_id = await _find_user_id(store, query.user) if query.user else None
    wanted = SecurityFilter(user_id, query.kind or None, query.since, query.to)
    usual, most = shapes.LIMITS[query.format]
    limit = min(query.limit or usual, most)
    if query.format == "csv":
        return await _answer_csv(request, partial(_read_csv, wanted=wanted, before=query.before, limit=limit), limit)
    read = partial(_read_json, wanted=wanted, before=query.before, limit=limit)
    found = await request.run_until_disconnect(request.read_in_pieces(read, long=limit > security_log.PIECE_ROWS))
    return b"" if found is None else found  # nobody reads an empty answer: the client has disconnected


async def _read_json(tx: Reading, rest: Pause, wanted: SecurityFilter, before: tuple[int, str], limit: int) -> bytes:
    events, following = list[SecurityRow](), None
    async for part in security_log.load_pages(tx, wanted, before, limit):
        events += part.events
        following = str(MailCursor(*part.next)) if part.next else None
        await rest()
    return await fill_list(shapes.encode(credential_shapes.SecurityEvents([], following)), events, _encode_events, rest)


def _encode_events(some: Sequence[SecurityRow]) -> bytes:
    return shapes.encode([make_event(each) for each in some])


async def _find_user_id(tx: Reading, key: str) -> str:
    """Return the id of an account. An unknown id is no error: it has no events."""
    return lookup.parse_guid(key) or (await lookup.find_user(tx, key)).id


async def _answer_csv(request: Request, read: ReadCsv, limit: int) -> bytes | Response:
    found = await request.run_until_disconnect(request.read_in_pieces(read, long=limit > security_log.PIECE_ROWS))
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
    writer.writerow(credential_shapes.SecurityEvent.__struct_fields__)
    async for part in security_log.load_pages(tx, wanted, before, limit):
        for start in range(0, len(part.events), CSV_BATCH):
            await rest()
            some = part.events[start : start + CSV_BATCH]
            writer.writerows([format_cell(value) for value in astuple(make_event(row))] for row in some)
        following = part.next
    return out.getvalue().encode(), following


def make_event(row: SecurityRow) -> credential_shapes.SecurityEvent:
    whose = (row.user_id, row.user, row.actor_id, row.actor)
    details = msgspec.json.decode(row.details, type=credential_shapes.EventDetails) if row.details else None
    return credential_shapes.SecurityEvent(
        row.id, format_instant(row.at), row.kind, *whose, row.address, row.browser, row.credential_id, details
    )
