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


async def hello(scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Any]) -> None:
    if scope["type"] == "lifespan":
        for expected in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{expected}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})


def build(_: Settings) -> Asgi:
    return cast("Asgi", hello)  # safe cast: granian accepts any ASGI app


if __name__ == "__main__":
    serve.run(settings.load({}, port=int(sys.argv[1])), build, "hello")
