"""The parameters of the API's paths: what each means, its schema, an example and the refusal of a wrong one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gamekeeper.game import refusals as no
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors, files, samples, wire

TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 255}
GUID: Mapping[str, Any] = {"type": "string", "format": "uuid"}


@dataclass(frozen=True, slots=True)
class PathParameter:
    about: str
    example: str
    refusal: type[Refusal]
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    strict_schema: Mapping[str, Any] | None = None  # of the strict contract, where it is another


PARAMETERS: Mapping[str, PathParameter] = {
    "variableId": PathParameter("Id of a variable of the catalogue.", samples.DRAGONS, no.BadField, GUID),
    "bagId": PathParameter("The `BagId` of the slot that holds the bag.", samples.PACK_ID, no.BadField, GUID),
    "username": PathParameter("The account's name, in any case, or id.", samples.USER, no.NoSuchUser),
    "lookupKey1": PathParameter("The account's name, in any case, or id.", samples.USER, no.NoSuchUser),
    "lookupKey2": PathParameter(
        "The player's name, id, or place in the account's list, from 0.", samples.PLAYER, no.NoSuchPlayer
    ),
    "tokenId": PathParameter(
        "The token's public id, or its refresh token.",
        samples.TOKEN_ID,
        no.NoSuchToken,
        {**TEXT, **wire.scalars.HIDDEN},
    ),
    "kind": PathParameter(
        "Which of the catalogue's lists.",
        "items",
        no.NoSuchKind,
        {"type": "string", "enum": sorted(wire.catalogue.ENTRIES)},
    ),
    "id": PathParameter("The player's id, which the game chooses.", samples.PLAYER_ID, no.BadField, GUID),
    "type": PathParameter(
        "One of the engine's types, in any case.",
        "item",
        no.NoSuchObjectType,
        {"type": "string", "enum": sorted(wire.catalogue.OBJECTS)},
    ),
    "objectId": PathParameter("The object's id.", samples.DRAUGHT, no.BadField, GUID),
    "seq": PathParameter(
        "The change's number.",
        "4711",
        no.NoSuchChange,
        {"type": "string", "pattern": "^[0-9]{1,18}$"},
        {"type": "integer", "format": "int64", "minimum": 0, "maximum": 10**18 - 1},
    ),
    "mailId": PathParameter("The mail's id.", samples.MAIL_ID, no.BadField, GUID),
    "server": PathParameter(
        "The name that the game server chose for itself.",
        samples.REALM,
        no.BadField,
        {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,64}$"},
    ),
    "asset": PathParameter(
        "One of the page's files.",
        next(iter(files.KINDS)),
        errors.NoSuchRoute,
        {"type": "string", "enum": sorted(files.KINDS)},
    ),
}
LOOKUP_KEY = "Name, in any case, or id."
_OF_ACCOUNT = PathParameter(LOOKUP_KEY, samples.USER, no.NoSuchUser)
_OF_PLAYER = PathParameter(LOOKUP_KEY, samples.PLAYER, no.NoSuchPlayer)


def find_parameter(name: str, path: str) -> PathParameter:
    """Find the parameter of this path. A `lookupKey` is an account's below /users and a player's elsewhere."""
    return PARAMETERS.get(name) or (_OF_ACCOUNT if "/users/" in path else _OF_PLAYER)
