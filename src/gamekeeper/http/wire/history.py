"""The audit log: changes, how they are searched, and their undo."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.history import KINDS
from gamekeeper.http.wire.items import ChangedBag, ItemSlot, Sum
from gamekeeper.http.wire.players import PLAYER_FIELDS
from gamekeeper.http.wire.scalars import Guid, Instant, PlainInt64, Positive, Printable
from gamekeeper.http.wire.spells import KnownSpell
from gamekeeper.http.wire.users import USER_FIELDS
from gamekeeper.http.wire.variables import ChangedVariable

Cursor = Annotated[int, Meta(ge=1, le=2**63 - 1, description="Changes before this number: `Next` of the page before.")]
Since = Annotated[Instant, Meta(description="Changes from this time on, from its beginning.")]
END = "Without a fraction: to the end of that second."
Until = Annotated[Instant, Meta(description=f"Changes up to this time. {END}")]
Whose = Annotated[Guid, Meta(description="Changes of this character, by its id; also of a deleted one.")]
OfUser = Annotated[Guid, Meta(description="Changes of this account and its characters' creation and deletion.")]
By = Annotated[Guid, Meta(description="Changes that this account made; not those that it reported for a game.")]
OfItem = Annotated[Guid, Meta(description="Changes that have this item on either side.")]
OfRequest = Annotated[Printable, Meta(description="Changes that the request with this `X-Request-Id` made.")]
Because = Annotated[Printable, Meta(description="Changes whose reason has this in it, in any case.")]
OfKind = Annotated[str, Meta(description="Changes of this kind.", extra_json_schema={"enum": list(KINDS)})]
Format = Annotated[Literal["json", "csv"], Meta(description="`csv`: a table in UTF-8; its `X-Next` is `Next`.")]
MOMENT = {"anyOf": [{"pattern": "^[0-9]{1,18}$"}, {"format": "date-time"}]}
Then = Annotated[
    str,
    Meta(
        description=f"The number of a change, or a time: how it was once all up to it had happened. {END}",
        extra_json_schema=MOMENT,
    ),
]
MANY = "At most so many: 50 unless told and 1,000 at most; with `format=csv` 1,000 unless told and 10,000 at most."
Many = Annotated[Positive, Meta(description=MANY)]


class HistoryQuery(Struct, rename={"since": "from"}):
    player: Whose | UnsetType = UNSET
    user: OfUser | UnsetType = UNSET
    actor: By | UnsetType = UNSET
    kind: OfKind | UnsetType = UNSET
    item: OfItem | UnsetType = UNSET
    since: Since | UnsetType = UNSET
    to: Until | UnsetType = UNSET
    request: OfRequest | UnsetType = UNSET
    reason: Because | UnsetType = UNSET
    before: Cursor | UnsetType = UNSET
    limit: Many | UnsetType = UNSET
    format: Format = "json"


Force = Annotated[
    bool, Meta(description="Undo it also when another player may have gained the item: 409 `item_moved_on` otherwise.")
]


class UndoQuery(Struct):
    force: Force = False


class ThenQuery(Struct):
    at: Then | UnsetType = UNSET


class ToldChange(Struct):
    Seq: PlainInt64
    At: Instant
    Kind: str
    PlayerId: Guid | None
    Player: str | None
    UserId: Guid | None
    User: str | None
    ActorId: Guid | None
    By: str | None
    OverLink: bool
    Before: msgspec.Raw
    After: msgspec.Raw
    RequestId: str
    Reason: str | None
    Undoes: PlainInt64 | None
    UndoneBy: PlainInt64 | None
    Undoable: bool


class History(Struct):
    Changes: list[ToldChange]
    Next: PlainInt64 | None


class DoneChange(Struct):
    Kind: str
    PlayerId: Guid | None
    UserId: Guid | None
    Before: msgspec.Raw
    After: msgspec.Raw


class Undone(Struct):
    Undoes: PlainInt64
    Kind: str
    Changes: list[DoneChange]


class LedgerSide(Struct, omit_defaults=True):
    """What a change was about besides fields of the record, before or after."""

    Items: list[ItemSlot] = []
    Bank: list[ItemSlot] = []
    Bags: list[ChangedBag] = []
    Spells: list[KnownSpell] = []
    Variables: list[ChangedVariable] = []
    Sums: list[Sum] = []


TIMES = frozenset({"CreationDate", "LastOnline", "EndsAt", "NextTryAt"})
PERSONAL = (PLAYER_FIELDS["name"], *(USER_FIELDS[each] for each in ("email", "mute_reason", "ban_reason", "reason")))
