"""Explains in words which names the setting `name_pattern` allows for accounts and players."""

import re

# a name pattern that can be explained in words: a set of characters, and the allowed length
_SIMPLE = re.compile(r"\[([^\\\[\]^]+)\]\{(\d+),(\d+)\}")
_WORDS = (  # parts of a regular expression's character class and their description, the longest first
    ("A-Za-z", "letters from A to Z"),
    ("a-zA-Z", "letters from A to Z"),
    ("A-Z", "capital letters from A to Z"),
    ("a-z", "small letters from a to z"),
    ("0-9", "digits"),
    (" ", "spaces"),
    ("_", "underscores"),
    (".", "full stops"),
    ("'", "apostrophes"),
    ("-", "hyphens"),
)
_ANY_LETTER = re.compile(r"\\w\{(\d+),(\d+)\}")  # letters of every alphabet
UNEXPLAINED = "is not a name that this server allows"


def explain(pattern: str) -> str:
    """Describe the names that a pattern allows. The pattern must be one set of characters with a length."""
    if found := _ANY_LETTER.fullmatch(pattern):
        allowed = "letters of every alphabet, digits and underscores"
        return f"must have {found[1]} to {found[2]} characters; {allowed} are allowed"
    found = _SIMPLE.fullmatch(pattern)
    if found is None:
        return UNEXPLAINED
    rest, kinds = found[1], list[str]()
    for part, words in _WORDS:
        if part in rest:
            rest = rest.replace(part, "", 1)
            kinds.append(words)
    if rest:
        return UNEXPLAINED
    allowed = " and ".join([*([", ".join(kinds[:-1])] if kinds[1:] else []), kinds[-1]])
    return f"must have {found[2]} to {found[3]} characters; {allowed} are allowed"
