"""Passwords: argon2id over the SHA-256 that the wire carries, hashed off the loop in a few niced threads."""

import asyncio
import functools
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

from gamekeeper.game import imported_hashes
from gamekeeper.game.refusals import BadPassword, Overloaded

T = TypeVar("T")
NO_PASSWORD = "!"  # noqa: S105 - a stored hash that matches no password
CACHE_SECONDS = 60
CACHE_ENTRIES = 10_000
NICENESS = 10
_WIRE = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hash_for_wire(password: str) -> str:
    """A plain password as clients send it."""
    return hashlib.sha256(password.encode()).hexdigest()


def require_wire_hash(sent: str) -> str:
    if not _WIRE.fullmatch(sent):
        raise BadPassword
    return sent.lower()


class Passwords:
    def __init__(self, queue: int) -> None:
        self._pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "gamekeeper-argon2", _lower_priority)
        self._longest_queue = queue
        self._queue_length = 0
        self._secret = secrets.token_bytes(32)
        self._cache: dict[bytes, float] = {}
        self._dummy_hash = _hash_random_password()

    @property
    def queue_length(self) -> int:
        """How many are being hashed or wait for it."""
        return self._queue_length

    async def hash_password(self, sent: str) -> str:
        return await self._run_queued(lambda: _hasher.hash(sent))

    async def wrap_imported(self, imported: imported_hashes.ImportedHash) -> str:
        """Argon2id over what another server kept of a password; in nobody's place, since nobody waits for it."""
        return await self._run_in_pool(
            lambda: imported_hashes.format_wrapped(imported.salt, _hasher.hash(imported.hash))
        )

    async def is_right(self, sent: str, stored: str | None) -> bool:
        return await self.verify_and_upgrade(sent, stored) is not None

    async def verify_and_upgrade(self, sent: str, stored: str | None) -> str | None:
        """The hash to keep a right password under: the stored one, or a better one for one that was imported.

        Takes the same time for a wrong password and for no account at all. With a full queue nobody is told anything,
        not even who is remembered: the wrong ones are not counted then.
        """
        self._require_room()
        if stored is None or stored == NO_PASSWORD:
            await self._run_queued(lambda: _verify_argon2(self._dummy_hash, sent))
            return None
        if self._cache.get(self.make_fingerprint(sent, stored), 0) > time.monotonic():
            return stored
        kept = await self._run_queued(lambda: self._verify_stored(sent, stored))
        if kept is not None:
            self._remember(self.make_fingerprint(sent, kept))
        return kept

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _verify_stored(self, sent: str, stored: str) -> str | None:
        """One run of argon2, whatever comes of it; a second when a wrapped hash is made anew, once in its life."""
        imported = imported_hashes.parse(stored)
        if imported is None:
            return stored if _verify_argon2(stored, sent) else None
        theirs = imported_hashes.hash_as_intersect(sent, imported.salt)
        if imported.wrapped:
            right = _verify_argon2(imported.hash, theirs)
        else:
            right = hmac.compare_digest(imported.hash.encode(), theirs.encode())
        if right and imported.salt.strip():  # there, nothing matches where the salt is blank
            return _hasher.hash(sent)
        if not imported.wrapped:
            _verify_argon2(self._dummy_hash, sent)
        return None

    def _remember(self, seal: bytes) -> None:
        if len(self._cache) >= CACHE_ENTRIES:
            self._cache.clear()
        self._cache[seal] = time.monotonic() + CACHE_SECONDS

    def make_fingerprint(self, sent: str, stored: str) -> bytes:
        """What this process knows a password by that it has seen."""
        return hmac.digest(self._secret, f"{stored}\n{sent}".encode(), "sha256")

    def _require_room(self) -> None:
        if self._queue_length >= self._longest_queue:
            raise Overloaded

    async def _run_queued(self, work: Callable[[], T]) -> T:
        self._require_room()
        self._queue_length += 1
        try:
            return await self._run_in_pool(work)
        finally:
            self._queue_length -= 1

    async def _run_in_pool(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


@functools.cache
def _hash_random_password() -> str:
    """What no password matches; made before anybody is checked, since the first check may not take longer."""
    return _hasher.hash(secrets.token_hex(32))


def _verify_argon2(stored: str, sent: str) -> bool:
    try:
        return _hasher.verify(stored, sent)
    except (VerificationError, InvalidHashError):
        return False


def _lower_priority() -> None:
    if sys.platform == "linux":  # its scheduler alone takes a thread for a process: elsewhere the id is nobody's
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
