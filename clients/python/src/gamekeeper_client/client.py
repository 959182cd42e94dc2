"""The two clients: the same methods, blocking in `Client` and async in `AsyncClient`."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from types import TracebackType
from typing import Self, TypeVar

import httpx

from gamekeeper_client.call import Batch, Call
from gamekeeper_client.catalogue import Catalogue
from gamekeeper_client.connections import Connections
from gamekeeper_client.errors import GamekeeperError
from gamekeeper_client.exchange import (
    Flow,
    NoResponse,
    Outcome,
    Patience,
    Renew,
    Response,
    Send,
    Session,
    Wait,
    exchange,
)
from gamekeeper_client.following import Following
from gamekeeper_client.log_in import LogIn
from gamekeeper_client.operation import Operation, add_methods, find_declarations, make_async, make_blocking
from gamekeeper_client.operations import Operations

T = TypeVar("T")
TIMEOUT_SECONDS = 10.0  # default seconds to wait for a response of the server
PATIENCE = Patience()
AGENT = f"gamekeeper-client/{version('gamekeeper-client')}"
# errors after which the client does not retry: the request would fail in the same way
PERMANENT_ERRORS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


class _Client(Operations, Catalogue, Following, LogIn):
    """Base of both clients: all operations, and the code that builds their HTTP requests."""

    def __init__(self, url: str, session: Session, timeout: float, patience: Patience) -> None:
        _check_address(url)
        self._url, self._session, self._timeout, self._patience = url.rstrip("/"), session, timeout, patience

    def _build_request(self, http: httpx.Client | httpx.AsyncClient, step: Send) -> httpx.Request:
        call = step.call
        headers = {"User-Agent": AGENT, "Accept": "application/json", **call.headers}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if step.token is not None:
            headers["Authorization"] = f"Bearer {step.token}"
        try:
            return http.build_request(
                call.method,
                self._url + call.path,
                params=call.query or None,
                content=call.body,
                headers=[(name.encode(), value.encode()) for name, value in headers.items()],
                timeout=self._timeout + call.wait,
            )
        except httpx.InvalidURL as wrong:  # the URL has more than 65,536 characters: a long name or filter
            raise ValueError(f"The request cannot be sent: {wrong}.") from wrong


class Client(_Client):
    """Blocking client. Threads can share one client; a forked process opens its own connections.

    Pass a user name and a password, or a token. It logs in when it needs a token, and renews the token in time.

    url: address of the server, such as http://127.0.0.1:5400.
    username: name of the account to log in with.
    password: its password as a person types it; the client sends the SHA-256.
    token: an access token, instead of a user name and a password.
    read_only: request a token that can only read.
    timeout: seconds to wait for a response.
    patience: how often and how long to retry.
    http: your own httpx.Client, for certificates or a proxy; close it yourself.

    Every method can raise Unreachable (no response after all retries), NotUnderstood (a response that is not from
    Gamekeeper), Denied, Forbidden, TooManyRequests, InternalError and Unavailable; every write also
    IdempotencyKeyReused. Each method's docstring names its own errors; `errors` has all of them.
    """

    def __init__(
        self,
        url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        token: str | None = None,
        read_only: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        patience: Patience = PATIENCE,
        http: httpx.Client | None = None,
    ) -> None:
        super().__init__(url, Session(username, password, token, read_only=read_only), timeout, patience)
        self._connections = Connections(http, httpx.Client, threading.Lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections to the server.

        Returns nothing.
        """
        if self._connections.is_closable:
            self._connections.http.close()

    def _send(self, call: Call[T], /) -> T:
        return self._run(exchange(call, self._session, self._patience))

    def _iterate(self, first: Call[Batch[T]], /) -> Iterator[T]:
        following: Call[Batch[T]] | None = first
        while following is not None:
            batch = self._send(following)
            yield from batch.records
            following = batch.then

    def _run(self, flow: Flow[T]) -> T:
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as done:
                return done.value
            outcome = self._perform(step)

    def _perform(self, step: Send | Wait | Renew) -> Outcome:
        self._connections.claim(self._session)
        match step:
            case Send():
                http = self._connections.http
                request = self._build_request(http, step)
                try:
                    return _convert_response(http.send(request))
                except httpx.RequestError as problem:
                    return NoResponse(problem, isinstance(problem, PERMANENT_ERRORS))
            case Wait():
                time.sleep(step.seconds)
            case Renew():
                try:
                    with self._connections.renewing:
                        self._run(self._session.renew(step.stale))
                except GamekeeperError as problem:
                    return problem
        return None


class AsyncClient(_Client):
    """Client for asyncio. It has the methods of `Client`: use `await`, and `async for` with the iterators.

    It has the parameters of `Client`; its `http` is an httpx.AsyncClient.
    """

    def __init__(
        self,
        url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        token: str | None = None,
        read_only: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        patience: Patience = PATIENCE,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(url, Session(username, password, token, read_only=read_only), timeout, patience)
        self._connections = Connections(http, httpx.AsyncClient, asyncio.Lock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections to the server.

        Returns nothing.
        """
        if self._connections.is_closable:
            await self._connections.http.aclose()

    async def _send(self, call: Call[T], /) -> T:
        return await self._run(exchange(call, self._session, self._patience))

    async def _iterate(self, first: Call[Batch[T]], /) -> AsyncIterator[T]:
        following: Call[Batch[T]] | None = first
        while following is not None:
            batch = await self._send(following)
            for record in batch.records:
                yield record
            following = batch.then

    async def _run(self, flow: Flow[T]) -> T:
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as done:
                return done.value
            outcome = await self._perform(step)

    async def _perform(self, step: Send | Wait | Renew) -> Outcome:
        self._connections.claim(self._session)
        match step:
            case Send():
                http = self._connections.http
                request = self._build_request(http, step)
                try:
                    return _convert_response(await http.send(request))
                except httpx.RequestError as problem:
                    return NoResponse(problem, isinstance(problem, PERMANENT_ERRORS))
            case Wait():
                await asyncio.sleep(step.seconds)
            case Renew():
                try:
                    async with self._connections.renewing:
                        await self._run(self._session.renew(step.stale))
                except GamekeeperError as problem:
                    return problem
        return None


def _check_address(url: str) -> None:
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as wrong:
        raise ValueError(f"The address {url!r} is not valid: {wrong}.") from wrong
    if address.scheme not in {"http", "https"} or not address.host:
        raise ValueError(f"The address {url!r} needs the form http://host:port or https://host:port.")


def _convert_response(response: httpx.Response) -> Response:
    return Response(response.status_code, response.content, response.headers.get("Retry-After"))


add_methods(Client, make_blocking)
add_methods(AsyncClient, make_async)
# HTTP method and path of each operation. Methods that iterate have no entry: they call the list operation.
OPERATIONS = {
    name: (each.method, each.path) for name, each in find_declarations(_Client).items() if isinstance(each, Operation)
}
