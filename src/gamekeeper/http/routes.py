"""The whole API: the operations that the handlers' modules declare. `gamekeeper operations` prints them."""

from gamekeeper.http import (
    credentials,
    feed,
    finder,
    gameobjects,
    health,
    history,
    info,
    items,
    link,
    mails,
    metrics,
    moderation,
    pages,
    players,
    powers,
    spells,
    tokens,
    users,
    variables,
)
from gamekeeper.http.operation import NO_TOKEN, READ, Operation, Route

GROUPS = tuple(
    module.GROUP
    for module in (
        *(players, variables, items, spells, users, moderation, powers, credentials, tokens, info, gameobjects),
        *(link, feed, history, mails, finder, pages, health),
    )
)
_declared = [operation for group in GROUPS for operation in group.operations]
# the spec's, in its order, then ours
ROUTES: tuple[Operation, ...] = tuple(sorted(_declared, key=lambda each: each.number or len(_declared)))
# for the operator's Prometheus, if there is one: not part of the API
METRICS = Route(method="GET", path="/metrics", permissions=NO_TOKEN, access=READ, handler=metrics.show)
