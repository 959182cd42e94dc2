"""A Gamekeeper server that writes one byte to a file for each password hashed by argon2, optionally with a fault.

with Counted(run.fault, run.database, file) as server: …      like scripts/server.py's Server, with the same settings
python -m battery.counted FAULT DATABASE PORT FILE            the program behind it
"""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from argon2 import PasswordHasher

from gamekeeper.cli import serve
from gamekeeper.game.access import guess_limits
from gamekeeper.game.access.guess_limits import Guess
from gamekeeper.game.access.passwords import Passwords
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.store.engine.interface import Store
from server import Server

NO_FAULT, NO_DUMMY_HASH, COUNTED_AFTER = "none", "no-dummy-hash", "counted-after-check"


class Counted(Server):
    stderr = subprocess.DEVNULL  # no log: every refused guess would be a log line

    def __init__(self, fault: str | None, database: str, file: Path, **settings: object) -> None:
        super().__init__(database, None, **settings)
        self._fault, self._file = fault or NO_FAULT, file

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "battery.counted", self._fault, self.database, str(self.port), str(self._file)]


def build(settings: Settings, fault: str, file: str) -> Asgi:
    """Build the application in the worker, because patches made in the parent process do not reach it."""
    _count(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    FAULTS[fault]()
    return serve.build_app(settings)


def _count(file: int) -> None:
    verify = PasswordHasher.verify

    def verify_and_count(self: PasswordHasher, stored: str | bytes, sent: str | bytes) -> bool:
        os.write(file, b".")
        return verify(self, stored, sent)

    setattr(PasswordHasher, "verify", verify_and_count)  # noqa: B010 - a method is a constant to everybody else


def _nothing() -> None:
    pass


def _hash_for_known_names_only() -> None:
    matched = Passwords.verify_and_upgrade

    async def hasty(self: Passwords, sent: str, stored: str | None) -> str | None:
        return None if stored is None else await matched(self, sent, stored)

    Passwords.verify_and_upgrade = hasty


def _count_after_the_check() -> None:
    reserved = guess_limits.reserve_guess

    @asynccontextmanager
    async def late(store: Store, settings: Settings, guess: Guess) -> AsyncGenerator[None]:
        yield
        async with reserved(store, settings, guess):
            pass

    guess_limits.reserve_guess = late


FAULTS: dict[str, Callable[[], None]] = {
    NO_FAULT: _nothing,
    NO_DUMMY_HASH: _hash_for_known_names_only,
    COUNTED_AFTER: _count_after_the_check,
}

if __name__ == "__main__":
    named, database, port, path = sys.argv[1:]
    loaded = settings.load(dict(os.environ), database=database, port=int(port))
    serve.run(loaded, partial(build, fault=named, file=path), "ready")
