"""Password hashes imported from Intersect: a salted SHA-256, stored as it is or wrapped in argon2id."""

import hashlib
from typing import NamedTuple

IMPORTED, WRAPPED = "intersect", "wrapped"  # prefixes of stored hashes; store/legacy.sql searches for the first


class ImportedHash(NamedTuple):
    salt: str
    hash: str  # Intersect's hash, or argon2id over it
    wrapped: bool


def format_imported(salt: str, intersects: str) -> str:
    """Format Intersect's salt and hash as an import stores them."""
    return f"{IMPORTED}${salt}${intersects}"


def format_wrapped(salt: str, argon2: str) -> str:
    return f"{WRAPPED}${salt}${argon2}"


def parse(stored: str) -> ImportedHash | None:
    """Parse a stored hash. None: it is not from Intersect. The salt may contain `$`, so the hash is split off last."""
    rest = stored.partition("$")[2]
    if stored.startswith(IMPORTED):
        salt, _, intersects = rest.rpartition("$")
        return ImportedHash(salt, intersects, wrapped=False)
    if stored.startswith(WRAPPED):
        salt, _, argon2 = rest.rpartition("$$")  # an argon2 hash starts with `$` itself
        return ImportedHash(salt, f"${argon2}", wrapped=True)
    return None


def hash_as_intersect(sent: str, salt: str) -> str:
    """Hash a password as Intersect does."""
    return hashlib.sha256((sent.upper() + salt).encode()).hexdigest().upper()
