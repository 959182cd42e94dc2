"""The catalogue in the format of the Intersect engine; `list_catalogue` returns it in Gamekeeper's format."""

from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.link import NamedEntry
from gamekeeper_client.operation import operation
from gamekeeper_client.paging import LegacyPage, Page, build_page_query, iterate_pages
from gamekeeper_client.server_variables import ServerVariable

R = TypeVar("R")


class ItemObject(Struct, rename="pascal"):
    id: str
    name: str
    icon: str | None
    stackable: bool
    max_inventory_stack: int
    max_bank_stack: int
    slot_count: int


class VariableObject(Struct, rename="pascal"):
    """A variable of the catalogue; `type` is 1 for a boolean, 2 for an integer, 3 for a text, 4 for a decimal."""

    id: str
    name: str
    type: Literal[1, 2, 3, 4]


class GuildVariableObject(Struct, rename="pascal"):
    """A variable that guilds can have; `type` is as in `ServerVariable`."""

    name: str
    text_id: str
    type: Literal[1, 2, 3, 4]
    folder: str
    id: str
    time_created: int


class Hue(Struct, rename="pascal"):
    a: int
    r: int
    g: int
    b: int


class TimeSettings(Struct, rename="pascal"):
    """Day and night of the game: one hue for each range of `range_interval` minutes."""

    daylight_hues: list[Hue]
    id: str
    range_interval: int
    rate: float
    sync_time: bool


class Keyed(Struct, Generic[R], rename="pascal"):
    key: str
    value: R


GameObject = ItemObject | VariableObject | ServerVariable | GuildVariableObject | NamedEntry
SHAPES: dict[str, Any] = {
    "item": ItemObject,
    "playervariable": VariableObject,
    "servervariable": ServerVariable,
    "guildvariable": GuildVariableObject,
}


class GameObjects:
    @operation("GET", "/api/v1/gameobjects/{object_type}")
    def list_game_objects(
        self, object_type: str, page: int = 0, *, page_size: int | None = None
    ) -> Payload[Page[GameObject]]:
        """List one page of the game objects of a type, by name.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        Returns the page, with the total number of objects.
        Raises NoSuchObjectType, BadField, PermissionMissing.
        """
        shape: type[Page[GameObject]] = Page[_find_shape(object_type)]
        return Payload(shape, query=build_page_query(page, page_size))

    iterate_game_objects = iterate_pages(list_game_objects, "Iterate over the game objects of a type, by name.")

    @operation("POST", "/api/v1/gameobjects/{object_type}")
    def list_game_objects_legacy(
        self, object_type: str, page: int = 0, count: int = 5
    ) -> Payload[LegacyPage[Keyed[GameObject]]]:
        """List game objects of a type in the older form; prefer `list_game_objects`.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        count: records per page.
        Returns the page, with the total number of objects.
        Raises NoSuchObjectType, BadField, PermissionMissing.
        """
        shape: type[LegacyPage[Keyed[GameObject]]] = LegacyPage[Keyed[_find_shape(object_type)]]
        return Payload(shape, body={"page": page, "count": count})

    @operation("GET", "/api/v1/gameobjects/{object_type}/names")
    def list_game_object_names(
        self, object_type: str, page: int = 0, *, page_size: int | None = None
    ) -> Payload[Page[str]]:
        """List one page of the names of the game objects of a type.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        Returns the page, with the total number of names.
        Raises NoSuchObjectType, BadField, PermissionMissing.
        """
        return Payload(Page[str], query=build_page_query(page, page_size))

    iterate_game_object_names = iterate_pages(
        list_game_object_names, "Iterate over the names of the game objects of a type."
    )

    @operation("POST", "/api/v1/gameobjects/{object_type}/names")
    def list_game_object_names_legacy(self, object_type: str) -> Payload[dict[str, str]]:
        """List the names of all game objects of a type at once, in the older form.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        Returns the names by id.
        Raises NoSuchObjectType, PermissionMissing, TooManyLongReads.
        """
        return Payload(dict[str, str])

    @operation("GET", "/api/v1/gameobjects/{object_type}/{object_id}")
    def get_game_object(self, object_type: str, object_id: str) -> Payload[GameObject]:
        """Get one game object.

        object_type: item, spell, class, map, playervariable, npc, quest or another type of the engine.
        object_id: id of the object.
        Returns the object.
        Raises NoSuchObjectType, NoSuchObject, BadField, PermissionMissing.
        """
        shape: type[GameObject] = _find_shape(object_type)
        return Payload(shape)

    @operation("GET", "/api/v1/gameobjects/time")
    def get_time_settings(self) -> Payload[TimeSettings]:
        """Get the game's settings of day and night.

        Returns the settings, with the engine's defaults for what the game has not published.
        Raises PermissionMissing.
        """
        return Payload(TimeSettings)


def _find_shape(object_type: str) -> Any:  # noqa: ANN401 - returns a type that is known only at run time
    return SHAPES.get(object_type.lower(), NamedEntry)
