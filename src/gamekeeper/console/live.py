"""What a process keeps for the pages: app.py makes it, and it comes with every request."""

from dataclasses import dataclass
from typing import cast

from gamekeeper.console.checkup import Checkup
from gamekeeper.console.pulse import Pulse
from gamekeeper.http.request import Request


@dataclass(frozen=True, slots=True)
class Live:
    pulse: Pulse
    checkup: Checkup


def of(request: Request) -> Live:
    return cast("Live", request.services.live)
