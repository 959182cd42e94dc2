"""The baseline of the benchmark: the server of `gamekeeper serve` with an application that only says hello."""

import sys
from collections.abc import Awaitable, Callable
from typing import Any, cast

from gamekeeper.cli import serve
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi

BODY = b'{"hello":"world"}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]

Message = dict[str, Any]


async def hello(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})


async def _live(receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
    for expected in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{expected}.complete"})


def build(settings: Settings) -> Asgi:
    del settings  # the hello application has no settings
    return cast("Asgi", hello)  # safe cast: granian accepts any ASGI app


if __name__ == "__main__":
    serve.run(settings.load({}, port=int(sys.argv[1])), build, "hello")
