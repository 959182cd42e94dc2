"""The rule for new names of accounts and players, explained in words by its refusals."""

import re

from gamekeeper.game.names import UNEXPLAINED, explain
from gamekeeper.settings import Settings
from loops import over

DEFAULT = Settings().name_pattern


@over(
    "pattern, words",
    [
        (DEFAULT, "must have 2 to 20 characters; letters from A to Z and digits are allowed"),
        ("[a-zA-Z]{3,12}", "must have 3 to 12 characters; letters from A to Z are allowed"),
        (
            "[A-Za-z0-9 _-]{2,30}",
            "must have 2 to 30 characters; letters from A to Z, digits, spaces, underscores and hyphens are allowed",
        ),
        (
            r"\w{2,20}",
            "must have 2 to 20 characters; letters of every alphabet, digits and underscores are allowed",
        ),
        ("[a-z']{1,9}", "must have 1 to 9 characters; small letters from a to z and apostrophes are allowed"),
    ],
)
def test_pattern_is_explained_in_words(pattern: str, words: str) -> None:
    assert re.compile(pattern)
    assert explain(pattern) == words


@over("pattern", [".{2,64}", "[^a]{2,3}", r"\w+", "[A-Za-zÀ-ÿ]{2,20}", "[A-Z][a-z]{2,9}", "[a-f]{2,3}"])
def test_other_patterns_are_not_explained(pattern: str) -> None:
    assert explain(pattern) == UNEXPLAINED
