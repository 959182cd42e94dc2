"""Ids and names that are the same in every demo."""

import hashlib
import secrets

_NAMESPACE = bytes.fromhex("6f1c0a528f0e5c3b9a572d7e4b1f9c60")
_SYLLABLES = tuple(consonant + vowel for consonant in "bdghjlmnprstvwyz" for vowel in "aeiou")
_LENGTH = 4
MAX_NAMES = len(_SYLLABLES) ** _LENGTH
_FAMILIES = MAX_NAMES // len(_SYLLABLES)
# step from one family of names (they differ only in the last syllable) to the next one used; coprime to the number of
# families, so that each is used once
STRIDE = 228_077


def make_stable_id(kind: str, name: str) -> str:
    """Return a version 5 UUID; five times as fast as the uuid module."""
    digits = hashlib.sha1(_NAMESPACE + f"{kind}:{name}".encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def make_numbered_id(kind: str, number: int) -> str:
    """Return a numbered player's UUID (version 8). It grows with the number, so a load appends to the indexes."""
    digits = hashlib.sha1(_NAMESPACE + f"{kind}:{number}".encode(), usedforsecurity=False).hexdigest()
    return f"{number:08x}-{digits[:4]}-8{digits[4:7]}-a{digits[7:10]}-{digits[10:22]}"


def make_numbered_name(number: int) -> str:
    """Return a numbered player's name, which is unique for numbers below MAX_NAMES.

    Names come in families that differ only in the last syllable, so a load touches few pages of the name indexes.
    """
    family, last = divmod(number, len(_SYLLABLES))
    left, syllables = family * STRIDE % _FAMILIES, [_SYLLABLES[last]]
    for _ in range(_LENGTH - 1):
        left, index = divmod(left, len(_SYLLABLES))
        syllables.insert(0, _SYLLABLES[index])
    return "".join(syllables).capitalize()


def generate_password() -> str:
    """Generate a password that is easy to type, with 38 random bits."""
    return "-".join(secrets.choice(_SYLLABLES) + secrets.choice(_SYLLABLES) for _ in range(3))
