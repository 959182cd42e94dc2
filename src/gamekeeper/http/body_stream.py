"""Read a request's body, with a size limit and a deadline."""

import asyncio
from collections.abc import Mapping
from typing import Any

from gamekeeper.http.errors import BodyTooLarge, BodyTooSlow, MalformedBody
from gamekeeper.http.request import Receive


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int, seconds: int) -> bytes:
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced[:20]) > limit:
        raise BodyTooLarge(limit=limit)
    try:
        async with asyncio.timeout(seconds):
            message = await receive()
            if message.get("more_body") or message["type"] == "http.disconnect":
                return await _read_all(message, receive, limit)
    except TimeoutError:
        raise BodyTooSlow(seconds=seconds) from None
    body: bytes = message.get("body", b"")
    if len(body) > limit:
        raise BodyTooLarge(limit=limit)
    return body


async def _read_all(message: Mapping[str, Any], receive: Receive, limit: int) -> bytes:
    """Read a body of several messages, of which the first has arrived."""
    parts: list[bytes] = []
    size = 0
    while True:
        if message["type"] == "http.disconnect":
            raise MalformedBody(problem="The body ended before it was complete.")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise BodyTooLarge(limit=limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()
