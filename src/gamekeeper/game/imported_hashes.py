"""Password hashes imported from Intersect: a salted SHA-256, stored as it is or wrapped in argon2id."""

import hashlib
from typing import NamedTuple

# Prefixes of imported password hashes: before and after they were wrapped in argon2id.
# store/hash_upgrades.sql finds the first kind.
IMPORTED, WRAPPED = "intersect", "wrapped"


class ImportedHash(NamedTuple):
    salt: str
    hash: str  # Intersect's password hash, or argon2id over it
    wrapped: bool


def format_imported(salt: str, intersects: str) -> str:
    """Format Intersect's salt and password hash as one text, as an import stores them."""
    return f"{IMPORTED}${salt}${intersects}"


def format_wrapped(salt: str, argon2: str) -> str:
    return f"{WRAPPED}${salt}${argon2}"


def parse(stored: str) -> ImportedHash | None:
    """Parse a stored password hash. None: not from Intersect. The salt may contain `$`: split at the last one."""
    rest = stored.partition("$")[2]
    if stored.startswith(IMPORTED):
        salt, _, intersects = rest.rpartition("$")
        return ImportedHash(salt, intersects, wrapped=False)
    if stored.startswith(WRAPPED):
        salt, _, argon2 = rest.rpartition("$$")  # split at `$$`: an argon2 hash starts with `$` itself
        return ImportedHash(salt, f"${argon2}", wrapped=True)
    return None


def hash_as_intersect(sent: str, salt: str) -> str:
    """Hash a password as Intersect does."""
    return hashlib.sha256((sent.upper() + salt).encode()).hexdigest().upper()
