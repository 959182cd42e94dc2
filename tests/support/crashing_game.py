"""Runs the example game server, which kills itself or Gamekeeper in the middle of a command.

    python tests/support/crashing_game.py FOLDER PROGRAM OPTIONS…

* FOLDER/effect holds a number: the game kills itself after so many effects of the next command. If the command has
  fewer effects, the file is deleted. An effect is what another process or a later run can see: the state file is
  saved, the game acts, a player leaves, commands are acknowledged.
* FOLDER/point holds a crash point of Gamekeeper: the next acknowledgement makes it crash there. The file is deleted.
"""

import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

import httpx

FOLDER = Path(sys.argv[1])
EFFECT, POINT = FOLDER / "effect", FOLDER / "point"
HEADER = "Battery-Crash"
seen: list[str] = []  # the effects of the command that is carried out
during: list[bool] = []  # not empty: a command is carried out


def begin_command() -> None:
    if EFFECT.exists() and not during:
        during.append(True)
        crash_if_due()


def crash_if_due() -> None:
    if len(seen) == int(EFFECT.read_text(encoding="utf-8")):
        os.kill(os.getpid(), signal.SIGKILL)


def count_effect(game: Any, name: str) -> None:
    plain = getattr(game, name)

    def counted(self: Any, *given: Any) -> Any:
        if name == "act":
            begin_command()
        result = plain(self, *given)
        if during:
            seen.append(name)
            crash_if_due()
        return result

    setattr(game, name, counted)


def watch(game: Any) -> None:
    for name in ("save", "act", "leave", "acknowledge"):
        count_effect(game, name)
    carry_out, follow = game.carry_out_once, game.follow

    def begin(self: Any, change: Any) -> None:
        begin_command()
        carry_out(self, change)

    def follow_and_end(self: Any, wait: int) -> bool:
        result = follow(self, wait)
        if during:
            during.clear()
            seen.clear()
            EFFECT.unlink()
        return result

    game.carry_out_once, game.follow = begin, follow_and_end
    game.find_loot = lambda _: None  # pyright: ignore[reportUnknownLambdaType] - a report would add effects


def patch_client() -> None:
    """Let acknowledgements crash Gamekeeper, and start faster: certificates are not needed on loopback."""
    start, send = httpx.Client.__init__, httpx.Client.send

    def start_unverified(self: httpx.Client, **more: Any) -> None:
        start(self, verify=False, **more)

    def send_with_crash(self: httpx.Client, request: httpx.Request, **more: Any) -> httpx.Response:
        request.headers.pop(HEADER, None)  # the repetition of a request has none
        if request.url.path.endswith("/acks") and POINT.exists():
            request.headers[HEADER] = POINT.read_text(encoding="utf-8")
            POINT.unlink()
        return send(self, request, **more)

    setattr(httpx.Client, "__init__", start_unverified)  # noqa: B010 - a constant to everybody else
    setattr(httpx.Client, "send", send_with_crash)  # noqa: B010 - a constant to everybody else


if __name__ == "__main__":
    sys.argv = sys.argv[2:]
    program = runpy.run_path(sys.argv[0])
    # a chat message without a live game server is delivered to none: the lease must outlast each restart
    program["Game"].heartbeat.__globals__["LEASE_SECONDS"] = 3600
    watch(program["Game"])
    patch_client()
    program["main"]()
