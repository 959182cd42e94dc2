"""All operations of the API, collected from the handlers' modules. `gamekeeper operations` prints them."""

from gamekeeper.http.access import api_keys, roles, second_factors, security_log, tokens
from gamekeeper.http.accounts import accounts, credentials, invitations, mails, moderation, notes, person
from gamekeeper.http.audit import approvals, bulk_jobs, history
from gamekeeper.http.contract import openapi
from gamekeeper.http.contract.operation import ANY_TOKEN, NO_TOKEN, READ, READ_PLAYERS, Operation, Route
from gamekeeper.http.insight import activity, boards, economy, health, signals
from gamekeeper.http.lists import filters, search
from gamekeeper.http.players import items, players, spells, variables
from gamekeeper.http.world import catalogue, commands, feed, guilds, info, link, logs, server_variables

# in the order of the documents
GROUPS = (
    players.GROUP,
    filters.PLAYERS_GROUP,
    variables.GROUP,
    server_variables.GROUP,
    guilds.VARIABLES_GROUP,
    items.GROUP,
    spells.GROUP,
    accounts.GROUP,
    filters.ACCOUNTS_GROUP,
    person.GROUP,
    moderation.GROUP,
    notes.GROUP,
    signals.GROUP,
    commands.GROUP,
    commands.CHAT_GROUP,
    roles.POWERS_GROUP,
    roles.GROUP,
    roles.STAFF_GROUP,
    invitations.GROUP,
    second_factors.GROUP,
    api_keys.GROUP,
    credentials.GROUP,
    tokens.GROUP,
    info.GROUP,
    catalogue.GROUP,
    guilds.GROUP,
    link.GROUP,
    feed.GROUP,
    commands.DELIVERIES_GROUP,
    logs.GROUP,
    history.GROUP,
    economy.GROUP,
    security_log.GROUP,
    approvals.GROUP,
    boards.GROUP,
    bulk_jobs.GROUP,
    mails.GROUP,
    activity.GROUP,
    search.GROUP,
    openapi.GROUP,
    health.GROUP,
)
_declared = [operation for group in GROUPS for operation in group.operations]
# all operations: first those of the API's specification, by their number there, then the others
ROUTES: tuple[Operation, ...] = tuple(sorted(_declared, key=lambda each: each.number or len(_declared)))
# the metrics page for Prometheus, which is not part of the API
METRICS = Route(method="GET", path="/metrics", permissions=NO_TOKEN, access=READ, handler=health.show_metrics)
# requests that are refused as in the engine, so they are not operations
REFUSED: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/v1/gameobjects/time",
        permissions=READ_PLAYERS,
        access=READ,
        handler=catalogue.refuse_time_list,
    ),
    *(
        Route(
            method="POST",
            path=f"/api/v1/{noun}/[lookupKey]/admin/[act]",
            permissions=ANY_TOKEN,
            access=READ,
            handler=commands.refuse_act,
        )
        for noun in ("players", "users")
    ),
)


def list_operations() -> list[dict[str, str]]:
    """List every operation, for the tables of docs/operations.md and the command line: column → cell, in order."""
    return [
        {
            "number": "" if each.number is None else str(each.number),
            "method": each.method,
            "path": each.path,
            "name": each.name,
            "access": each.access.value,
            "permissions": _name_permissions(each.permissions),
            "summary": each.summary,
        }
        for each in ROUTES
    ]


def _name_permissions(needed: frozenset[str] | None) -> str:
    return "no token" if needed is None else ", ".join(sorted(needed)) or "any token"
