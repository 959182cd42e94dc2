"""Hints for misspelt names: "Did you mean …?"."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

MAX_LENGTH = 64  # characters of a misspelt name that are compared and quoted: comparing a very long name takes seconds

MISSPELT = 0.82  # similarity from which a name counts as a misspelt one: one wrong, missing or extra letter in five


def shorten(name: str) -> str:
    """Shorten a misspelt name for a message, and replace lone surrogates, which UTF-8 cannot encode."""
    short = name if len(name) <= MAX_LENGTH else f"{name[:MAX_LENGTH]}…"
    return short.encode("utf-8", "replace").decode()


def make_hint(name: str, known: Mapping[str, str]) -> str:
    """Suggest the known name nearest to a misspelt one. `known`: name in lower case → documented name."""
    if not known:
        return "None are accepted here."
    near = get_close_matches(name[:MAX_LENGTH].lower(), known, 1)
    return f"Did you mean '{known[near[0]]}'?" if near else f"Accepted: {', '.join(known.values())}."


def is_misspelt(name: str, known: Iterable[str]) -> bool:
    """Check whether a name, in lower case, is nearly a known one."""
    return len(name) <= MAX_LENGTH and bool(get_close_matches(name, known, 1, MISSPELT))
