"""The catalogue in the types and shapes of the Intersect engine; `catalogue` has it in ours."""

from typing import Any

from gamekeeper_client.call import Batch, Call, every_page, get, path, post, query, reading
from gamekeeper_client.players import LARGEST_PAGE
from gamekeeper_client.shapes import ItemObject, Keyed, LegacyPage, NamedEntry, Page, VariableObject

OBJECTS = "/api/v1/gameobjects/{}"
GameObject = ItemObject | VariableObject | NamedEntry
SHAPES: dict[str, Any] = {"item": ItemObject, "playervariable": VariableObject}


def objects(object_type: str, *, page_size: int = LARGEST_PAGE) -> Call[Batch[GameObject]]:
    """Every object of a type such as item, spell or class, by name, fetched a page at a time."""
    return every_page(lambda page: objects_page(object_type, page, page_size=page_size))


def objects_page(
    object_type: str, page: int = 0, *, page_size: int | None = None, limit: int | None = None
) -> Call[Page[GameObject]]:
    shape: type[Page[GameObject]] = Page[_shape(object_type)]
    return get(path(OBJECTS, object_type), reading(shape), query(page=page, pageSize=page_size, limit=limit))


def legacy_objects(object_type: str, page: int = 0, count: int = 5) -> Call[LegacyPage[Keyed[GameObject]]]:
    """The old form of the list."""
    shape: type[LegacyPage[Keyed[GameObject]]] = LegacyPage[Keyed[_shape(object_type)]]
    return post(path(OBJECTS, object_type), {"page": page, "count": count}, reading(shape))


def object_names(object_type: str, *, page_size: int = LARGEST_PAGE) -> Call[Batch[str]]:
    """The name of every object of a type, fetched a page at a time."""
    return every_page(lambda page: object_names_page(object_type, page, page_size=page_size))


def object_names_page(
    object_type: str, page: int = 0, *, page_size: int | None = None, limit: int | None = None
) -> Call[Page[str]]:
    wanted = query(page=page, pageSize=page_size, limit=limit)
    return get(path(OBJECTS + "/names", object_type), reading(Page[str]), wanted)


def legacy_object_names(object_type: str) -> Call[dict[str, str]]:
    """The names of all objects of a type, by their ids."""
    return Call("POST", path(OBJECTS + "/names", object_type), reading(dict[str, str]))


def game_object(object_type: str, object_id: str) -> Call[GameObject]:
    shape: type[GameObject] = _shape(object_type)
    return get(path(OBJECTS + "/{}", object_type, object_id), reading(shape))


def _shape(object_type: str) -> Any:  # noqa: ANN401 - a type, known when it runs
    return SHAPES.get(object_type.lower(), NamedEntry)
