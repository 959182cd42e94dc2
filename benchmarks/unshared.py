"""Gamekeeper whose console reads everything for each page, which is not a setting; console.py runs it as a program."""

import sys
from typing import Any

from gamekeeper.cli import serve
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.admission import SharedQuery
from gamekeeper.http.server.asgi import Asgi


def build(settings: Settings) -> Asgi:
    """Build the application in the worker, because changes in the parent process do not reach it."""
    SharedQuery.get = _read
    return serve.build_app(settings)


async def _read(self: SharedQuery[Any]) -> Any:  # noqa: ANN401 - any query
    return await self._put()  # pyright: ignore[reportPrivateUsage] - replaces a method of the class


if __name__ == "__main__":
    database, port = sys.argv[1:]
    serve.run(settings.load({}, database=database, port=int(port)), build, "ready")
