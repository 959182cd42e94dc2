"""Decode large bodies in one thread, with pauses, as long reads of their account."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from gamekeeper.game import bulk_loads
from gamekeeper.game.history import Pause
from gamekeeper.http.gate import Gate

R = TypeVar("R")
# size in bytes from which a request body is decoded in a thread; smaller ones are decoded on the event loop
LARGE_BYTES = 256 * 1024
PIECE_SECONDS = 0.003  # seconds of computing between two pauses of the thread that decodes large bodies
CALLS_PER_CHECK = 16  # JSON objects that are decoded between two checks of the clock
# the thread that decodes large bodies: a second one would double the memory and save no time
_executor = ThreadPoolExecutor(1, "bodies")


class _Pauses(threading.local):
    """Pauses of the thread that decodes large bodies, thread-local: other threads never pause."""

    pause: Callable[[float], None] | None = None
    began = 0.0
    calls = 0

    def pause_if_due(self) -> None:
        """Pause the decoding of a large body if its time is up. The decoder calls this for each JSON object."""
        if self.pause is None:
            return
        self.calls += 1
        if self.calls % CALLS_PER_CHECK == 0 and (spent := time.thread_time() - self.began) >= PIECE_SECONDS:
            self.pause(spent)
            self.began = time.thread_time()


pauses = _Pauses()


async def decode_body(raw: bytes, decode: Callable[[], R], gate: Gate, account: str) -> R:
    """Decode a request body: a small one at once, a large one in a thread, through the gate for long reads."""
    if len(raw) <= LARGE_BYTES:
        return decode()

    async def decode_in_thread(_: Pause) -> R:
        work = partial(_decode_in_pieces, decode, partial(gate.pause_thread, account))
        return await asyncio.get_running_loop().run_in_executor(_executor, work)

    return await gate.run(account, decode_in_thread, long=True)


def _decode_in_pieces(decode: Callable[[], R], pause: Callable[[float], None]) -> R:
    """Decode a large body with pauses. Garbage collection is off: it would block all threads to scan the new lists."""
    pauses.pause, pauses.began = pause, time.thread_time()
    try:
        with bulk_loads.pause_gc():
            return decode()
    finally:
        pauses.pause = None
