"""Declare operations beside their handlers. Routing, documents and checks derive from the declarations.

The handler's signature is part of the declaration. After the request it takes, in this order: `body` and `query`, if
the operation has them, with their shapes as types; then the path parameters that have a reader in path_parameters.py.
The dispatcher decodes and checks them all. Other arguments are rejected when the module is imported. The name of the
operation is the handler's, the answer is the shape that it returns, permissions and caching are those of the group, and
GET reads while other methods write, unless the declaration says otherwise. The declaration also says how many rows of a
list may be read and encoded at once. Examples are made of the shapes.
"""

import inspect
import types
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import (
    Annotated,
    Any,
    NamedTuple,
    NotRequired,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
)

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gamekeeper.game.access.permissions import PERMISSIONS
from gamekeeper.game.access.refusals import GiftTooLarge, ItemNotAllowed, QuotaReached
from gamekeeper.game.core.refusals import Refusal, TooManyLongReads
from gamekeeper.http.contract.examples import make_example
from gamekeeper.http.contract.path_parameters import PathValue, list_names, list_values
from gamekeeper.http.server.response import SPEC_ROOT, Response

MOST_AT_ONCE = 1_000  # rows of a list that are read and encoded without the gate for long reads: a few milliseconds
MANY = 2**31 - 1  # no limit
# As many rows as one player, guild, account or approval has: no number, because the API does not limit them. Every
# operation that declares it counts the rows of each answer, and encodes more than MOST_AT_ONCE through the gate: see
# `http/server/paging.py`.
OF_ONE_OWNER = None


def is_list(answer: object) -> bool:
    """Tell whether an answer is a list of records or an object of many names, or has such a list as a field."""
    return any(_is_list_type(each) or _has_list_field(each) for each in _split(answer))


def _is_list_type(kind: Any) -> bool:  # noqa: ANN401 - a type is any object
    if get_origin(kind) is dict:
        return get_args(kind)[1] is not Any
    return get_origin(kind) is list


def _has_list_field(kind: Any) -> bool:  # noqa: ANN401 - as above
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


KEEPER_ROOT = "/api/keeper/"
LINK_ROOT = "/api/link/"  # path prefix of the operations for game servers
# path prefixes of the files that a page loads: style sheets, scripts and pictures
FILES = ("/console/static/", "/console/pictures/", "/api/docs/[")
# handler of an operation; an answer that is a shape, or its JSON as bytes, has status 200
Handler = Callable[..., Coroutine[Any, Any, bytes | Response | Struct | list[str]]]
H = TypeVar("H", bound=Handler)


class Access(Enum):
    READ = "reads"
    WRITE = "writes"


class Cache(Enum):
    """Whether the caller may cache the answer and revalidate it with If-None-Match."""

    NO_STORE = "no-store"  # for an answer that holds a secret, or is different each time
    REVALIDATED = "revalidated"
    UNLESS_RESET_CODES_SHOWN = "unless reset codes are shown"


READ, WRITE = Access.READ, Access.WRITE
NO_STORE, REVALIDATED, UNLESS_RESET_CODES_SHOWN = Cache.NO_STORE, Cache.REVALIDATED, Cache.UNLESS_RESET_CODES_SHOWN
NO_TOKEN = None
ANY_TOKEN: frozenset[str] = frozenset()  # only for what concerns every caller: its own tokens, and the server's info


class DeclarationError(Exception):
    """An operation of the API is declared without one of its parts, or with one that does not fit."""


def needs(*names: str) -> frozenset[str]:
    """Return a set of permissions for a declaration. All must be in game/access/permissions.py."""
    unknown = sorted(set(names) - PERMISSIONS.keys())
    if unknown:
        raise DeclarationError(f"There is no permission {', '.join(unknown)}.")
    return frozenset(names)


READ_PLAYERS = needs("players.read")
QUERY = needs("users.query")
MANAGE = needs("users.query", "users.manage")
STAFF = needs("staff.manage")
KEYS = needs("keys.manage")
LINK = needs("game.link")
GIFT_REFUSALS = (ItemNotAllowed, GiftTooLarge, QuotaReached)  # refusals of all operations that can give items
BAN, KICK, MUTE = needs("moderation.ban"), needs("moderation.kick"), needs("moderation.mute")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A path and method with its handler, and what the dispatcher needs to call it."""

    method: str
    path: str
    permissions: frozenset[str] | None  # permissions that a caller needs; None: no token needed
    access: Access
    cache: Cache = NO_STORE
    handler: Handler
    # shape of the request body; bytes: the handler decodes the body itself
    body: type[Struct] | type[bytes] | None = None
    body_limit: int = 0  # bytes of a body that are accepted, if that is more than the setting `body_limit`
    query: type[Struct] | None = None
    path_values: tuple[PathValue, ...] = ()  # path parameters that are passed to the handler
    successor: str | None = None  # path of the operation that replaces this deprecated one
    # The following are computed once from the fields above: every request needs them.
    name_in_log: str = field(init=False)
    queue_noun: str = field(init=False)  # first part of the name of a write queue: what the first path parameter names
    over_link: bool = field(init=False)
    takes_forms: bool = field(init=False)  # the body may be a form, which has no lists
    is_own_api: bool = field(init=False)  # our own operation, which neither the spec nor the engine defines
    keeps_empty: bool = field(init=False)  # an empty query value is read as sent; elsewhere it counts as left out
    # a request may have Idempotency-Key, X-Reason and dryRun: all writes except the log-in
    is_repeatable: bool = field(init=False)
    takes_input: bool = field(init=False)  # has a body, a query, path parameters to check, or headers such as X-Dry-Run
    is_file: bool = field(init=False)  # serves files that pages load; the log leaves them out

    def __post_init__(self) -> None:
        over_link = self.path.startswith(LINK_ROOT)
        computed = {
            "name_in_log": f"{self.method} {self.path}",
            "queue_noun": self.path.partition("/[")[0].rpartition("/")[2],
            "over_link": over_link,
            "takes_forms": not over_link and not _has_list(self.body),
            "is_own_api": over_link or self.path.startswith(KEEPER_ROOT),
            "keeps_empty": self.path.startswith(SPEC_ROOT),
            "is_repeatable": self.access is WRITE and self.permissions is not None,
            "takes_input": bool(self.body or self.query or self.path_values or self.access is WRITE),
            "is_file": self.path.startswith(FILES),
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)  # the class is frozen

    @property
    def parameters(self) -> list[str]:
        return list_names(self.path)


class Records(NamedTuple):
    """The records of a body that is a JSON array: their name in the documents, and their shapes."""

    name: str
    shapes: tuple[type[Struct], ...]


NO_RECORDS = Records("", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Route):
    """A route that the API's documents describe."""

    name: str  # method of the Python client, and operationId in OpenAPI
    number: int | None = None  # number of the operation in the API's specification; None: not part of it
    group: "Group"
    records: Records = NO_RECORDS  # of a body that the handler decodes itself
    answer: object  # shape of the answer; a str is a media type other than JSON
    refusals: tuple[type[Refusal], ...] = ()  # refusals that are specific to this operation
    rows: int | None  # most rows of an answer that is a list; None: no list, or OF_ONE_OWNER
    gated: bool = False  # the handler reads them through the gate for long reads
    # examples of path parameters that replace the default ones
    example_path: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    given_examples: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)

    @property
    def summary(self) -> str:
        return inspect.getdoc(self.handler) or ""

    @property
    def example_body(self) -> Any:  # noqa: ANN401 - a shape, or JSON
        given = self.given_examples.get("example_body")
        if given is not None or self.body is None:
            return given
        return make_example(self.body) if issubclass(self.body, Struct) else [make_example(self.records.shapes[0])]

    @property
    def example_answer(self) -> Any:  # noqa: ANN401 - as above
        given = self.given_examples.get("example_answer")
        return make_example(self.answer) if given is None and not isinstance(self.answer, str) else given


class OperationParts(TypedDict):
    """The parts of an operation's declaration, besides method, path, group and handler."""

    permissions: NotRequired[frozenset[str] | None]  # if they are not those of the group
    answer: NotRequired[object]  # if the handler's return type is not the shape of the answer
    name: NotRequired[str]  # if it is not the handler's name
    access: NotRequired[Access]  # if a GET writes, or another method reads
    number: NotRequired[int]
    refusals: NotRequired[Sequence[type[Refusal]]]  # what its own rules refuse
    cache: NotRequired[Cache]  # for GET, whether clients may cache the answer, if it is not the group's
    body_limit: NotRequired[int]
    records: NotRequired[Records]
    example_path: NotRequired[Mapping[str, str]]
    example_body: NotRequired[object]  # an example instead of one that is made of the shape, as below
    example_answer: NotRequired[object]
    successor: NotRequired[str]
    # most rows that the answer can have, or OF_ONE_OWNER; required for reads that answer a list which is not a page
    rows: NotRequired[int | None]
    gated: NotRequired[bool]  # the handler uses the gate for long reads; required above MOST_AT_ONCE rows


@dataclass(frozen=True, eq=False)
class Group:
    """A group of operations in the API's documents."""

    title: str
    about: str
    place: int  # its place among the groups in the documents; modules of rooms list their groups in a tuple `GROUPS`
    permissions: frozenset[str] | UnsetType | None = UNSET  # of all operations that do not declare their own
    cache: Cache = NO_STORE  # of those of its reads with GET that do not declare their own
    operations: list[Operation] = field(default_factory=list[Operation])

    def operation(self, address: str, **parts: Unpack[OperationParts]) -> Callable[[H], H]:
        """Declare the function below as the operation at this address, such as `GET /api/v1/players`."""
        method, _, path = address.partition(" ")

        def declare(handler: H) -> H:
            values = list_values(path)
            taken = _list_arguments(address, handler, values)
            found: dict[str, Any] = {
                "name": handler.__name__,
                "access": READ if method == "GET" else WRITE,
                "answer": _find_answer(handler),
                "permissions": self.permissions,
                "cache": self.cache if method == "GET" else NO_STORE,
                **{name: value for name, value in parts.items() if name not in EXAMPLES},
            }
            if (returned := _find_answer(handler)) not in (None, found["answer"]):
                raise DeclarationError(f"The operation {address} declares another answer than {returned}.")
            found.setdefault("rows", _find_rows(found["answer"]))
            found["refusals"] = tuple(dict.fromkeys((*parts.get("refusals", ()), *_list_gate_refusals(found))))
            _require_parts(address, parts, found, handler)
            examples = {name: value for name, value in parts.items() if name in EXAMPLES}
            body, query = taken.get("body"), taken.get("query")
            about = {"group": self, "handler": handler, "path_values": values, "given_examples": examples}
            self.operations.append(Operation(method=method, path=path, body=body, query=query, **about, **found))
            return handler

        return declare


EXAMPLES = ("example_body", "example_answer")


def _find_answer(handler: Handler) -> object:
    """Return the shape that a handler returns; None if it returns bytes or a response."""
    kind = inspect.signature(handler).return_annotation
    return None if set(_split(kind)) <= {bytes, Response} else kind


def _list_gate_refusals(found: Mapping[str, Any]) -> Sequence[type[Refusal]]:
    """List what the gate for long reads refuses, for an operation that uses it: always, or for a long list."""
    is_unlimited = found["access"] is READ and found["rows"] is OF_ONE_OWNER and is_list(found["answer"])
    return (TooManyLongReads,) if found.get("gated") or is_unlimited else ()


def _find_rows(answer: object) -> int | None:
    """Return the most rows of a page: its class says so."""
    shapes = [get_origin(each) or each for each in _split(answer)]
    return next((each.MOST_ROWS for each in shapes if hasattr(each, "MOST_ROWS")), None)


def _has_list(body: type | None) -> bool:
    """Tell whether a field of a body is a list."""
    fields = msgspec.structs.fields(body) if body and issubclass(body, Struct) else ()
    return any(_contains_list(each.type) for each in fields)


def _contains_list(kind: object) -> bool:
    return get_origin(kind) is list or any(_contains_list(each) for each in get_args(kind))


def _require_parts(address: str, parts: OperationParts, found: Mapping[str, Any], handler: Handler) -> None:
    """Check that an operation's declaration has all required parts; the error names the missing ones."""
    missing = ["answer"] if found["answer"] is None else []
    missing += ["permissions"] if found["permissions"] is UNSET else []
    is_long = found["access"] is READ and found["answer"] is not None and is_list(found["answer"])
    missing += ["rows"] if is_long and found["rows"] is None and "rows" not in parts else []
    missing += ["gated"] if (found["rows"] or 0) > MOST_AT_ONCE and not parts.get("gated") else []
    missing += ["a docstring, which is its summary"] if not handler.__doc__ else []
    if missing:
        raise DeclarationError(f"The operation {address} does not declare {', '.join(missing)}.")
    unknown = sorted(parts.keys() - OperationParts.__annotations__.keys())
    if unknown:
        raise DeclarationError(f"The operation {address} declares {', '.join(unknown)}, which no operation has.")


def _list_arguments(address: str, handler: Handler, values: Sequence[PathValue]) -> dict[str, type]:
    """List a handler's arguments after the request, with their types; raise DeclarationError for one it cannot get.

    A query type must be frozen: requests without parameters share one instance.
    """
    _, *parameters = inspect.signature(handler).parameters.values()
    taken = {each.name: each.annotation for each in parameters}
    read = {each.argument: inspect.signature(each.read).return_annotation for each in values}
    expected = {name: taken[name] for name in ("body", "query") if name in taken} | read
    if list(taken.items()) != list(expected.items()):
        raise DeclarationError(
            f"The handler of {address} takes {_show(taken)}. The dispatcher passes {_show(expected)}."
        )
    if "query" in taken and not taken["query"].__struct_config__.frozen:
        raise DeclarationError(f"The operation {address} declares {taken['query'].__name__}, which is not frozen.")
    return taken


def _show(arguments: Mapping[str, type]) -> str:
    return ", ".join(("request", *(f"{name}: {getattr(kind, '__name__', kind)}" for name, kind in arguments.items())))
