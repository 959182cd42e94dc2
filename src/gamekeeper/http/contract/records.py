"""Make shapes from rows, by the names of their fields."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct

from gamekeeper.ground.instants import format_engine_time, format_instant
from gamekeeper.http.contract import shapes

S = TypeVar("S", bound=Struct)
Make = Callable[[Sequence[object], Mapping[str, object]], Any]
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORMATS = [(get_args(shapes.Instant)[1], format_instant), (get_args(shapes.EngineTime)[1], format_engine_time)]


def make_record(shape: type[S], *rows: object, **own: object) -> S:
    """Make a shape from rows whose attributes are named like its fields, also in snake case: `UserId` is `user_id`.

    `own` has the fields that are named or made in another way. Times of fields that are texts are formatted.
    """
    return _plan(shape, tuple([type(row) for row in rows]), tuple(own))(rows, own)


@cache
def _plan(shape: type[Struct], kinds: tuple[type, ...], own: tuple[str, ...]) -> Make:
    """Return the function that makes a shape of rows of these types; each shape is read once."""
    fields = {each.name: each for each in msgspec.structs.fields(shape)}
    places = {name: place for place, name in enumerate(own)}  # field → place of its value, in `own` and then the rows
    readers: list[Callable[[Any], Sequence[object]]] = []
    for kind in kinds:
        given = [(name, each) for name in fields for each in (name, to_snake(name)) if _has(kind, each)]
        found = {name: each for name, each in given if name not in places}
        places |= {name: len(places) + number for number, name in enumerate(found)}
        readers.append(_read_all(attrgetter, [*found.values()]))
    if missing := [name for name, each in fields.items() if each.required and name not in places]:
        raise TypeError(f"{shape.__name__} needs {', '.join(missing)}, which no row has.")
    order = [name for name in fields if name in places]
    pick = _read_all(itemgetter, [places[name] for name in order])
    times = [(places[name], found) for name in order if (found := _find_format(fields[name].type))]
    is_start = order == [*fields][: len(order)]  # all fields but the last ones, which have defaults

    def make(rows: Sequence[object], own: Mapping[str, object]) -> Struct:
        values = [*own.values()]
        for read, row in zip(readers, rows, strict=True):
            values += read(row)
        for place, format_time in times:
            if isinstance(values[place], int):
                values[place] = format_time(values[place])
        return shape(*pick(values)) if is_start else shape(**dict(zip(order, pick(values), strict=True)))

    return make


def _read_all(kind: Callable[..., Any], names: Sequence[str] | Sequence[int]) -> Callable[[Any], Sequence[object]]:
    """Return a function that reads these attributes or items of a value, as a tuple also if there is only one."""
    if len(names) > 1:
        return kind(*names)
    readers = [kind(each) for each in names]
    return lambda value: tuple([read(value) for read in readers])


def to_snake(name: str) -> str:
    """Turn `UserId` into user_id."""
    return _WORD_START.sub("_", name).lower()


def to_pascal(name: str) -> str:
    """Turn `user_id` into UserId."""
    return "".join(part.capitalize() for part in name.split("_"))


def _has(kind: type, attribute: str) -> bool:
    fields = [getattr(kind, each, ()) for each in ("_fields", "__struct_fields__", "__dataclass_fields__")]
    is_property = hasattr(kind, attribute) and not hasattr(tuple, attribute)  # not `count` of a NamedTuple
    return is_property or any(attribute in each for each in fields)


def _find_format(kind: object) -> Callable[[Any], str] | None:
    """Return the function that formats a time for a field of this type; None: the field has no time."""
    for known, format_time in _FORMATS:
        if kind == known:
            return format_time
    return next((found for each in get_args(kind) if (found := _find_format(each))), None)
