"""The security log: list sign-ins, failed guesses, and changes of credentials and roles."""

from functools import partial

import msgspec

from gamekeeper.game.access import security_log
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import Group, needs
from gamekeeper.http.server.paging import answer_table
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access.security_log import SecurityFilter, SecurityRow
from gamekeeper.store.engine.interface import Reading

GROUP = Group("Security", "The security log: sign-ins, failed guesses, credentials and roles.", place=330)
GROUPS = (GROUP,)


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
    load = partial(security_log.load_pages, wanted=wanted, before=query.before, limit=limit)
    file, is_long = "security.csv" if query.format == "csv" else None, limit > security_log.PIECE_ROWS
    events = credential_shapes.SecurityEvents
    return await answer_table(request, load, lambda page: map(make_event, page.events), events, file, long=is_long)


async def _find_user_id(tx: Reading, key: str) -> str:
    """Return the id of an account. An unknown id is no error: it has no events."""
    return lookup.parse_guid(key) or (await lookup.find_user(tx, key)).id


def make_event(row: SecurityRow) -> credential_shapes.SecurityEvent:
    whose = (row.user_id, row.user, row.actor_id, row.actor)
    details = msgspec.json.decode(row.details, type=credential_shapes.EventDetails) if row.details else None
    return credential_shapes.SecurityEvent(
        row.id, format_instant(row.at), row.kind, *whose, row.address, row.browser, row.credential_id, details
    )
