"""SIGTERM while game servers wait for changes: everybody is answered, and the process is gone in a moment."""

import asyncio
import time
from collections.abc import Mapping

import httpx

from server import Server

POLLERS = 50


async def stop_while_they_wait(server: Server, token: str) -> tuple[list[httpx.Response], int, float]:
    headers = {"Authorization": f"Bearer {token}"}
    limits = httpx.Limits(max_connections=POLLERS)
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=70, limits=limits) as client:
        after = (await client.get("/api/link/v1/changes?after=now")).json()["Next"]
        asking = [client.get(f"/api/link/v1/changes?after={after}&wait=60") for _ in range(POLLERS)]
        polls = [asyncio.ensure_future(each) for each in asking]
        await asyncio.sleep(1)
        assert not any(poll.done() for poll in polls)
        began = time.monotonic()
        code = await asyncio.to_thread(server.stop)
        took = time.monotonic() - began
        return await asyncio.gather(*polls), code, took


def test_fifty_pollers_do_not_keep_it(database: str, known_tokens: Mapping[str, str]) -> None:
    with Server(database) as server:
        answers, code, took = asyncio.run(stop_while_they_wait(server, known_tokens["Server"]))
    assert (code, took < 2) == (0, True)
    assert [answer.status_code for answer in answers] == [200] * POLLERS
    assert [answer.json()["Changes"] for answer in answers] == [[]] * POLLERS
