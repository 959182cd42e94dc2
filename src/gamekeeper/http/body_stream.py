"""Read a request's body, with a size limit and a deadline."""

import asyncio
from collections.abc import Mapping

from gamekeeper.http.errors import BodyTooLarge, BodyTooSlow, MalformedBody
from gamekeeper.http.request import Receive


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int, seconds: int) -> bytes:
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced[:20]) > limit:
        raise BodyTooLarge(limit=limit)
    try:
        async with asyncio.timeout(seconds):
            return await _read_all(receive, limit)
    except TimeoutError:
        raise BodyTooSlow(seconds=seconds) from None


async def _read_all(receive: Receive, limit: int) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise MalformedBody(problem="The body ended before it was complete.")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise BodyTooLarge(limit=limit)
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)
