"""Bans, mutes and kicks."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import NEVER_NULL, Text

Days = Annotated[int, Meta(ge=0, le=999_999, description="Whole days; 0: for good."), NEVER_NULL]


class Pardon(Struct):
    reason: Text | None = None
    moderator: Text | None = None  # whoever did it, for the record


class Penalty(Struct):
    duration: Days = 0
    reason: Text | None = None
    moderator: Text | None = None
