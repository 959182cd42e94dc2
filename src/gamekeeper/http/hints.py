"""A hint for a misspelt name: the nearest known one."""

from collections.abc import Mapping
from difflib import get_close_matches

LONGEST = 64  # characters that are compared and repeated in a message: comparing a very long name takes seconds


def shorten(name: str) -> str:
    """Also without lone surrogates, which no answer could be encoded with."""
    short = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
    return short.encode("utf-8", "replace").decode()


def hint(name: str, known: Mapping[str, str]) -> str:
    """What was probably meant, among names in lower case → as they are documented."""
    if not known:
        return "There are none here."
    near = get_close_matches(name[:LONGEST].lower(), known, 1)
    return f"Did you mean '{known[near[0]]}'?" if near else f"Known here: {', '.join(known.values())}."
