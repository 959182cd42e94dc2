"""Read the declarations of the API into a small model without a language. Generators of clients write from it.

`read_model()` is the whole of it: groups with their operations, shapes of JSON objects, and errors. Names in the model
are those of the API: a generator spells them as its language does.
"""

import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from client_types import (
    NULL,
    ListOf,
    OneOf,
    Reference,
    Type,
    Variable,
    find_description,
    fits,
    list_references,
    read_schema,
    read_type,
)
from gamekeeper.game.core.refusals import NotFound, Refusal
from gamekeeper.ground.rooms import ROOMS
from gamekeeper.http import routes
from gamekeeper.http.contract import operation as declared
from gamekeeper.http.contract import operation_refusals, schemas, shapes
from gamekeeper.http.contract.path_parameters import find_parameter
from gamekeeper.http.server import errors as server_errors

Place = Literal["path", "query", "body"]


NO_DEFAULT = NODEFAULT  # the server has no default that could be sent

# --- parts of the model -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A field of a shape. One that is neither required nor has a default may be left out."""

    name: str
    type: Type
    default: object  # JSON, or NO_DEFAULT
    is_required: bool
    description: str


@dataclass(frozen=True)
class Parameter(Field):
    """A part of a request: of its path, of its query, or a field of its body."""

    place: Place


@dataclass(frozen=True)
class Paging:
    """How a list is read in parts. The query parameter `position` says where a part begins.

    by pages: `position` is a number that counts up, until the answer's fields Page and PageSize reach its Total.
    by cursor: `position` is the answer's field `Next` of the part before; null after the last part.
    """

    by: Literal["pages", "cursor"]
    position: str
    size: str  # query parameter for the number of records
    records: str  # field of the answer that has the records
    record: Type


@dataclass(frozen=True)
class Operation:
    name: str
    group: str
    method: str
    path: str  # with {name} for each parameter
    summary: str
    permissions: tuple[str, ...] | None  # None: no token needed
    is_write: bool
    is_repeatable: bool  # may have Idempotency-Key, X-Reason and dryRun
    parameters: tuple[Parameter, ...]
    # None: no body. A reference to a shape: `parameters` has its fields. Otherwise the body is sent as a whole.
    body: Type | None
    answer: Type | None  # None: not JSON
    paging: Paging | None
    errors: tuple[str, ...]  # names of errors, by status
    telling_errors: tuple[str, ...]  # of these, those of the operation's own rules, and those about what is missing
    successor: str | None  # path of the operation that replaces this deprecated one


@dataclass(frozen=True)
class Group:
    title: str
    about: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Shape:
    """A JSON object. Its fields include those of the shapes that it extends, and have their order."""

    name: str
    room: str  # room of the server that declares it, such as players
    variables: tuple[str, ...]  # of a generic shape
    parent: str | None  # shape that it extends
    fields: tuple[Field, ...]
    about: str
    is_sent: bool
    is_answered: bool
    is_open: bool  # a body may have further fields
    together: tuple[str, ...]  # fields of which a body has all or none
    omits_defaults: bool  # an answer leaves out fields that have their default


@dataclass(frozen=True)
class Error:
    """A refusal. `message` has placeholders such as {name}; `fields` are those beside Message, Code and RequestId."""

    name: str
    code: str
    status: int
    parent: str | None  # error that it is a kind of
    message: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Model:
    groups: tuple[Group, ...]
    shapes: tuple[Shape, ...]  # those that operations and errors use; the parent of a shape is before it
    errors: tuple[Error, ...]  # the parent of an error is before it


@cache
def read_model() -> Model:
    operations = [_read_operation(each) for each in routes.ROUTES]
    groups = sorted({each.group for each in routes.ROUTES}, key=lambda group: group.place)
    errors = tuple(_read_errors(Refusal))
    return Model(
        tuple(
            Group(each.title, each.about, tuple(found for found in operations if found.group == each.title))
            for each in groups
        ),
        tuple(_read_shapes(operations, errors)),
        errors,
    )


def _read_field(field: FieldInfo) -> Field:
    kind = read_type(field.type)
    factory = field.default_factory
    default = field.default if factory is NODEFAULT else factory()  # pyright: ignore[reportCallIssue] - it is a function
    sent: object = msgspec.to_builtins(default) if isinstance(default, Struct | list) else default
    default = sent if fits(sent, kind) else NO_DEFAULT
    return Field(field.encode_name, kind, default, field.required, find_description(field.type))


# --- operations -------------------------------------------------------------------------------------------------


def _read_operation(operation: declared.Operation) -> Operation:
    answer = None if isinstance(operation.answer, str) else read_type(operation.answer)
    found = operation_refusals.list_refusals(operation)
    return Operation(
        operation.name,
        operation.group.title,
        operation.method,
        operation.path.replace("[", "{").replace("]", "}"),
        " ".join(operation.summary.split()),
        None if operation.permissions is None else tuple(sorted(operation.permissions)),
        operation.access is declared.WRITE,
        operation.is_repeatable,
        tuple(_read_parameters(operation)),
        _read_body(operation),
        answer,
        None if operation.query is None else _find_paging(operation.query.__struct_encode_fields__, operation.answer),
        tuple(dict.fromkeys(kind.__name__ for kinds in found.values() for kind in kinds)),
        tuple(
            kind.__name__
            for kinds in found.values()
            for kind in kinds
            if kind in operation.refusals or (issubclass(kind, NotFound) and kind is not server_errors.NoSuchRoute)
        ),
        operation.successor,
    )


def _read_parameters(operation: declared.Operation) -> Iterator[Parameter]:
    for name in operation.parameters:
        known = find_parameter(name, operation.path)
        kind = read_schema(dict(known.strict_schema or known.schema))
        yield Parameter(name, kind, NO_DEFAULT, is_required=True, description=known.about, place="path")
    yield from _read_fields_of(operation.query, "query")
    if isinstance(_read_body(operation), Reference):
        yield from _read_fields_of(operation.body, "body")


def _read_fields_of(shape: type[Struct] | type[bytes] | None, place: Place) -> Iterator[Parameter]:
    """Read the fields of a query or of a body."""
    for each in msgspec.structs.fields(shape) if shape is not None and issubclass(shape, Struct) else ():
        yield Parameter(**vars(_read_field(each)), place=place)


def _read_body(operation: declared.Operation) -> Type | None:
    if operation.body is None:
        return None
    if not issubclass(operation.body, Struct):
        return ListOf(read_type(Union[operation.records.shapes]))  # noqa: UP007 - made at run time
    choice = shapes.find_choice(operation.body)
    if choice:
        return OneOf(tuple(read_type(each) for each in choice[1].values()))
    return read_type(operation.body)


CURSORS = ("before", "after", "cursor", "offset")  # names of query parameters for the position of a cursor


def _find_paging(query: tuple[str, ...], answer: object) -> Paging | None:
    """Find out how a list is paged. The change feed is not: its `Next` is never null."""
    kinds = get_args(answer) if get_origin(answer) in (Union, types.UnionType) else (answer,)
    shape = get_origin(kinds[0]) or kinds[0]
    if not (isinstance(shape, type) and issubclass(shape, Struct)):
        return None
    fields = {each.name: each.type for each in _read_answer_fields(kinds)}
    records = next((name for name, kind in fields.items() if isinstance(kind, ListOf)), None)
    if records is None:
        return None
    size = next((each for each in ("pageSize", "limit") if each in query), "")
    cursor = next((each for each in CURSORS if each in query), None)
    item = fields[records]
    record = item.item if isinstance(item, ListOf) else item
    following = fields.get("Next")
    if cursor and isinstance(following, OneOf) and NULL in following.options:
        return Paging("cursor", cursor, size, records, record)
    if "page" in query and {"Total", "Page", "PageSize"} <= fields.keys():
        return Paging("pages", "page", "pageSize", records, record)
    return None


def _read_answer_fields(kinds: Iterable[Any]) -> list[Field]:
    """Read the fields of an answer. If it has several alternatives, a list has the items of all of them."""
    first, *others = (
        [_read_generic(each, kind) for each in msgspec.structs.fields(get_origin(kind) or kind)] for kind in kinds
    )
    return [_join(fields) for fields in zip(first, *others, strict=True)]


def _read_generic(field: FieldInfo, kind: Any) -> Field:  # noqa: ANN401 - a type is any object
    """Read a field of a generic shape, with its argument in place of the variable."""
    read = _read_field(field)
    return replace(read, type=ListOf(read_type(get_args(kind)[0]))) if read.type == ListOf(Variable("R")) else read


def _join(fields: tuple[Field, ...]) -> Field:
    items = dict.fromkeys(each.type.item for each in fields if isinstance(each.type, ListOf))
    return replace(fields[0], type=ListOf(OneOf(tuple(items)))) if len(items) > 1 else fields[0]


# --- shapes -----------------------------------------------------------------------------------------------------


_ABOUT_CODE = re.compile(
    r"`encode_\w+` encodes it\."
)  # sentence of a shape's docstring for readers of the server's code


def _read_shapes(operations: Iterable[Operation], errors: Iterable[Error]) -> Iterator[Shape]:
    used = list(operations)
    answered = _collect(name for each in used for name in list_references(each.answer))
    answered |= _collect(name for each in errors for field in each.fields for name in list_references(field.type))
    sent = _collect(name for each in used for name in list_references(each.body))
    for name in dict.fromkeys(_order(answered | sent)):
        shape = schemas.list_shapes()[name]
        parent = _find_parent(shape)
        yield Shape(
            name,
            shape.__module__.split(".")[2],
            tuple(each.__name__ for each in getattr(shape, "__parameters__", ())),
            parent.__name__ if parent else None,
            tuple(_read_field(each) for each in msgspec.structs.fields(shape)),
            _ABOUT_CODE.sub("", " ".join((vars(shape).get("__doc__") or "").split())).strip(),
            is_sent=name in sent,
            is_answered=name in answered,
            is_open=shapes.find_further(shape) is not None,
            together=tuple(shapes.list_together(shape)),
            omits_defaults=shape.__struct_config__.omit_defaults,
        )


def _collect(names: Iterable[str]) -> set[str]:
    """Collect shapes with all shapes in them."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            fields = msgspec.structs.fields(schemas.list_shapes()[name])
            waiting += [inner for each in fields for inner in list_references(read_type(each.type))]
    return found


def _order(names: set[str]) -> list[str]:
    """Order shapes by name, with their parents before them: the order of imports must not matter."""
    known = schemas.list_shapes()
    lines = [[base.__name__ for base in reversed(known[name].__mro__) if base.__name__ in known] for name in names]
    return [line[-1] for line in sorted(line[: end + 1] for line in lines for end in range(len(line)))]


def _find_parent(shape: type[Struct]) -> type[Struct] | None:
    known = schemas.list_shapes()
    return next((each for each in shape.__bases__ if known.get(each.__name__) is each), None)


# --- errors -----------------------------------------------------------------------------------------------------

# modules of refusals that the console shows on pages and the API never sends
_OF_CONSOLE = ("gamekeeper.console.", "gamekeeper.game.access.console_refusals")


def _read_errors(base: type[Refusal], parent: str | None = None) -> Iterator[Error]:
    for kind in sorted(base.__subclasses__(), key=_find_order):
        if not kind.__module__.startswith("gamekeeper.") or kind.__module__.startswith(_OF_CONSOLE):
            continue
        further = server_errors.FURTHER_FIELDS.get(kind)
        plain = set(shapes.Error.__struct_fields__)
        fields = msgspec.structs.fields(further.shape) if further else ()
        yield Error(
            kind.__name__,
            operation_refusals.get_code(kind),
            server_errors.find_status(kind),
            parent,
            kind.template(),
            tuple(_read_field(each) for each in fields if each.name not in plain),
        )
        yield from _read_errors(kind, kind.__name__)


def _find_order(kind: type[Refusal]) -> tuple[int, str]:
    """Order the kinds of an error by room, then by name. The frame is before the rooms."""
    room = kind.__module__.split(".")[2]
    return (ROOMS.index(room) + 1 if room in ROOMS else 0, kind.__name__)
