"""State that all console pages of one process share. app.py creates it, and every request refers to it."""

from dataclasses import dataclass
from typing import cast

from gamekeeper.console.doctor_run import DoctorRun
from gamekeeper.console.monitor import Monitor
from gamekeeper.http.request import Request
from gamekeeper.oidc.provider import Provider


@dataclass(frozen=True, slots=True)
class ConsoleState:
    monitor: Monitor
    doctor: DoctorRun
    provider: Provider | None = None  # OpenID Connect; None: it is off


def get_state(request: Request) -> ConsoleState:
    return cast("ConsoleState", request.services.live)
