"""JSON shapes of bans, mutes and kicks."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.scalars import NEVER_NULL, Instant, Text

Days = Annotated[int, Meta(ge=0, le=999_999, description="Days; 0: permanently."), NEVER_NULL]
Minutes = Annotated[int, Meta(ge=0, le=999_999 * 24 * 60, description="Minutes, instead of days; 0: permanently.")]


class Pardon(Struct):
    reason: Text | None = None
    moderator: Text | None = None  # name of the moderator to record; default: the caller's


class Penalty(Struct):
    duration: Days = 0
    reason: Text | None = None
    moderator: Text | None = None
    # left out of the fingerprint if they are not sent: stored Idempotency-Keys are older than these fields
    minutes: Annotated[Minutes | UnsetType, NEVER_NULL] = UNSET
    until: Annotated[Instant | UnsetType, NEVER_NULL] = UNSET  # time at which it ends, instead of a duration
