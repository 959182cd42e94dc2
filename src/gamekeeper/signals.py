"""The word to stop: heard at any moment, passed on to the server once."""

import asyncio
import multiprocessing
import os
import signal
import threading
import types
from collections.abc import Callable
from typing import Any


def on_stop(wake: Callable[[], None]) -> Callable[[], None]:
    """`wake` is called in the loop as soon as the signal comes: the server tells us of the stop much later.

    Returns what gives the signals back.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    if os.name == "posix" and multiprocessing.parent_process():
        return _as_worker(wake)
    return _before_the_server(wake)


def _as_worker(wake: Callable[[], None]) -> Callable[[], None]:
    """A worker waits for its parent's SIGTERM: Ctrl-C reaches the whole group, and granian can hang on two signals.

    Granian starts its loop twice, and what comes in between no loop hears; by then it already looks ready. A handler
    of Python's hears everything. It passes SIGTERM on as the SIGINT that granian listens to, in the loop, once.
    """
    loop, passed_on = asyncio.get_running_loop(), False

    def pass_on() -> None:
        nonlocal passed_on
        if passed_on:
            return
        passed_on = True
        wake()
        signal.signal(signal.SIGINT, _heard)
        signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def told(_: int, __: types.FrameType | None) -> None:
        loop.call_soon_threadsafe(pass_on)

    def give_back() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is stopping

    loop.remove_signal_handler(signal.SIGTERM)
    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return give_back


def _before_the_server(wake: Callable[[], None]) -> Callable[[], None]:
    loop = asyncio.get_running_loop()
    taken: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        before = taken[number] = signal.getsignal(number)

        def stop(number: int, frame: types.FrameType | None, before: Any = before) -> None:  # noqa: ANN401 - a handler, or one of the constants
            loop.call_soon_threadsafe(wake)
            if callable(before):
                before(number, frame)

        signal.signal(number, stop)

    def give_back() -> None:
        for number, before in taken.items():
            signal.signal(number, before)

    return give_back


def _heard(_: int, __: types.FrameType | None) -> None:
    """Python's part of a signal whose other part is the loop's."""
