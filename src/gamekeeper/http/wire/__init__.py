"""Every JSON shape, by noun, attributes spelt exactly as on the wire. Nothing else knows how a field is spelt."""

from collections.abc import Mapping
from types import ModuleType

from msgspec import Struct

from gamekeeper.http.wire import (
    catalogue,
    errors,
    feed,
    finder,
    history,
    info,
    items,
    link,
    lists,
    mails,
    moderation,
    players,
    powers,
    scalars,
    sides,
    spells,
    strict,
    tokens,
    users,
    variables,
)
from gamekeeper.http.wire.scalars import encode

__all__ = [
    "SHAPES",
    "catalogue",
    "encode",
    "errors",
    "feed",
    "finder",
    "history",
    "info",
    "items",
    "link",
    "lists",
    "mails",
    "moderation",
    "players",
    "powers",
    "scalars",
    "sides",
    "spells",
    "strict",
    "tokens",
    "users",
    "variables",
]
SHAPES: Mapping[str, type[Struct]] = {  # by name, which is also that of the component in the OpenAPI document
    name: shape
    for module in tuple(globals().values())
    if isinstance(module, ModuleType)
    for name, shape in vars(module).items()
    if isinstance(shape, type) and issubclass(shape, Struct) and shape is not Struct
}
