import asyncio
from typing import Any

import pytest

from gamekeeper import app, settings
from gamekeeper.http.asgi import Asgi
from gamekeeper.http.caller import Callers


async def nothing() -> None:
    pass


async def out_of_luck() -> None:
    raise RuntimeError("no luck")


async def live(asgi: Asgi, *messages: str) -> list[str]:
    incoming, sent = [{"type": each} for each in messages], list[str]()

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await asgi({"type": "lifespan"}, receive, send)
    return sent


def test_a_life(tmp_path: Any) -> None:
    keeper = app.build_keeper(settings.load({}, database=f"sqlite:///{tmp_path}/x.db"))
    sent = asyncio.run(live(app.build(keeper), "lifespan.startup", "lifespan.shutdown"))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_what_cannot_start_does_not_serve(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    keeper = app.build_keeper(settings.load({}, database=f"sqlite:///{tmp_path}/x.db"))
    sent = asyncio.run(
        live(Asgi(keeper, Callers(keeper.store), out_of_luck, nothing), "lifespan.startup", "lifespan.shutdown")
    )
    assert sent[0] == "lifespan.startup.failed"
    assert "no luck" in capsys.readouterr().err
