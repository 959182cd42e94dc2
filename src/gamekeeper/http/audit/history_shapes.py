"""JSON shapes of the audit log and of approvals: search parameters, changes, previews, and the answer of an undo."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.audit.approvals import PreviewedChange
from gamekeeper.game.audit.history import KINDS, PointInTime
from gamekeeper.http.accounts.account_shapes import USER_FIELDS
from gamekeeper.http.contract.shapes import (
    END_DESCRIPTION,
    LIMITS,
    Guid,
    Id,
    Instant,
    Limit,
    Phrase,
    PlainInt32,
    PlainInt64,
    Positive,
    describe,
    describe_cursor,
    describe_end,
    describe_start,
)
from gamekeeper.http.players.player_shapes import PLAYER_FIELDS, ChangedBag, ItemSlot, KnownSpell, Sum
from gamekeeper.http.players.variable_shapes import AnyVariable, ChangedVariable, GuildValue
from gamekeeper.http.server import query_values
from gamekeeper.store.audit.history import NEVER

Cursor = Annotated[int, Meta(ge=1, le=NEVER, description="Changes before this number: `Next` of the previous page.")]
StartTime = Annotated[int, describe_start("Changes at or after this time.")]
EndTime = Annotated[int, describe_end("Changes up to this time.")]
PlayerFilter = Annotated[Id, describe("Changes of this player, by id; also of a deleted player.")]
UserFilter = Annotated[Id, describe("Changes of this account, and the creation and deletion of its players.")]
ActorFilter = Annotated[Id, describe("Changes made by this account, without those it reported over the link.")]
ItemFilter = Annotated[Id, describe("Changes with this item, by id, before or after the change.")]
RequestFilter = Annotated[Phrase, describe("Changes that the request with this `X-Request-Id` made.")]
ReasonFilter = Annotated[Phrase, describe("Changes whose reason contains this text, in any letter case.")]
KindFilter = Annotated[
    str,
    Meta(
        description="Changes of this kind.",
        extra={"read": query_values.read_kind, "strip": True},
        extra_json_schema={"enum": list(KINDS)},
    ),
]
Format = Annotated[Literal["json", "csv"], describe("`csv`: a table in UTF-8; the header `X-Next` is its `Next`.")]
MOMENT = {"anyOf": [{"pattern": f"^{query_values.CHANGE_NUMBER}$"}, {"format": "date-time"}], "type": "string"}
PastMoment = Annotated[
    PointInTime,
    Meta(
        description=f"The number of a change, or a time: the state right after it. Default: now. {END_DESCRIPTION}",
        extra={"read": query_values.read_moment, "schema": MOMENT},
    ),
]
LIMIT_DESCRIPTION = (
    "Largest number of changes: default {:,}, at most {:,}; with `format=csv` default {:,}, at most {:,}."
)
HistoryLimit = Annotated[Positive, Meta(description=LIMIT_DESCRIPTION.format(*LIMITS["json"], *LIMITS["csv"]))]


class HistoryQuery(Struct, frozen=True, rename={"since": "from"}):
    player: PlayerFilter | UnsetType = UNSET
    user: UserFilter | UnsetType = UNSET
    actor: ActorFilter | UnsetType = UNSET
    kind: KindFilter | UnsetType = UNSET
    item: ItemFilter | UnsetType = UNSET
    since: StartTime = 0
    to: EndTime = NEVER
    request: RequestFilter | UnsetType = UNSET
    reason: ReasonFilter | UnsetType = UNSET
    before: Cursor | UnsetType = UNSET
    limit: HistoryLimit | UnsetType = UNSET
    format: Format = "json"


Force = Annotated[bool, describe("Undo even if another player may have the item now; otherwise 409 `item_moved_on`.")]


def find_start(before: int | UnsetType) -> int | None:
    """Return the change number that a page of the audit log starts before; None: it starts with the newest change."""
    return None if before is UNSET or before == NEVER else before


class UndoQuery(Struct, frozen=True):
    force: Force = False


class ThenQuery(Struct, frozen=True):
    at: PastMoment = PointInTime()


class ChangeDelivery(Struct):
    """How far one game server has got with a change. Later versions may add states."""

    Server: str
    State: str  # one of STATES in game/world/commands.py
    Reason: str | None  # what the game says about it
    At: Instant | None  # when the game server acknowledged it, or when it expired; null: not known


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
    KeyId: Guid | None  # the API key that made the change
    Key: str | None
    Deliveries: list[ChangeDelivery]  # empty: no game server needs the change


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
    """The result of an undo: number and kind of the undone change, and the changes that undid it."""

    Undoes: PlainInt64
    Kind: str
    Changes: list[DoneChange]


class AttachedText(Struct):
    """A variable of a player with text or a decimal; `Value` is JSON."""

    VariableId: Guid
    Type: str
    Value: str


class AttachedGuild(Struct):
    GuildId: Guid
    Rank: PlainInt32
    JoinedAt: Instant | None


class AttachedLeftover(Struct):
    """Rows of an imported game that nothing here uses; `Data` is JSON."""

    Kind: str
    Data: str


class AttachedRows(Struct, omit_defaults=True):
    """What was deleted with a player and is not in its record. An undo restores it."""

    Texts: list[AttachedText] = []
    Guild: AttachedGuild | None = None
    Leftovers: list[AttachedLeftover] = []


class LedgerSide(Struct, omit_defaults=True):
    """The lists in `Before` or `After` of a stored change, such as items and spells: not part of the player record."""

    Items: list[ItemSlot] = []
    Bank: list[ItemSlot] = []
    Bags: list[ChangedBag] = []
    Spells: list[KnownSpell] = []
    Variables: list[ChangedVariable] = []
    Sums: list[Sum] = []
    ServerVariables: list[AnyVariable] = []
    GuildVariables: list[GuildValue] = []
    Attached: AttachedRows | None = None


class OnlyLists(LedgerSide, forbid_unknown_fields=True):
    """`Before` or `After` of a change that set no field of a record, such as a gift of items."""


class CountedStack(Struct):
    """Item and quantity of a slot: what is needed to add up a change."""

    ItemId: str
    Quantity: int


class OnlyItems(Struct, forbid_unknown_fields=True):
    """`Before` or `After` of a change that has nothing but slots, such as most gifts. Faster to read than any side."""

    Items: list[CountedStack] = []
    Bank: list[CountedStack] = []


PERSONAL = (
    PLAYER_FIELDS["name"],
    *(USER_FIELDS[each] for each in ("email", "mute_reason", "ban_reason", "reason")),
    *("Message", "Target"),  # of a chat message
    *("Text", "Tags", "Note"),  # of notes and signals
    "Attached",  # texts that a game stores for a player may be personal
)


ApprovalsBefore = Annotated[query_values.MailCursor, describe_cursor("approvals")]
ApprovalState = Annotated[Literal["waiting", "done", "denied", "expired"], describe("Only approvals in this state.")]


class ApprovalsQuery(Struct, frozen=True):
    state: ApprovalState | UnsetType = UNSET
    before: ApprovalsBefore = query_values.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class KeyMaker(Struct):
    """An account that created or rotated an API key. It knows the key's secret, so it cannot decide."""

    Id: Guid
    Name: str | None


class Approval(Struct):
    """A change that needs an approval. `KeyId`, `Key` and `KeyMakers` are of the API key that asked for it, if any."""

    Id: Guid
    State: str  # waiting, done, denied or expired
    Rule: str
    RequestedAt: Instant
    ExpiresAt: Instant
    RequesterId: Guid
    Requester: str | None
    Method: str
    Path: str
    Reason: str | None
    DecidedAt: Instant | None
    DeciderId: Guid | None
    Decider: str | None
    DecisionReason: str | None
    KeyId: Guid | None
    Key: str | None
    KeyMakers: list[KeyMaker]
    Email: str | None  # to which the mail of a waiting invitation would go; masked without `users.query`


class Approvals(Struct):
    Approvals: list[Approval]
    Next: str | None


class ApprovalDetails(Approval):
    """An approval with what it would change."""

    Preview: list[PreviewedChange]


class Approved(Struct):
    """A carried-out change: `Answer` is the JSON text of the answer of its operation."""

    Id: Guid
    State: str
    Answer: str
