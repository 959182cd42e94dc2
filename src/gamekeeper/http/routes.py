"""All operations of the API, collected from the handlers' modules. `gamekeeper operations` prints them."""

from gamekeeper.http import (
    account_filters,
    activity,
    api_keys,
    approvals,
    boards,
    bulk,
    chat,
    commands,
    credentials,
    deliveries,
    economy,
    feed,
    finder,
    gameobjects,
    guild_variables,
    guilds,
    health,
    history,
    info,
    invitations,
    items,
    link,
    logs,
    mails,
    metrics,
    moderation,
    notes,
    pages,
    person,
    player_filters,
    players,
    powers,
    roles,
    second_factors,
    security,
    server_variables,
    signals,
    spells,
    staff,
    tokens,
    users,
    variables,
)
from gamekeeper.http.operation import ANY_TOKEN, NO_TOKEN, READ, READ_PLAYERS, Operation, Route

GROUPS = tuple(
    module.GROUP
    for module in (
        *(
            players,
            player_filters,
            variables,
            server_variables,
            guild_variables,
            items,
            spells,
            users,
            account_filters,
            person,
            moderation,
            notes,
            signals,
            commands,
            chat,
            powers,
            roles,
            staff,
            invitations,
        ),
        *(second_factors, api_keys),
        *(
            credentials,
            tokens,
            info,
            gameobjects,
            guilds,
            link,
            feed,
            deliveries,
            logs,
            history,
            economy,
            security,
            approvals,
            boards,
            bulk,
            mails,
            activity,
            finder,
            pages,
            health,
        ),
    )
)
_declared = [operation for group in GROUPS for operation in group.operations]
# all operations: first those of the API's specification, by their number there, then the others
ROUTES: tuple[Operation, ...] = tuple(sorted(_declared, key=lambda each: each.number or len(_declared)))
# the metrics page for Prometheus, which is not part of the API
METRICS = Route(method="GET", path="/metrics", permissions=NO_TOKEN, access=READ, handler=metrics.show_metrics)
# requests that are refused as in the engine, so they are not operations
REFUSED: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/api/v1/gameobjects/time",
        permissions=READ_PLAYERS,
        access=READ,
        handler=gameobjects.refuse_time_list,
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
