"""Declare a method once, as a function that builds a request, for both clients.

`operation` declares a method that sends one request. `iterator` and the functions of iteration.py declare a method that
reads a list in batches. `add_methods` turns declarations into plain methods, blocking in `Client` and async in
`AsyncClient`, with the signature and the docstring of the declaration.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from inspect import BoundArguments, Parameter
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypedDict, TypeVar, get_args, overload

from gamekeeper_client.call import Batch, Call, Payload, build_write_headers, fill_path

P = ParamSpec("P")
T = TypeVar("T")
WRITE_OPTIONS = (
    Parameter("dry_run", Parameter.KEYWORD_ONLY, default=False, annotation=bool),
    Parameter("reason", Parameter.KEYWORD_ONLY, default="", annotation=str),
    Parameter("idempotency_key", Parameter.KEYWORD_ONLY, default=None, annotation=str | None),
)
# descriptions of the parameters of every write, added to its docstring
PARAMETERS = {
    "dry_run": "return the result that the write would have, and change nothing.",
    "reason": "text to store with the change in the audit log.",
    "idempotency_key": "your own key instead of a random one, so that another process can repeat the call.",
}


class WriteOptions(TypedDict, total=False):
    """Parameters of every write. A declaration has them as `**options`; its client method names each of them."""

    dry_run: bool
    reason: str
    idempotency_key: str | None


class BlockingClient(Protocol):
    def _send(self, call: Call[T], /) -> T: ...
    def _iterate(self, first: Call[Batch[T]], /) -> Iterator[T]: ...


class AwaitingClient(Protocol):
    def _send(self, call: Call[T], /) -> Coroutine[Any, Any, T]: ...
    def _iterate(self, first: Call[Batch[T]], /) -> AsyncIterator[T]: ...


class Declaration:
    """Declaration of a method of both clients: name, signature, docstring, and type of its result or records."""

    name = ""

    def __init__(self, signature: inspect.Signature, doc: str, result: Any) -> None:  # noqa: ANN401 - the value is a type
        self.signature, self.doc, self.result = signature, doc, result

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def bind(self, *args: object, **kwargs: object) -> BoundArguments:
        try:
            bound = self.signature.bind(None, *args, **kwargs)  # None stands for `self`, which declarations do not use
        except TypeError as wrong:
            raise TypeError(f"{self.name}() {wrong}") from None
        bound.apply_defaults()
        return bound

    def describe(self) -> str:
        """Add the descriptions of the parameters of every write to a method's docstring."""
        about, returns, rest = self.doc.partition("Returns ")
        names = [name for name in self.signature.parameters if name in PARAMETERS and f"{name}: " not in about]
        return about + "".join(f"{name}: {PARAMETERS[name]}\n" for name in names) + returns + rest


class Operation(Declaration, Generic[P, T]):
    """Declaration of a method that sends one request to one route of the server."""

    def __init__(self, method: str, path: str, build: Callable[..., Payload[T]], *, needs_token: bool) -> None:
        signature = inspect.signature(build)
        parameters = list(signature.parameters.values())
        self.is_write = parameters[-1].kind is Parameter.VAR_KEYWORD
        if self.is_write:
            signature = signature.replace(parameters=[*parameters[:-1], *WRITE_OPTIONS])
        super().__init__(signature, inspect.cleandoc(build.__doc__ or ""), *get_args(signature.return_annotation))
        self.method, self.path, self.needs_token, self._build = method, path, needs_token, build

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        bound = self.bind(*args, **kwargs)
        given = bound.arguments
        if self.is_write:
            # strip the reason: a header value cannot begin or end with a space
            given["reason"] = given["reason"].strip(" ")
        payload = self._build(*bound.args, **bound.kwargs)
        query, headers = payload.query, dict[str, str]()
        if self.is_write:
            headers = build_write_headers(given["reason"], given["idempotency_key"])
            query |= {"dryRun": "true"} if given["dry_run"] else {}
        path = fill_path(self.path, given)
        return Call(self.method, path, payload.read, query, payload.body, headers, self.needs_token, payload.wait)

    if TYPE_CHECKING:

        @overload
        def __get__(self, client: None, owner: object = None) -> "Operation[P, T]": ...
        @overload
        def __get__(self, client: AwaitingClient, owner: object = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
        @overload
        def __get__(self, client: BlockingClient, owner: object = None) -> Callable[P, T]: ...
        def __get__(self, client: Any, owner: object = None) -> Any: ...


class Iteration(Declaration, Generic[P, T]):
    """Declaration of a method that iterates over records, fetched in batches; `read` builds the first call."""

    def __init__(
        self,
        signature: inspect.Signature,
        doc: str,
        record: Any,  # noqa: ANN401 - the value is a type
        read: Callable[[BoundArguments], Call[Batch[T]]],
    ) -> None:
        super().__init__(signature, doc, record)
        self._read = read

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[Batch[T]]:
        return self._read(self.bind(*args, **kwargs))

    if TYPE_CHECKING:

        @overload
        def __get__(self, client: None, owner: object = None) -> "Iteration[P, T]": ...
        @overload
        def __get__(self, client: AwaitingClient, owner: object = None) -> Callable[P, AsyncIterator[T]]: ...
        @overload
        def __get__(self, client: BlockingClient, owner: object = None) -> Callable[P, Iterator[T]]: ...
        def __get__(self, client: Any, owner: object = None) -> Any: ...


def operation(
    method: str, path: str, *, needs_token: bool = True
) -> Callable[[Callable[Concatenate[Any, P], Payload[T]]], Operation[P, T]]:
    """Declare a client method. Each {name} of `path` is replaced by that argument; a write has `**options`."""
    return lambda build: Operation(method, path, build, needs_token=needs_token)


def iterator(build: Callable[Concatenate[Any, P], Call[Batch[T]]]) -> Iteration[P, T]:
    """Declare a client method that iterates; the decorated function builds the first call."""
    signature = inspect.signature(build)
    (batch,) = get_args(signature.return_annotation)
    (record,) = get_args(batch)
    read: Callable[..., Call[Batch[T]]] = build
    doc = inspect.cleandoc(build.__doc__ or "")
    return Iteration(signature, doc, record, lambda given: read(*given.args, **given.kwargs))


def find_declarations(client: type) -> dict[str, Declaration]:
    bases = reversed(client.__mro__)
    return {name: each for base in bases for name, each in vars(base).items() if isinstance(each, Declaration)}


def add_methods(client: type, make_method: Callable[[Any], tuple[Any, object]]) -> None:
    """Add a plain method for each declaration that the class inherits."""
    for name, declared in find_declarations(client).items():
        method, result = make_method(declared)
        method.__name__, method.__qualname__, method.__module__ = name, f"{client.__name__}.{name}", client.__module__
        method.__doc__ = declared.describe()
        method.__signature__ = declared.signature.replace(return_annotation=result)
        annotations = {each.name: each.annotation for each in declared.signature.parameters.values()}
        method.__annotations__ = {**annotations, "return": result}
        del method.__annotations__["self"]
        setattr(client, name, method)


def make_blocking(declared: Operation[..., Any] | Iteration[..., Any]) -> tuple[Any, object]:
    """Make the method of `Client`, and return it with its return type."""
    if isinstance(declared, Iteration):
        return _make_iterating(declared), Iterator[declared.result]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the declaration has the types
        return self._send(declared.call(*args, **kwargs))

    return method, declared.result


def make_async(declared: Operation[..., Any] | Iteration[..., Any]) -> tuple[Any, object]:
    """Make the method of `AsyncClient`, and return it with its return type."""
    if isinstance(declared, Iteration):
        return _make_iterating(declared), AsyncIterator[declared.result]

    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the declaration has the types
        return await self._send(declared.call(*args, **kwargs))

    return method, declared.result


def _make_iterating(declared: Iteration[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the declaration has the types
        return self._iterate(declared.call(*args, **kwargs))

    return method
