"""A Gamekeeper server whose answers are corrupted: seeded faults for the tests of answers.

with Spoilt(ECHOED, run.database) as server: …      like scripts/server.py's Server, with the same settings
"""

import json
from collections.abc import Callable
from typing import Any, cast

from built_server import BuiltServer
from gamekeeper.cli import worker
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi, Scope, Send
from gamekeeper.http.server.request import Receive

BROKEN, ECHOED, APPLIED = "500-for-400", "echoed-token", "refused-and-applied"
RESHAPED, HIDDEN = "other-shape", "hidden-route"
BAD = 400
Answer = tuple[int, bytes]


class Spoilt(BuiltServer):
    builder = "battery.spoilt"


class Spoiling:
    """ASGI middleware that buffers each answer, corrupts it and sends it."""

    def __init__(self, app: Asgi, way: str) -> None:
        self._app = app
        self._way = way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said: list[Any] = []

        async def hold(message: Any) -> None:  # noqa: ANN401 - a message of ASGI
            said.append(message)

        await self._app(scope, receive, hold)
        whole = b"".join(each.get("body", b"") for each in said[1:])
        status, body = WAYS[self._way](scope, (said[0]["status"], whole))
        if self._way == APPLIED and status == BAD:
            await self._apply_something(scope)
        headers = [(name, value) for name, value in said[0]["headers"] if name != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await send({"type": "http.response.body", "body": body})

    async def _apply_something(self, scope: Scope) -> None:
        """Seeded fault: apply an unrequested change in the caller's name."""
        path, body = "/api/link/v1/servers/unwanted", b'{"Lease": 3600}'
        kept = [(name, value) for name, value in scope["headers"] if name == b"authorization"]
        sent = [*kept, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        asked = {
            **scope,
            "method": "PUT",
            "path": path,
            "raw_path": path.encode(),
            "headers": sent,
            "query_string": b"",
        }

        async def receive() -> Any:  # noqa: ANN401 - a message of ASGI
            return {"type": "http.request", "body": body, "more_body": False}

        async def nowhere(_: Any) -> None:  # noqa: ANN401 - a message of ASGI
            pass

        await self._app(cast("Scope", asked), receive, nowhere)


def _answer_500(scope: Scope, answer: Answer) -> Answer:
    return (500 if answer[0] == BAD and scope["method"] == "PUT" else answer[0]), answer[1]


def _echo_headers(scope: Scope, answer: Answer) -> Answer:
    """Seeded fault: repeat the request's headers in refusals, like a debugging page."""
    if answer[0] != BAD:
        return answer
    sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    return BAD, json.dumps({**json.loads(answer[1]), "Sent": sent}).encode()


def _reshape(_: Scope, answer: Answer) -> Answer:
    return answer[0], answer[1].replace(b'"Total":', b'"Count":')


def _hide_operation(scope: Scope, answer: Answer) -> Answer:
    """Seeded fault: drop one operation from the OpenAPI document."""
    if scope["path"] != "/api/openapi.json":
        return answer
    document = json.loads(answer[1])
    document["paths"].popitem()
    return answer[0], json.dumps(document).encode()


def _as_it_is(_: Scope, answer: Answer) -> Answer:
    return answer


WAYS: dict[str, Callable[[Scope, Answer], Answer]] = {
    BROKEN: _answer_500,
    ECHOED: _echo_headers,
    APPLIED: _as_it_is,
    RESHAPED: _reshape,
    HIDDEN: _hide_operation,
}


def build(settings: Settings, way: str) -> Asgi:
    return cast("Asgi", Spoiling(worker.build_app(settings), way))  # safe cast: granian accepts any ASGI app
