"""Intersect's password hashes, one SHA-256 over the wire's hash and a salt: as they came, or wrapped in argon2id."""

import hashlib
from typing import NamedTuple

IMPORTED, WRAPPED = "intersect", "wrapped"  # what a stored hash begins with; store/legacy.sql looks for the first


class Salted(NamedTuple):
    salt: str
    kept: str  # Intersect's own hash, or argon2id over that
    wrapped: bool


def imported(salt: str, intersects: str) -> str:
    """As an import stores it."""
    return f"{IMPORTED}${salt}${intersects}"


def wrapped(salt: str, argon2: str) -> str:
    return f"{WRAPPED}${salt}${argon2}"


def read(stored: str) -> Salted | None:
    """None: it did not come from Intersect. A salt may be any text, so the hash is taken off the end."""
    rest = stored.partition("$")[2]
    if stored.startswith(IMPORTED):
        salt, _, intersects = rest.rpartition("$")
        return Salted(salt, intersects, wrapped=False)
    if stored.startswith(WRAPPED):
        salt, _, argon2 = rest.rpartition("$$")  # argon2's own text begins with one of them
        return Salted(salt, f"${argon2}", wrapped=True)
    return None


def hashed(sent: str, salt: str) -> str:
    """What Intersect keeps of a password."""
    return hashlib.sha256((sent.upper() + salt).encode()).hexdigest().upper()
