"""The path parameters of the API: meaning, schema, example, reader, and the refusal of a wrong value.

The dispatcher passes a parameter that has a reader to the handler, as the argument `argument`. The others are names or
ids of records, which only the database can check: handlers read their text from `request.params`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.server import errors
from gamekeeper.http.server.query_values import CHANGE_NUMBER, SERVER, read_change_number, read_server

TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 255}
GUID: Mapping[str, Any] = {"type": "string", "format": "uuid"}


_parameters: dict[str, "PathParameter"] = {}


class PathParameter(Struct, frozen=True):
    """A parameter by its name in paths. It registers itself; one of a single room is declared there."""

    name: str
    about: str
    example: str
    refusal: type[Refusal]
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    # function that parses the parameter; arguments: text, name of the parameter
    read: Callable[[str, str], object] | None = None
    argument: str = ""  # name of the handler's argument that gets the parsed value
    # the parameter's schema in the strict OpenAPI document; None: `schema`, as in the tolerant document
    strict_schema: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.name in _parameters:
            raise ValueError(f"the path parameter {self.name} is declared twice")
        _parameters[self.name] = self


def read_guid(text: str, name: str) -> str:
    found = lookup.parse_guid(text)
    if found is None:
        raise no.BadField(field=name, problem="must be a guid")
    return found


def read_route_guid(text: str, _: str) -> str:
    """Read an id in a path of the engine, which has no route for a text that is not a guid."""
    found = lookup.parse_guid(text)
    if found is None:
        raise errors.NoSuchRoute
    return found


def declare_id(name: str, about: str, example: str, argument: str) -> None:
    PathParameter(name, about, example, no.BadField, GUID, read_guid, argument)


def _declare_route_id(name: str, about: str, example: str, argument: str) -> None:
    PathParameter(name, about, example, errors.NoSuchRoute, GUID, read_route_guid, argument)


declare_id("variableId", "The variable's id in the catalogue.", examples.DRAGONS, "variable_id")
declare_id("itemId", "The item's id in the catalogue.", examples.COIN, "item_id")
declare_id("serverVariableId", "The id of a variable of the server.", examples.DOUBLE_XP, "variable_id")
_declare_route_id("guildVariableId", "The id of a variable of guilds.", examples.GUILD_FAME, "variable_id")
declare_id("bagId", "The `BagId` of the slot that holds the bag.", examples.PACK_ID, "bag_id")
PathParameter("username", "The account's name, in any letter case, or id.", examples.USER, no.NoSuchUser)
PathParameter("lookupKey1", "The account's name, in any letter case, or id.", examples.USER, no.NoSuchUser)
PathParameter(
    "lookupKey2", "The player's name, id, or position in the account's list, from 0.", examples.PLAYER, no.NoSuchPlayer
)
PathParameter(
    "tokenId",
    "The token's public id, or its refresh token.",
    examples.TOKEN_ID,
    no.NoSuchToken,
    {**TEXT, **shapes.HIDDEN_SCHEMA},
)
declare_id("id", "The player's id, chosen by the game.", examples.PLAYER_ID, "player_id")
_declare_route_id("mapId", "The map's id.", examples.DOCKS, "map_id")
_declare_route_id("userId", "The account's id.", examples.USER_ID, "user_id")
_declare_route_id("playerId", "The player's id.", examples.PLAYER_ID, "player_id")
_declare_route_id("guildId", "The guild's id.", examples.GUILD_ID, "guild_id")
declare_id("objectId", "The object's id.", examples.DRAUGHT, "object_id")
PathParameter(
    "seq",
    "The change's number.",
    "4711",
    no.NoSuchChange,
    {"type": "string", "pattern": f"^{CHANGE_NUMBER}$"},
    read_change_number,
    "seq",
    {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10**18 - 1},
)
PathParameter(
    "server",
    "The game server's name, chosen by the game server.",
    examples.REALM,
    no.BadField,
    {"type": "string", "pattern": f"^{SERVER}$"},
    read_server,
    "server",
)
# the same name for accounts, below /users, and for players
LOOKUP_KEY = "lookupKey"
_OF_ACCOUNT = PathParameter(
    f"users/{LOOKUP_KEY}", "The account's name, in any letter case, or id.", examples.USER, no.NoSuchUser
)
_OF_PLAYER = PathParameter(
    f"players/{LOOKUP_KEY}", "The player's name, in any letter case, or id.", examples.PLAYER, no.NoSuchPlayer
)


def find_parameter(name: str, path: str) -> PathParameter:
    if name == LOOKUP_KEY:
        return _OF_ACCOUNT if "/users/" in path else _OF_PLAYER
    return _parameters[name]


class PathValue(NamedTuple):
    """A path parameter that the dispatcher passes to the handler: its position in the path, and its reader."""

    place: int
    name: str
    argument: str
    read: Callable[[str, str], object]


def list_names(path: str) -> list[str]:
    return re.findall(r"\[(\w+)\]", path)


def list_values(path: str) -> tuple[PathValue, ...]:
    found = [(place, name, find_parameter(name, path)) for place, name in enumerate(list_names(path))]
    return tuple(PathValue(place, name, each.argument, each.read) for place, name, each in found if each.read)
