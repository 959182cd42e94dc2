"""The two clients: the same operations, one blocking, one awaiting."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from types import TracebackType
from typing import Self, TypedDict, TypeVar, Unpack

import httpx

from gamekeeper_client.call import Batch, Call
from gamekeeper_client.errors import GamekeeperError
from gamekeeper_client.exchange import Answer, Flow, NoAnswer, Outcome, Patience, Renew, Send, Session, Wait, exchange
from gamekeeper_client.keywords import check_keywords
from gamekeeper_client.operations import Operations

T = TypeVar("T")
TIMEOUT_SECONDS = 10.0
AGENT = f"gamekeeper-client/{version('gamekeeper-client')}"
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)


class Options(TypedDict, total=False):
    """A user name and a password, or a token; how long to wait for an answer, and how often to try again."""

    username: str
    password: str
    token: str
    read_only: bool  # log in for reading only
    timeout: float
    patience: Patience


class _Connection(Operations):
    """What both clients know: where the server is, who is calling, and how long to try."""

    @check_keywords
    def __init__(self, url: str, **options: Unpack[Options]) -> None:
        self._url = url.rstrip("/")
        self._session = Session(
            options.get("username"),
            options.get("password"),
            options.get("token"),
            read_only=options.get("read_only", False),
        )
        self._timeout = options.get("timeout", TIMEOUT_SECONDS)
        self._patience = options.get("patience", Patience())

    def _request(self, http: httpx.Client | httpx.AsyncClient, step: Send) -> httpx.Request:
        call = step.call
        headers = {"User-Agent": AGENT, "Accept": "application/json", **call.headers}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if step.token is not None:
            headers["Authorization"] = f"Bearer {step.token}"
        return http.build_request(
            call.method,
            self._url + call.path,
            params=call.query or None,
            content=call.body,
            headers=[(name.encode(), value.encode()) for name, value in headers.items()],
            timeout=self._timeout + call.wait,
        )


class Client(_Connection):
    """Gamekeeper for programs that block. Threads may share one.

    `url` is the server's, such as http://127.0.0.1:5400; `http` is a client of yours, with certificates or a proxy.
    """

    def __init__(self, url: str, *, http: httpx.Client | None = None, **options: Unpack[Options]) -> None:
        super().__init__(url, **options)
        self._http = http or httpx.Client()
        self._own = http is None
        self._renewing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._own:
            self._http.close()

    def send(self, call: Call[T], /) -> T:
        return self._run(exchange(call, self._session, self._patience))

    def walk(self, first: Call[Batch[T]], /) -> Iterator[T]:
        following: Call[Batch[T]] | None = first
        while following is not None:
            batch = self.send(following)
            yield from batch.records
            following = batch.then

    def _run(self, flow: Flow[T]) -> T:
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as done:
                return done.value
            outcome = self._do(step)

    def _do(self, step: Send | Wait | Renew) -> Outcome:
        match step:
            case Send():
                try:
                    return _answer(self._http.send(self._request(self._http, step)))
                except (httpx.RequestError, httpx.InvalidURL) as problem:
                    return NoAnswer(problem, isinstance(problem, HOPELESS))
            case Wait():
                time.sleep(step.seconds)
            case Renew():
                try:
                    with self._renewing:
                        self._run(self._session.renew(step.stale))
                except GamekeeperError as problem:
                    return problem
        return None


class AsyncClient(_Connection):
    """Gamekeeper for programs that run on asyncio.

    `url` is the server's, such as http://127.0.0.1:5400; `http` is a client of yours, with certificates or a proxy.
    """

    def __init__(self, url: str, *, http: httpx.AsyncClient | None = None, **options: Unpack[Options]) -> None:
        super().__init__(url, **options)
        self._http = http or httpx.AsyncClient()
        self._own = http is None
        self._renewing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._own:
            await self._http.aclose()

    async def send(self, call: Call[T], /) -> T:
        return await self._run(exchange(call, self._session, self._patience))

    async def walk(self, first: Call[Batch[T]], /) -> AsyncIterator[T]:
        following: Call[Batch[T]] | None = first
        while following is not None:
            batch = await self.send(following)
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
            outcome = await self._do(step)

    async def _do(self, step: Send | Wait | Renew) -> Outcome:
        match step:
            case Send():
                try:
                    return _answer(await self._http.send(self._request(self._http, step)))
                except (httpx.RequestError, httpx.InvalidURL) as problem:
                    return NoAnswer(problem, isinstance(problem, HOPELESS))
            case Wait():
                await asyncio.sleep(step.seconds)
            case Renew():
                try:
                    async with self._renewing:
                        await self._run(self._session.renew(step.stale))
                except GamekeeperError as problem:
                    return problem
        return None


def _answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, response.content, response.headers.get("Retry-After"))
