"""Tell which answers are lists, and how many rows of a list may be read and encoded at once."""

import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct

MOST_AT_ONCE = 1_000  # rows of a list that are read and encoded without the gate for long reads: a few milliseconds
MANY = 2**31 - 1  # no limit
# As many rows as one player, guild, account or approval has: no number, because the API does not limit them. Every
# operation that declares it counts the rows of each answer, and encodes more than MOST_AT_ONCE through the gate: see
# `long_lists.py`.
OF_ONE_OWNER = None


def is_list(answer: object) -> bool:
    """Tell whether an answer is a list of records or an object of many names, or has such a list as a field."""
    return any(_is_list(each) or _has_list(each) for each in _split(answer))


def _is_list(kind: Any) -> bool:  # noqa: ANN401 - a type is any object
    if get_origin(kind) is dict:
        return get_args(kind)[1] is not Any
    return get_origin(kind) is list


def _has_list(kind: Any) -> bool:  # noqa: ANN401 - as above
    shape = get_origin(kind) or kind
    if not isinstance(shape, type) or not issubclass(shape, Struct):
        return False
    is_page = get_origin(kind) is not None
    return any(
        get_origin(each) is list and (is_page or _is_record(get_args(each)[0]))
        for field in msgspec.structs.fields(kind)
        for each in _split(field.type)
    )


def _is_record(kind: Any) -> bool:  # noqa: ANN401 - as above
    shape = get_origin(kind) or kind
    return isinstance(shape, type) and issubclass(shape, Struct)


def _split(kind: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Yield the types of a union, without annotations."""
    if get_origin(kind) is Annotated:
        yield from _split(get_args(kind)[0])
    elif get_origin(kind) in (Union, types.UnionType):
        for each in get_args(kind):
            yield from _split(each)
    else:
        yield kind
