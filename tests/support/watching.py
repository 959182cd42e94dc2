"""A client of the stream of updates: reads events until the stream ends or the client disconnects."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from gamekeeper.console.frame import sessions
from keepers import Keeper

EVENTS = "/console/events"
PATIENCE_SECONDS = 60.0


class Watch:
    def __init__(self, keeper: Keeper) -> None:
        self._world = keeper.world
        self._gone = asyncio.Event()
        self._sent: list[Any] = []
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "raw_path": EVENTS.encode(),
            "path": EVENTS,
            "query_string": b"",
            "headers": [(b"cookie", f"{sessions.PLAIN_COOKIE}={keeper.cookie}".encode())],
            "client": ("127.0.0.1", 4711),
        }
        self._task = self._world.loop.create_task(self._world.asgi(scope, self._receive, self._send))
        self.wait(lambda: bool(self._sent))

    @property
    def status(self) -> int:
        return self._sent[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self._sent[0]["headers"]}

    @property
    def raw(self) -> str:
        return b"".join(each["body"] for each in self._sent[1:]).decode()

    @property
    def told(self) -> list[Any]:
        return [json.loads(line[6:]) for line in self.raw.split("\n") if line.startswith("data: {")]

    @property
    def ended(self) -> bool:
        return self._task.done()

    def wait(self, until: Callable[[], bool]) -> None:
        """Run the event loop until the condition holds; fail after a timeout."""

        async def look() -> None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not until():  # noqa: ASYNC110 - the app has no event to wait for
                    await asyncio.sleep(0.01)

        self._world.run(look())

    def disconnect(self) -> None:
        self._gone.set()
        self.wait(lambda: self.ended)

    async def _receive(self) -> Any:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self._sent.append(message)
