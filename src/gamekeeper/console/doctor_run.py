"""Run all checks of `gamekeeper doctor` in a background thread, at most one run per process."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gamekeeper import log

PAUSE_SECONDS = 0.005  # pause after each batch of rows, so that the doctor does not slow down requests


class ShownFinding(Protocol):
    @property
    def level(self) -> str: ...

    @property
    def check(self) -> str: ...

    @property
    def message(self) -> str: ...


Progress = Callable[[str, int, int], None]  # name of the check, rows checked so far, rows in total
Examine = Callable[[Progress], Sequence[ShownFinding]]


class ShuttingDown(Exception):
    """Stops a running doctor because the process shuts down."""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    ended_at: int  # end of the doctor's run, in milliseconds since 1970
    seconds: float  # duration of the doctor's run
    findings: Sequence[ShownFinding] | None  # None: the doctor failed with an exception, which is in the log


class DoctorRun:
    def __init__(self, examine: Examine, stopping: Callable[[], bool]) -> None:
        """`examine` runs the doctor. It may take minutes and opens its own database connections."""
        self._examine, self._stopping = examine, stopping
        self._thread: threading.Thread | None = None
        self.steps: dict[str, tuple[int, int]] = {}  # name of a check → (rows checked, rows in total)
        self.result: DoctorResult | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the doctor, unless it is already running: then the page shows the progress of that run."""
        if self.is_running:
            return
        self.steps = {}
        self._thread = threading.Thread(target=self._run, daemon=True)  # a daemon thread does not delay a shutdown
        self._thread.start()

    def _run(self) -> None:
        began, findings = time.monotonic(), None
        try:
            findings = self._examine(self._report_progress)
        except ShuttingDown:
            return
        except Exception:  # noqa: BLE001 - any error is logged, and the page reports that the run failed
            log.failure("doctor")
        self.result = DoctorResult(int(time.time() * 1000), time.monotonic() - began, findings)

    def _report_progress(self, what: str, done: int, total: int) -> None:
        if self._stopping():
            raise ShuttingDown
        self.steps = {**self.steps, what: (done, total)}
        time.sleep(PAUSE_SECONDS)
