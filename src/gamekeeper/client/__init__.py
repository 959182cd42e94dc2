"""Gamekeeper from Python: `Client` blocks, `AsyncClient` awaits; docs/client.md shows both."""

try:
    from gamekeeper.client.clients import AsyncClient, Client
except ModuleNotFoundError as missing:
    if missing.name != "httpx":
        raise
    raise ModuleNotFoundError(
        "gamekeeper.client needs httpx. Install it with: pip install 'gamekeeper[client]'", name="httpx"
    ) from missing

from gamekeeper.client import errors
from gamekeeper.client.call import WriteOptions
from gamekeeper.client.exchange import Patience
from gamekeeper.client.shapes import (
    ZERO,
    Bag,
    Change,
    Changes,
    ItemEntry,
    ItemObject,
    Items,
    ItemSlot,
    KnownSpell,
    NamedBag,
    NamedEntry,
    NamedSlot,
    Page,
    Player,
    Power,
    PutPlayer,
    Rank,
    RankedPlayer,
    Token,
    User,
    Variable,
    VariableEntry,
    VariableObject,
)

__all__ = [
    "ZERO",
    "AsyncClient",
    "Bag",
    "Change",
    "Changes",
    "Client",
    "ItemEntry",
    "ItemObject",
    "ItemSlot",
    "Items",
    "KnownSpell",
    "NamedBag",
    "NamedEntry",
    "NamedSlot",
    "Page",
    "Patience",
    "Player",
    "Power",
    "PutPlayer",
    "Rank",
    "RankedPlayer",
    "Token",
    "User",
    "Variable",
    "VariableEntry",
    "VariableObject",
    "WriteOptions",
    "errors",
]
