"""Send hostile requests to the application byte for byte, and check the answers."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hostile import Hostile

from world import Answer, World

PIECE = 4096


def send(world: World, case: Hostile, by: str = "Root") -> Answer:
    return world.run(_send(world, case, by))


def send_all(world: World, cases: Iterable[Hostile]) -> list[Answer]:
    """Send the requests one after the other in one run of the event loop, which takes half the time."""

    async def send_each() -> list[Answer]:
        return [await _send(world, case, "Root") for case in cases]

    return world.run(send_each())


async def _send(world: World, case: Hostile, by: str) -> Answer:
    path, _, query = case.path.partition(b"?")
    headers = {b"authorization": b"Bearer " + world.tokens[by].encode(), **case.headers}
    if not case.chunked:
        headers.setdefault(b"content-length", str(len(case.body)).encode())
    scope = {
        "type": "http",
        "method": case.method,
        "raw_path": path,
        "path": path.decode("utf-8", "replace"),
        "query_string": query,
        "headers": list(headers.items()),
        "client": ("127.0.0.1", 4711),
    }
    return await _ask(world, scope, pieces(case))


def pieces(case: Hostile) -> list[bytes]:
    if not case.chunked:
        return [case.body]
    return [case.body[start : start + PIECE] for start in range(0, len(case.body), PIECE)]


async def _ask(world: World, scope: dict[str, Any], parts: list[bytes]) -> Answer:
    incoming = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    incoming[-1]["more_body"] = False
    sent: list[Any] = []

    async def receive() -> Any:
        # after the body wait forever, like a client that stays connected
        return incoming.pop(0) if incoming else await asyncio.Event().wait()

    async def send_(message: Any) -> None:
        sent.append(message)

    await world.asgi(scope, receive, send_)
    start, content = sent
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], headers, content["body"])


def faults(case: Hostile, answer: Answer) -> list[str]:
    """Return what is wrong with the answer to a hostile request; empty if it is the expected refusal."""
    found: list[str] = []
    if answer.status not in case.status:
        found.append(f"status {answer.status}, not {case.status}: {answer.raw[:200]!r}")
    error = _object(answer)
    if answer.headers.get("content-type") != "application/json; charset=utf-8":
        found.append(f"content type {answer.headers.get('content-type')}")
    if error is None:
        return [*found, f"no JSON object: {answer.raw[:200]!r}"]
    found += [f"no {name}" for name in ("Message", "Code", "RequestId") if not _is_text(error.get(name))]
    if error.get("RequestId") != answer.headers.get("x-request-id"):
        found.append("RequestId and X-Request-Id differ")
    if case.names is not None and case.names not in str(error.get("Message")):
        found.append(f"'{case.names}' is not named in: {str(error.get('Message'))[:200]}")
    raw = answer.raw.decode("utf-8", "replace")
    found += [f"the answer repeats the secret {secret[:8]}…" for secret in case.secrets if secret in raw]
    return found


def _object(answer: Answer) -> Mapping[str, object] | None:
    try:
        value: Any = json.loads(answer.raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType] - decoded JSON


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
