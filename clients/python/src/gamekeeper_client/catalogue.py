"""The catalogue, in Gamekeeper's format and in that of the Intersect engine: the kind says which type records have."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from gamekeeper_client.call import Payload
from gamekeeper_client.gameobjects import GuildVariableObject, ItemObject, Keyed, VariableObject
from gamekeeper_client.iteration import iterate_pages
from gamekeeper_client.link import (
    GuildVariableEntry,
    ItemEntry,
    Kind,
    NamedEntry,
    ServerVariableEntry,
    VariableEntry,
)
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import LegacyPage, Page
from gamekeeper_client.server_variables import ServerVariable

Entry = ItemEntry | NamedEntry | VariableEntry | ServerVariableEntry | GuildVariableEntry
ENTRIES: Mapping[str, Any] = {
    "items": ItemEntry,
    "variables": VariableEntry,
    "servervariables": ServerVariableEntry,
    "guildvariables": GuildVariableEntry,
}
GameObject = ItemObject | VariableObject | ServerVariable | GuildVariableObject | NamedEntry
OBJECTS: Mapping[str, Any] = {
    "item": ItemObject,
    "playervariable": VariableObject,
    "servervariable": ServerVariable,
    "guildvariable": GuildVariableObject,
}


class Catalogue:
    @operation("PUT", "/api/link/v1/catalogue/{kind}")
    def put_catalogue(
        self, kind: Kind, entries: Sequence[Entry | Mapping[str, object]], **options: Unpack[WriteOptions]
    ) -> Payload[int]:
        """Add entries to the catalogue, and replace those that have the same id. Needs the permission game.link.

        kind: items, spells, variables, classes, maps or another kind.
        entries: the entries, as the body of the request. A mapping, with the API's names, may have further fields.
        Returns how many entries were sent.
        Raises NoSuchKind, MissingField, BadField, UnknownField, RoleMissing.
        """
        return Payload(int, field="Count", body=list(entries))

    @operation("GET", "/api/link/v1/catalogue/{kind}")
    def list_catalogue(self, kind: Kind, page: int = 0, *, page_size: int | None = None) -> Payload[Page[Entry]]:
        """List one page of the catalogue, by name. Needs the permission game.link.

        kind: items, spells, variables, classes, maps or another kind.
        page: number of the page, from 0.
        page_size: records per page.
        Returns the page, with the total number of entries.
        Raises NoSuchKind, BadField, RoleMissing.
        """
        shape: type[Page[Entry]] = Page[ENTRIES.get(kind, NamedEntry)]
        return Payload(shape, query={"page": page, "pageSize": page_size})

    iterate_catalogue = iterate_pages(list_catalogue, "Iterate over the catalogue, by name.")

    @operation("GET", "/api/v1/gameobjects/{object_type}")
    def list_game_objects(
        self, object_type: str, page: int = 0, *, page_size: int | None = None
    ) -> Payload[Page[GameObject]]:
        """List one page of the game objects of a type, by name. Needs the permission players.read.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        page: number of the page, from 0.
        page_size: records per page.
        Returns the page, with the total number of objects.
        Raises NoSuchObjectType, BadField, PermissionMissing.
        """
        shape: type[Page[GameObject]] = Page[_find_shape(object_type)]
        return Payload(shape, query={"page": page, "pageSize": page_size})

    iterate_game_objects = iterate_pages(list_game_objects, "Iterate over the game objects of a type, by name.")

    @operation("POST", "/api/v1/gameobjects/{object_type}")
    def list_game_objects_legacy(
        self, object_type: str, page: int = 0, count: int = 5
    ) -> Payload[LegacyPage[Keyed[GameObject]]]:
        """List game objects of a type in the older form; prefer `list_game_objects`.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        page: number of the page, from 0.
        count: records per page.
        Returns the page, with the total number of objects.
        Raises NoSuchObjectType, BadField, PermissionMissing.
        """
        shape: type[LegacyPage[Keyed[GameObject]]] = LegacyPage[Keyed[_find_shape(object_type)]]
        return Payload(shape, body={"page": page, "count": count})

    @operation("GET", "/api/v1/gameobjects/{object_type}/{object_id}")
    def get_game_object(self, object_type: str, object_id: str) -> Payload[GameObject]:
        """Get one game object. Needs the permission players.read.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        object_id: id of the object.
        Returns the object.
        Raises NoSuchObjectType, NoSuchObject, BadField, PermissionMissing.
        """
        shape: type[GameObject] = _find_shape(object_type)
        return Payload(shape)


def _find_shape(object_type: str) -> Any:  # noqa: ANN401 - returns a type that is known only at run time
    return OBJECTS.get(object_type.lower(), NamedEntry)
