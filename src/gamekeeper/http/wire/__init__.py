"""All JSON shapes of the API, one module per noun. Only here are the JSON field names: they are the attribute names."""

from collections.abc import Mapping
from types import ModuleType

from msgspec import Struct

from gamekeeper.http.wire import (
    activity,
    api_keys,
    approvals,
    boards,
    bulk,
    catalogue,
    commands,
    config,
    deliveries,
    economy,
    errors,
    feed,
    finder,
    guilds,
    history,
    info,
    invitations,
    items,
    link,
    lists,
    logs,
    mails,
    moderation,
    notes,
    person,
    player_filters,
    players,
    powers,
    roles,
    scalars,
    second_factors,
    security,
    server_metrics,
    sides,
    signals,
    spells,
    staff,
    strict,
    tokens,
    users,
    variables,
)
from gamekeeper.http.wire.scalars import encode

__all__ = [
    "SHAPES",
    "activity",
    "api_keys",
    "approvals",
    "boards",
    "bulk",
    "catalogue",
    "commands",
    "config",
    "deliveries",
    "economy",
    "encode",
    "errors",
    "feed",
    "finder",
    "guilds",
    "history",
    "info",
    "invitations",
    "items",
    "link",
    "lists",
    "logs",
    "mails",
    "moderation",
    "notes",
    "person",
    "player_filters",
    "players",
    "powers",
    "roles",
    "scalars",
    "second_factors",
    "security",
    "server_metrics",
    "sides",
    "signals",
    "spells",
    "staff",
    "strict",
    "tokens",
    "users",
    "variables",
]
SHAPES: Mapping[str, type[Struct]] = {  # shapes by name; the OpenAPI document uses the same names for its components
    name: shape
    for module in tuple(globals().values())
    if isinstance(module, ModuleType)
    for name, shape in vars(module).items()
    if isinstance(shape, type) and issubclass(shape, Struct) and shape is not Struct
}
