"""Passwords: argon2id over the SHA-256 that the wire carries, hashed off the loop in a few niced threads."""

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gamekeeper.game.refusals import BadPassword, Overloaded

T = TypeVar("T")
NO_PASSWORD = "!"  # noqa: S105 - a stored hash that matches no password
REMEMBERED_SECONDS = 60
REMEMBERED_MOST = 10_000
NICENESS = 10
_WIRE = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def wire_form(password: str) -> str:
    """A plain password as clients send it."""
    return hashlib.sha256(password.encode()).hexdigest()


def require(sent: str) -> str:
    if not _WIRE.fullmatch(sent):
        raise BadPassword
    return sent.lower()


class Passwords:
    def __init__(self, queue: int) -> None:
        self._pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "gamekeeper-argon2", _be_nice)
        self._queue = queue
        self._waiting = 0
        self._secret = secrets.token_bytes(32)
        self._remembered: dict[bytes, float] = {}
        self._dummy = _hasher.hash(secrets.token_hex(32))

    @property
    def waiting(self) -> int:
        """How many are being hashed or wait for it."""
        return self._waiting

    async def hashed(self, sent: str) -> str:
        return await self._off_loop(lambda: _hasher.hash(sent))

    async def right(self, sent: str, stored: str | None) -> bool:
        """Takes the same time for a wrong password and for no account at all.

        With a full queue nobody is told anything, not even who is remembered: the wrong ones are not counted then.
        """
        self._require_room()
        if stored is None or stored == NO_PASSWORD:
            await self._off_loop(lambda: _verified(self._dummy, sent))
            return False
        seal = self._seal(sent, stored)
        if self._remembered.get(seal, 0) > time.monotonic():
            return True
        if not await self._off_loop(lambda: _verified(stored, sent)):
            return False
        if len(self._remembered) >= REMEMBERED_MOST:
            self._remembered.clear()
        self._remembered[seal] = time.monotonic() + REMEMBERED_SECONDS
        return True

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _seal(self, sent: str, stored: str) -> bytes:
        return hmac.digest(self._secret, f"{stored}\n{sent}".encode(), "sha256")

    def _require_room(self) -> None:
        if self._waiting >= self._queue:
            raise Overloaded

    async def _off_loop(self, work: Callable[[], T]) -> T:
        self._require_room()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._waiting -= 1


def _verified(stored: str, sent: str) -> bool:
    try:
        return _hasher.verify(stored, sent)
    except (VerificationError, InvalidHashError):
        return False


def _be_nice() -> None:
    if sys.platform == "linux":  # its scheduler alone takes a thread for a process: elsewhere the id is nobody's
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
