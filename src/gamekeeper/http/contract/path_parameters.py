"""The path parameters of the API: meaning, schema, example, reader, and the refusal of a wrong value.

The dispatcher passes a parameter that has a reader to the handler, as the argument `argument`. The others are names or
ids of records, which only the database can check: handlers read their text from `request.params`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gamekeeper.game.access.refusals import NoSuchRole
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.game.insight.refusals import NoSuchBoard, NoSuchSeason
from gamekeeper.game.world import catalogue
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.server import errors, static_files
from gamekeeper.http.server.query_values import CHANGE_NUMBER, SERVER, read_change_number, read_server
from gamekeeper.http.world import catalogue_shapes

TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 255}
GUID: Mapping[str, Any] = {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True)
class PathParameter:
    about: str
    example: str
    refusal: type[Refusal]
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    # function that parses the parameter; arguments: text, name of the parameter
    read: Callable[[str, str], object] | None = None
    argument: str = ""  # name of the handler's argument that gets the parsed value
    # the parameter's schema in the strict OpenAPI document; None: `schema`, as in the tolerant document
    strict_schema: Mapping[str, Any] | None = None


def read_guid(text: str, name: str) -> str:
    found = lookup.parse_guid(text)
    if found is None:
        raise no.BadField(field=name, problem="must be a guid")
    return found


def read_kind(text: str, _: str) -> str:
    catalogue.require_kind(text)
    return text


def read_object_type(text: str, _: str) -> str:
    """Read an object type of the engine, in any letter case; return it in lower case."""
    if text.lower() not in catalogue_shapes.OBJECTS:
        raise no.NoSuchObjectType(type=text)
    return text.lower()


def read_file(text: str, _: str) -> str:
    if text not in static_files.MEDIA_TYPES:
        raise errors.NoSuchRoute
    return text


def read_route_guid(text: str, _: str) -> str:
    """Read an id in a path of the engine, which has no route for a text that is not a guid."""
    found = lookup.parse_guid(text)
    if found is None:
        raise errors.NoSuchRoute
    return found


def _make_id_parameter(about: str, example: str, argument: str) -> PathParameter:
    return PathParameter(about, example, no.BadField, GUID, read_guid, argument)


def _make_route_id(about: str, example: str, argument: str) -> PathParameter:
    return PathParameter(about, example, errors.NoSuchRoute, GUID, read_route_guid, argument)


PARAMETERS: Mapping[str, PathParameter] = {
    "variableId": _make_id_parameter("The variable's id in the catalogue.", samples.DRAGONS, "variable_id"),
    "itemId": _make_id_parameter("The item's id in the catalogue.", samples.COIN, "item_id"),
    "serverVariableId": _make_id_parameter("The id of a variable of the server.", samples.DOUBLE_XP, "variable_id"),
    "guildVariableId": _make_route_id("The id of a variable of guilds.", samples.GUILD_FAME, "variable_id"),
    "bagId": _make_id_parameter("The `BagId` of the slot that holds the bag.", samples.PACK_ID, "bag_id"),
    "username": PathParameter("The account's name, in any letter case, or id.", samples.USER, no.NoSuchUser),
    "lookupKey1": PathParameter("The account's name, in any letter case, or id.", samples.USER, no.NoSuchUser),
    "lookupKey2": PathParameter(
        "The player's name, id, or position in the account's list, from 0.", samples.PLAYER, no.NoSuchPlayer
    ),
    "tokenId": PathParameter(
        "The token's public id, or its refresh token.",
        samples.TOKEN_ID,
        no.NoSuchToken,
        {**TEXT, **shapes.HIDDEN_SCHEMA},
    ),
    "kind": PathParameter(
        "The kind of catalogue entries.",
        "items",
        no.NoSuchKind,
        {"type": "string", "enum": sorted(catalogue_shapes.ENTRIES)},
        read_kind,
        "kind",
    ),
    "id": _make_id_parameter("The player's id, chosen by the game.", samples.PLAYER_ID, "player_id"),
    "mapId": _make_route_id("The map's id.", samples.DOCKS, "map_id"),
    "type": PathParameter(
        "An object type of the Intersect engine, in any letter case.",
        "item",
        no.NoSuchObjectType,
        {"type": "string", "enum": sorted(catalogue_shapes.OBJECTS)},
        read_object_type,
        "object_type",
    ),
    "userId": _make_route_id("The account's id.", samples.USER_ID, "user_id"),
    "playerId": _make_route_id("The player's id.", samples.PLAYER_ID, "player_id"),
    "guildId": _make_route_id("The guild's id.", samples.GUILD_ID, "guild_id"),
    "objectId": _make_id_parameter("The object's id.", samples.DRAUGHT, "object_id"),
    "seq": PathParameter(
        "The change's number.",
        "4711",
        no.NoSuchChange,
        {"type": "string", "pattern": f"^{CHANGE_NUMBER}$"},
        read_change_number,
        "seq",
        {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10**18 - 1},
    ),
    "role": PathParameter("The role's name.", samples.ROLE, NoSuchRole),
    "keyId": _make_id_parameter("The API key's id.", samples.KEY_ID, "key_id"),
    "invitationId": _make_id_parameter("The invitation's id.", samples.MAIL_ID, "invitation_id"),
    "signalId": _make_id_parameter("The signal's id.", samples.MAIL_ID, "signal_id"),
    "noteId": _make_id_parameter("The note's id.", samples.MAIL_ID, "note_id"),
    "tag": PathParameter("The tag, in any letter case.", "refunds", no.BadField),
    "board": PathParameter("The board's name.", samples.BOARD, NoSuchBoard),
    "season": PathParameter("The season's number.", "1", NoSuchSeason),
    "approvalId": _make_id_parameter("The approval's id.", samples.MAIL_ID, "approval_id"),
    "jobId": _make_id_parameter("The bulk job's id.", samples.BULK_JOB_ID, "job_id"),
    "mailId": _make_id_parameter("The mail's id.", samples.MAIL_ID, "mail_id"),
    "server": PathParameter(
        "The game server's name, chosen by the game server.",
        samples.REALM,
        no.BadField,
        {"type": "string", "pattern": f"^{SERVER}$"},
        read_server,
        "server",
    ),
    "asset": PathParameter(
        "Name of a file of the API explorer.",
        next(iter(static_files.MEDIA_TYPES)),
        errors.NoSuchRoute,
        {"type": "string", "enum": sorted(static_files.MEDIA_TYPES)},
        read_file,
        "file",
    ),
}
LOOKUP_KEY = "Name, in any letter case, or id."
_OF_ACCOUNT = PathParameter(LOOKUP_KEY, samples.USER, no.NoSuchUser)
_OF_PLAYER = PathParameter(LOOKUP_KEY, samples.PLAYER, no.NoSuchPlayer)


def find_parameter(name: str, path: str) -> PathParameter:
    """Find the parameter of this path. A `lookupKey` is an account's below /users and a player's elsewhere."""
    return PARAMETERS.get(name) or (_OF_ACCOUNT if "/users/" in path else _OF_PLAYER)


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
