"""Ids and names that are the same in every demo."""

import secrets
import uuid

_NAMESPACE = uuid.UUID("6f1c0a52-8f0e-5c3b-9a57-2d7e4b1f9c60")
_SYLLABLES = tuple(consonant + vowel for consonant in "bdghjlmnprstvwyz" for vowel in "aeiou")
_LENGTH = 4
MOST_NAMES = len(_SYLLABLES) ** _LENGTH
_STRIDE = 18_246_253  # shares no factor with MOST_NAMES: every number gets a name of its own, neighbours unlike ones


def stable_id(kind: str, name: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{kind}:{name}"))


def numbered_name(number: int) -> str:
    """The name of one of the many; no two numbers below MOST_NAMES share one."""
    left, syllables = number * _STRIDE % MOST_NAMES, list[str]()
    for _ in range(_LENGTH):
        left, index = divmod(left, len(_SYLLABLES))
        syllables.append(_SYLLABLES[index])
    return "".join(syllables).capitalize()


def new_password() -> str:
    """Easy to type, and 38 random bits."""
    return "-".join(secrets.choice(_SYLLABLES) + secrets.choice(_SYLLABLES) for _ in range(3))
