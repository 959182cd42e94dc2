"""The whole doctor, in the background: one at a time in a process, and never on a request's way."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gamekeeper import log

PAUSE_SECONDS = 0.005  # after every page of rows: those who ask something meanwhile are served first


class Finding(Protocol):
    @property
    def level(self) -> str: ...

    @property
    def check(self) -> str: ...

    @property
    def message(self) -> str: ...


Progress = Callable[[str, int, int], None]  # what is looked at, how many of it are done, how many there are
Examine = Callable[[Progress], Sequence[Finding]]


class ShuttingDown(Exception):
    """The process ends."""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    ended_at: int
    seconds: float
    findings: Sequence[Finding] | None  # None: it broke off


class DoctorRun:
    def __init__(self, examine: Examine, stopping: Callable[[], bool]) -> None:
        """`examine` takes its time, and a connection of its own."""
        self._examine, self._stopping = examine, stopping
        self._thread: threading.Thread | None = None
        self.steps: dict[str, tuple[int, int]] = {}  # how many are done of how many, in the order begun
        self.result: DoctorResult | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Nothing when one is under way: whoever asked for it sees how far it is."""
        if self.is_running:
            return
        self.steps = {}
        self._thread = threading.Thread(target=self._run, daemon=True)  # the end of the process waits for nobody
        self._thread.start()

    def _run(self) -> None:
        began, findings = time.monotonic(), None
        try:
            findings = self._examine(self._report_progress)
        except ShuttingDown:
            return
        except Exception:  # noqa: BLE001 - whatever it is: it is in the log, and the page says so
            log.failure("doctor")
        self.result = DoctorResult(int(time.time() * 1000), time.monotonic() - began, findings)

    def _report_progress(self, what: str, done: int, total: int) -> None:
        if self._stopping():
            raise ShuttingDown
        self.steps = {**self.steps, what: (done, total)}
        time.sleep(PAUSE_SECONDS)
