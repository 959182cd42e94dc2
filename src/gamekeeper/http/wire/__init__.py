"""All JSON shapes of the API, one module per noun. Only here are the JSON field names: they are the attribute names."""

from collections.abc import Mapping
from types import ModuleType

from msgspec import Struct

from gamekeeper.http.access import credential_shapes as api_keys
from gamekeeper.http.access import role_shapes as invitations
from gamekeeper.http.accounts import account_shapes as mails
from gamekeeper.http.audit import bulk_shapes as bulk
from gamekeeper.http.audit import change_shapes as sides
from gamekeeper.http.audit import history_shapes as approvals
from gamekeeper.http.contract import body_rules as strict
from gamekeeper.http.contract import shapes as errors
from gamekeeper.http.contract.shapes import encode
from gamekeeper.http.insight import board_shapes as boards
from gamekeeper.http.insight import economy_shapes as activity
from gamekeeper.http.lists import search_shapes as account_filters
from gamekeeper.http.players import player_shapes as items
from gamekeeper.http.players import variable_shapes as variables
from gamekeeper.http.world import catalogue_shapes as catalogue
from gamekeeper.http.world import info_shapes as config
from gamekeeper.http.world import link_shapes as commands

__all__ = [
    "SHAPES",
    "account_filters",
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
    "public",
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
