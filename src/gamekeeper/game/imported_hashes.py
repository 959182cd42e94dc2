"""Intersect's password hashes, one SHA-256 over the wire's hash and a salt: as they came, or wrapped in argon2id."""

import hashlib
from typing import NamedTuple

IMPORTED, WRAPPED = "intersect", "wrapped"  # what a stored hash begins with; store/legacy.sql looks for the first


class ImportedHash(NamedTuple):
    salt: str
    hash: str  # Intersect's own hash, or argon2id over that
    wrapped: bool


def format_imported(salt: str, intersects: str) -> str:
    """As an import stores it."""
    return f"{IMPORTED}${salt}${intersects}"


def format_wrapped(salt: str, argon2: str) -> str:
    return f"{WRAPPED}${salt}${argon2}"


def parse(stored: str) -> ImportedHash | None:
    """None: it did not come from Intersect. A salt may be any text, so the hash is taken off the end."""
    rest = stored.partition("$")[2]
    if stored.startswith(IMPORTED):
        salt, _, intersects = rest.rpartition("$")
        return ImportedHash(salt, intersects, wrapped=False)
    if stored.startswith(WRAPPED):
        salt, _, argon2 = rest.rpartition("$$")  # argon2's own text begins with one of them
        return ImportedHash(salt, f"${argon2}", wrapped=True)
    return None


def hash_as_intersect(sent: str, salt: str) -> str:
    """What Intersect keeps of a password."""
    return hashlib.sha256((sent.upper() + salt).encode()).hexdigest().upper()
