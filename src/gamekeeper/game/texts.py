"""Texts that people write, and what of them can be kept."""

import re

from gamekeeper.game.refusals import BadField

MOST_REASON_CHARACTERS = 255
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def require_text(text: str, field: str, longest: int | None) -> str:
    return _check(text, field, longest, _UNWRITABLE)


def require_game_text(text: str, field: str, longest: int | None) -> str:
    """Of a game, whose makers may have taken cp1252 for Latin-1: an item's ’ as U+0092 stops no catalogue."""  # noqa: RUF002 - as they meant it
    return _check(text, field, longest, _UNSTORABLE)


def _check(text: str, field: str, longest: int | None, unfit: re.Pattern[str]) -> str:
    if longest is not None and len(text) > longest:
        raise BadField(field=field, problem=f"must have at most {longest} characters")
    if unfit.search(text):
        raise BadField(field=field, problem="has characters that cannot be stored")
    return text
