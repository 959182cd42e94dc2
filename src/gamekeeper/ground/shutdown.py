"""Graceful shutdown: catch SIGTERM and SIGINT at any time and forward them to granian once."""

import asyncio
import multiprocessing
import os
import signal
import threading
import types
from collections.abc import Callable
from typing import Any


def on_shutdown(wake: Callable[[], None]) -> Callable[[], None]:
    """Call `wake` in the event loop as soon as a shutdown signal arrives; granian would report it much later.

    Return a function that restores the previous signal handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    if os.name == "posix" and multiprocessing.parent_process():
        return _handle_in_worker(wake)
    return _chain_handlers(wake)


def _handle_in_worker(wake: Callable[[], None]) -> Callable[[], None]:
    """Install the signal handlers of a worker process: ignore SIGINT, and forward the parent's SIGTERM once.

    SIGINT is ignored because Ctrl-C reaches the whole process group, and granian can hang when it gets two signals.
    Granian starts its event loop twice. A signal between the two starts would be lost, although the server already
    looks ready. A Python signal handler loses none. It forwards SIGTERM in the event loop as the SIGINT that granian
    expects.
    """
    loop, forwarded = asyncio.get_running_loop(), False

    def forward() -> None:
        nonlocal forwarded
        if forwarded:
            return
        forwarded = True
        wake()
        signal.signal(signal.SIGINT, _ignore)
        signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def on_sigterm(_: int, __: types.FrameType | None) -> None:
        loop.call_soon_threadsafe(forward)

    def restore() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # ignore further SIGTERMs: the shutdown is already under way

    loop.remove_signal_handler(signal.SIGTERM)
    signal.signal(signal.SIGTERM, on_sigterm)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return restore


def _chain_handlers(wake: Callable[[], None]) -> Callable[[], None]:
    """Call `wake` on a signal first, then the signal handler that was installed before."""
    loop = asyncio.get_running_loop()
    previous: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        before = previous[number] = signal.getsignal(number)

        def stop(number: int, frame: types.FrameType | None, before: Any = before) -> None:  # noqa: ANN401 - a handler, or one of the constants
            loop.call_soon_threadsafe(wake)
            if callable(before):
                before(number, frame)

        signal.signal(number, stop)

    def restore() -> None:
        for number, before in previous.items():
            signal.signal(number, before)

    return restore


def _ignore(_: int, __: types.FrameType | None) -> None:
    """Do nothing in Python: the event loop handles this signal through its wake-up file descriptor."""
