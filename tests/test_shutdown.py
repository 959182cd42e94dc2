"""Signals of a worker, tested in a process whose event loop is started twice, as granian does."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable

import uvloop

from gamekeeper import shutdown
from loops import over

SECONDS = 30
MOMENT = 0.3  # seconds: delay of a signal, and the time in which a second, unwanted signal would arrive
KINDS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


class Worker:
    """Run the event loop as granian does; `words` lists the signals that granian and the worker received, in order."""

    def __init__(self, kind: str) -> None:
        self.words: list[str] = []
        self._loop = KINDS[kind]()
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(number, self.words.append, "server")

    def start(self) -> None:
        async def started() -> None:
            shutdown.on_shutdown(lambda: self.words.append("waiting"))

        self._loop.run_until_complete(started())

    def serve(self) -> None:
        self._loop.run_until_complete(asyncio.wait_for(self._told(), SECONDS))

    def later(self, number: int) -> None:
        self._loop.call_later(MOMENT, os.kill, os.getpid(), number)

    async def _told(self) -> None:
        while "server" not in self.words:  # noqa: ASYNC110 - nothing else tells us
            await asyncio.sleep(0.01)
        await asyncio.sleep(MOMENT)


def while_it_serves(worker: Worker) -> None:
    worker.later(signal.SIGTERM)
    worker.serve()


def twice_and_with_ctrl_c(worker: Worker) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
        os.kill(os.getpid(), number)
    worker.serve()


def run(kind: str, told: Callable[[Worker], None]) -> None:
    worker = Worker(kind)
    worker.start()
    told(worker)
    if worker.words != ["waiting", "server"]:
        raise AssertionError(worker.words)


@over("told", [while_it_serves, twice_and_with_ctrl_c])
@over("kind", KINDS)
def test_shutdown_signal_is_forwarded_once(kind: str, told: Callable[[Worker], None]) -> None:
    worker = multiprocessing.get_context("spawn").Process(target=run, args=(kind, told))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
