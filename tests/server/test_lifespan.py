import asyncio
from typing import Any

import pytest

from gamekeeper import app
from gamekeeper.ground import settings
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.http.server.caller import Callers


async def live(asgi: Asgi, *messages: str) -> list[str]:
    incoming, sent = [{"type": each} for each in messages], list[str]()

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await asgi({"type": "lifespan"}, receive, send)
    return sent


def test_failed_startup_does_not_serve(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    async def fail() -> None:
        raise RuntimeError("no luck")

    async def nothing() -> None:
        pass

    keeper = app.build_keeper(settings.load({}, database=f"sqlite:///{tmp_path}/x.db"))
    services = app.build_services(keeper, Callers(keeper.store))
    sent = asyncio.run(live(Asgi(services, fail, nothing), "lifespan.startup", "lifespan.shutdown"))
    assert sent[0] == "lifespan.startup.failed"
    assert "no luck" in capsys.readouterr().err
