"""Python client for Gamekeeper: `Client` is blocking, `AsyncClient` runs on asyncio. docs/client.md is the guide."""

from gamekeeper_client import errors
from gamekeeper_client.call import ZERO
from gamekeeper_client.client import OPERATIONS, AsyncClient, Client
from gamekeeper_client.exchange import Patience
from gamekeeper_client.feed import Change, Changes
from gamekeeper_client.gameobjects import ItemObject, VariableObject
from gamekeeper_client.items import Bag, Items, ItemSlot, NamedBag, NamedSlot
from gamekeeper_client.link import ItemEntry, ItemPicture, NamedEntry, PutPlayer, VariableEntry
from gamekeeper_client.paging import Page
from gamekeeper_client.players import Player, Rank, RankedPlayer
from gamekeeper_client.spells import KnownSpell
from gamekeeper_client.tokens import Token
from gamekeeper_client.users import Power, User
from gamekeeper_client.variables import PlayerVariable, Variable

__all__ = [
    "OPERATIONS",
    "ZERO",
    "AsyncClient",
    "Bag",
    "Change",
    "Changes",
    "Client",
    "ItemEntry",
    "ItemObject",
    "ItemPicture",
    "ItemSlot",
    "Items",
    "KnownSpell",
    "NamedBag",
    "NamedEntry",
    "NamedSlot",
    "Page",
    "Patience",
    "Player",
    "PlayerVariable",
    "Power",
    "PutPlayer",
    "Rank",
    "RankedPlayer",
    "Token",
    "User",
    "Variable",
    "VariableEntry",
    "VariableObject",
    "errors",
]
