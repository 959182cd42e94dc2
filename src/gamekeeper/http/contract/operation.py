"""Declare operations beside their handlers. Routing, documents and checks derive from the declarations.

The handler's signature is part of the declaration. After the request it takes, in this order: `body` and `query`, if
the operation has them, with their shapes as types; then the path parameters that have a reader in path_parameters.py.
The dispatcher decodes and checks them all. The name of the operation is the handler's, the answer is the shape that it
returns, permissions and caching are those of the group, and GET reads while other methods write, unless the declaration
says otherwise. The declaration also says how many rows of a list may be read and encoded at once. Examples are made of
the shapes. Only missing permissions are an error here, so that the server starts fast; the rest is checked by
tests/contract/test_declarations.py.
"""

import inspect
import types
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
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
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import force_setattr

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
    return any(_is_list_type(each) or _has_list_field(each) for each in list_types(answer))


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
        for each in list_types(field.type)
    )


def _is_record(kind: Any) -> bool:  # noqa: ANN401 - as above
    shape = get_origin(kind) or kind
    return isinstance(shape, type) and issubclass(shape, Struct)


def list_types(kind: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Yield the types of a union, without annotations."""
    if get_origin(kind) is Annotated:
        yield from list_types(get_args(kind)[0])
    elif get_origin(kind) in (Union, types.UnionType):
        for each in get_args(kind):
            yield from list_types(each)
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


def needs(*names: str) -> frozenset[str]:
    """Return a set of permissions for a declaration. All must be in game/access/permissions.py."""
    unknown = sorted(set(names) - PERMISSIONS.keys())
    if unknown:
        raise ValueError(f"there is no permission {', '.join(unknown)}")
    return frozenset(names)


READ_PLAYERS = needs("players.read")
QUERY = needs("users.query")
MANAGE = needs("users.query", "users.manage")
STAFF = needs("staff.manage")
KEYS = needs("keys.manage")
LINK = needs("game.link")
GIFT_REFUSALS = (ItemNotAllowed, GiftTooLarge, QuotaReached)  # refusals of all operations that can give items
BAN, KICK, MUTE = needs("moderation.ban"), needs("moderation.kick"), needs("moderation.mute")


class Route(Struct, eq=False, frozen=True, kw_only=True):
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
    name_in_log: str = ""
    queue_noun: str = ""  # first part of the name of a write queue: what the first path parameter names
    over_link: bool = False
    is_own_api: bool = False  # our own operation, which neither the spec nor the engine defines
    keeps_empty: bool = False  # an empty query value is read as sent; elsewhere it counts as left out
    # a request may have Idempotency-Key, X-Reason and dryRun: all writes except the log-in
    is_repeatable: bool = False
    takes_input: bool = False  # has a body, a query, path parameters to check, or headers such as X-Dry-Run
    is_file: bool = False  # serves files that pages load; the log leaves them out

    def __post_init__(self) -> None:
        over_link = self.path.startswith(LINK_ROOT)
        computed = {
            "name_in_log": f"{self.method} {self.path}",
            "queue_noun": self.path.partition("/[")[0].rpartition("/")[2],
            "over_link": over_link,
            "is_own_api": over_link or self.path.startswith(KEEPER_ROOT),
            "keeps_empty": self.path.startswith(SPEC_ROOT),
            "is_repeatable": self.access is WRITE and self.permissions is not None,
            "takes_input": bool(self.body or self.query or self.path_values or self.access is WRITE),
            "is_file": self.path.startswith(FILES),
        }
        for name, value in computed.items():
            force_setattr(self, name, value)  # the class is frozen

    @property
    def takes_forms(self) -> bool:
        """Tell whether the body may be a form, which has no lists."""
        return not self.over_link and not _has_list(self.body)

    @property
    def parameters(self) -> list[str]:
        return list_names(self.path)


class Records(NamedTuple):
    """The records of a body that is a JSON array: their name in the documents, and their shapes."""

    name: str
    shapes: tuple[type[Struct], ...]


NO_RECORDS = Records("", ())


class Operation(Route, eq=False, frozen=True, kw_only=True):
    """A route that the API's documents describe."""

    name: str  # method of the Python client, and operationId in OpenAPI
    number: int | None = None  # number of the operation in the API's specification; None: not part of it
    group: "Group"
    records: Records = NO_RECORDS  # of a body that the handler decodes itself
    answer: object  # shape of the answer; a str is a media type other than JSON
    own_refusals: Sequence[type[Refusal]] = ()  # refusals of the rules of this operation
    # most rows of an answer that is a list, or OF_ONE_OWNER; without it the answer is a page, or no list
    own_rows: int | UnsetType | None = UNSET
    gated: bool = False  # the handler reads them through the gate for long reads
    # examples of path parameters that replace the default ones
    example_path: Mapping[str, str] = field(default_factory=dict[str, str])
    given_examples: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def rows(self) -> int | None:
        """The most rows of an answer that is a list or a page, whose class says so; None: no list, or OF_ONE_OWNER."""
        if self.own_rows is not UNSET:
            return self.own_rows
        shapes = [get_origin(each) or each for each in list_types(self.answer)]
        return next((each.MOST_ROWS for each in shapes if hasattr(each, "MOST_ROWS")), None)

    @property
    def refusals(self) -> Sequence[type[Refusal]]:
        """The refusals of its own rules and of the gate for long reads, which it uses always or for a long list."""
        is_unlimited = self.access is READ and self.rows is OF_ONE_OWNER and is_list(self.answer)
        gate = (TooManyLongReads,) if self.gated or is_unlimited else ()
        return tuple(dict.fromkeys((*self.own_refusals, *gate)))

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


class Group(Struct, eq=False, frozen=True):
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
            types = handler.__annotations__
            found: dict[str, Any] = {
                "name": handler.__name__,
                "access": READ if method == "GET" else WRITE,
                "permissions": self.permissions,
                "answer": types["return"],
                "body": types.get("body"),
                "query": types.get("query"),
                "cache": self.cache if method == "GET" else NO_STORE,
                "path_values": list_values(path),
                "given_examples": {name: value for name, value in parts.items() if name in EXAMPLES},
                **{RENAMED.get(name, name): value for name, value in parts.items() if name not in EXAMPLES},
            }
            if found["permissions"] is UNSET:
                raise ValueError(f"neither {address} nor its group declares permissions: any token would be enough")
            self.operations.append(Operation(method=method, path=path, group=self, handler=handler, **found))
            return handler

        return declare


EXAMPLES = ("example_body", "example_answer")
RENAMED = {"refusals": "own_refusals", "rows": "own_rows"}  # part of a declaration → field of `Operation`


@cache
def _has_list(body: type | None) -> bool:
    """Tell whether a field of a body is a list."""
    fields = msgspec.structs.fields(body) if body and issubclass(body, Struct) else ()
    return any(_contains_list(each.type) for each in fields)


def _contains_list(kind: object) -> bool:
    return get_origin(kind) is list or any(_contains_list(each) for each in get_args(kind))
