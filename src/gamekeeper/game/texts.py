"""Checks of texts from people and game servers: length and allowed characters."""

import re

from gamekeeper.game.refusals import BadField

MAX_REASON_CHARACTERS = 255
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def require_text(text: str, field: str, longest: int | None) -> str:
    return _check(text, field, longest, _UNWRITABLE)


def require_game_text(text: str, field: str, longest: int | None) -> str:
    """Check a text that a game sent. U+0080 to U+009F are allowed: games that confuse cp1252 with Latin-1 send them."""
    return _check(text, field, longest, _UNSTORABLE)


def _check(text: str, field: str, longest: int | None, unfit: re.Pattern[str]) -> str:
    if longest is not None and len(text) > longest:
        raise BadField(field=field, problem=f"must have at most {longest} characters")
    if unfit.search(text):
        raise BadField(field=field, problem="has characters that cannot be stored")
    return text
