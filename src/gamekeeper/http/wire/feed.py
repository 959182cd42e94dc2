"""JSON shapes of the change feed."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.query_values import SERVER, read_server
from gamekeeper.http.wire.errors import Error
from gamekeeper.http.wire.lists import Limit
from gamekeeper.http.wire.scalars import Guid, Instant, LongNatural, Natural, PlainInt64, encode

MAX_WAIT_SECONDS = 60  # longest time in seconds that a long poll of the change feed waits

AFTER_DESCRIPTION = "`Next` of the previous answer; 0: from the first change; now: only later changes."
After = Annotated[LongNatural | Literal["now"], Meta(description=AFTER_DESCRIPTION)]
WAIT_DESCRIPTION = (
    f"Seconds to wait for a change (long poll). Values over {MAX_WAIT_SECONDS} count as {MAX_WAIT_SECONDS}."
)
Wait = Annotated[Natural, Meta(description=WAIT_DESCRIPTION, extra={"cut": MAX_WAIT_SECONDS})]
Own = Annotated[bool, Meta(description="Include changes that this account itself made over the game link.")]
Epoch = Annotated[
    Guid,
    Meta(
        description="`Epoch` of the previous answer. The request is rejected if the database was replaced since.",
        extra={"problem": "must be the Epoch of an earlier answer"},
    ),
]


FeedServer = Annotated[
    str,
    Meta(
        description="Name of your game server: leaves out commands for others, and tells when commands expire.",
        extra={"read": read_server},
        extra_json_schema={"pattern": f"^{SERVER}$"},
    ),
]


class FeedQuery(Struct, frozen=True):
    after: After = 0
    wait: Wait = 0
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 100
    own: Own = False
    epoch: Epoch | UnsetType = UNSET
    server: FeedServer | UnsetType = UNSET


class FeedChange(Struct):
    Seq: PlainInt64
    At: Instant
    Kind: str
    PlayerId: Guid | None
    Before: msgspec.Raw
    After: msgspec.Raw
    By: str | None
    RequestId: str
    Server: str | UnsetType = UNSET  # this field and those after it: only of commands, with `server`
    ExpiresAt: Instant | UnsetType | None = UNSET
    Expired: bool | UnsetType = UNSET


class UnappliedError(Error):
    """The refusal of a report, with the changes that the game has not applied. `encode_unapplied_error` encodes it."""

    Changes: list[FeedChange]


class Changes(Struct):
    Changes: list[FeedChange]
    Next: PlainInt64
    Epoch: Guid


def encode_unapplied_error(changes: list[FeedChange], error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "Changes": changes})
