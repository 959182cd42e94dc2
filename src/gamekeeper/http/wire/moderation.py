"""JSON shapes of bans, mutes and kicks."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import NEVER_NULL, Text

Days = Annotated[int, Meta(ge=0, le=999_999, description="Days; 0: permanently."), NEVER_NULL]


class Pardon(Struct):
    reason: Text | None = None
    moderator: Text | None = None  # name of the moderator to record; default: the caller's


class Penalty(Struct):
    duration: Days = 0
    reason: Text | None = None
    moderator: Text | None = None
