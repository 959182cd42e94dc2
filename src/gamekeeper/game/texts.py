"""Texts that people write, and what of them can be kept."""

import re

from gamekeeper.game.refusals import BadField

LONGEST_REASON = 255
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def require(text: str, field: str, longest: int | None) -> str:
    if longest is not None and len(text) > longest:
        raise BadField(field=field, problem=f"must have at most {longest} characters")
    if _UNSTORABLE.search(text):
        raise BadField(field=field, problem="has characters that cannot be stored")
    return text
