"""Password hashing: argon2id over the SHA-256 hash that clients send, in a few low-priority threads."""

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
CACHE_SECONDS = 60  # seconds for which a right password is remembered, so that repeated log-ins are cheap
CACHE_ENTRIES = 10_000
NICENESS = 10  # scheduling priority (nice value) of the password hashing threads: other requests go first
_WIRE = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hash_for_wire(password: str) -> str:
    """Return the SHA-256 hash of a plain password, as clients send it."""
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
        """Number of passwords that are being hashed or wait for it."""
        return self._queue_length

    async def hash_password(self, sent: str) -> str:
        return await self._run_queued(lambda: _hasher.hash(sent))

    async def wrap_imported(self, imported: imported_hashes.ImportedHash) -> str:
        """Wrap an imported password hash in argon2id. It bypasses the log-in queue: no request waits for it."""
        return await self._run_in_pool(
            lambda: imported_hashes.format_wrapped(imported.salt, _hasher.hash(imported.hash))
        )

    async def is_right(self, sent: str, stored: str | None) -> bool:
        return await self.verify_and_upgrade(sent, stored) is not None

    async def verify_and_upgrade(self, sent: str, stored: str | None) -> str | None:
        """Check a password; return the hash to store: the same one, or argon2id for an imported one. None: wrong.

        A wrong password and an unknown account take the same time. With a full queue all checks are refused, even for
        cached passwords, because wrong guesses are not counted then.
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
        """Check a password with one argon2 run, right or wrong; a second run replaces an imported hash once."""
        imported = imported_hashes.parse(stored)
        if imported is None:
            return stored if _verify_argon2(stored, sent) else None
        theirs = imported_hashes.hash_as_intersect(sent, imported.salt)
        if imported.wrapped:
            right = _verify_argon2(imported.hash, theirs)
        else:
            right = hmac.compare_digest(imported.hash.encode(), theirs.encode())
        if right and imported.salt.strip():  # in Intersect no password matches a blank salt
            return _hasher.hash(sent)
        if not imported.wrapped:
            _verify_argon2(self._dummy_hash, sent)
        return None

    def _remember(self, fingerprint: bytes) -> None:
        if len(self._cache) >= CACHE_ENTRIES:
            self._cache.clear()
        self._cache[fingerprint] = time.monotonic() + CACHE_SECONDS

    def make_fingerprint(self, sent: str, stored: str) -> bytes:
        """Make the key under which this process remembers a checked password: an HMAC with a random secret."""
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
    """Make a hash that no password matches: log-ins to unknown accounts check it and so take the usual time."""
    return _hasher.hash(secrets.token_hex(32))


def _verify_argon2(stored: str, sent: str) -> bool:
    try:
        return _hasher.verify(stored, sent)
    except (VerificationError, InvalidHashError):
        return False


def _lower_priority() -> None:
    if sys.platform == "linux":  # only Linux can set the priority of a single thread
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
