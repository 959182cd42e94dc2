"""One interface for the blocking and the asynchronous client, for tests of both."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

from gamekeeper_client import AsyncClient, Client, Patience

QUICK = Patience(retries=6, first=0.02, longest=0.2)


class Driver:
    """Calls either client in the same way; the asynchronous one runs on its own event loop."""

    def __init__(self, kind: type[Client | AsyncClient], url: str, **options: Any) -> None:
        make: Any = kind
        self.client: Any = make(url, **{"patience": QUICK, **options})
        self._loop = asyncio.new_event_loop() if kind is AsyncClient else None

    def call(self, name: str, *given: Any, **more: Any) -> Any:
        answer = getattr(self.client, name)(*given, **more)
        return answer if self._loop is None else self._loop.run_until_complete(answer)

    def each(self, name: str, *given: Any, most: int = 10_000, **more: Any) -> list[Any]:
        many = getattr(self.client, name)(*given, **more)
        if self._loop is None:
            # zip stops after `most` records, so that the client requests no further pages
            return [record for _, record in zip(range(most), many, strict=False)]
        return self._loop.run_until_complete(_some(many, most))

    @property
    def session(self) -> Any:
        return self.client._session  # noqa: SLF001 - a token is made bad here, as time would

    def close(self) -> None:
        done = self.client.close()
        if self._loop is not None:
            self._loop.run_until_complete(done)
            self._loop.run_until_complete(
                self._loop.shutdown_asyncgens()
            )  # asyncio.run does this too; Python 3.13 warns if asynchronous generators are not closed
            self._loop.close()


def connecting(kind: type[Client | AsyncClient], url: str, **usual: Any) -> Generator[Callable[..., Driver]]:
    """Yield a function that makes drivers, and close them at the end."""
    made: list[Driver] = []

    def make(**options: Any) -> Driver:
        made.append(Driver(kind, url, **usual | options))
        return made[-1]

    yield make
    for each in made:
        each.close()


async def _some(many: Any, most: int) -> list[Any]:
    found: list[Any] = []
    async for record in many:
        found.append(record)
        if len(found) == most:
            await many.aclose()
            break
    return found
