"""A Gamekeeper server that writes one byte to a file for each password hashed by argon2, optionally with a fault.

with Counted(run.fault, run.database, file) as server: …      like scripts/server.py's Server, with the same settings
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from argon2 import PasswordHasher

from built_server import BuiltServer
from gamekeeper.cli import worker
from gamekeeper.game.access import guess_limits
from gamekeeper.game.access.guess_limits import Guess
from gamekeeper.game.access.passwords import Passwords
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi
from gamekeeper.store.engine.interface import Store

NO_FAULT, NO_DUMMY_HASH, COUNTED_AFTER = "none", "no-dummy-hash", "counted-after-check"


class Counted(BuiltServer):
    builder = "battery.counted"

    def __init__(self, fault: str | None, database: str, file: Path) -> None:
        super().__init__(f"{fault or NO_FAULT}:{file}", database)


def build(settings: Settings, argument: str) -> Asgi:
    fault, _, file = argument.partition(":")
    _count(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    FAULTS[fault]()
    return worker.build_app(settings)


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
