"""JSON shapes of bulk jobs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.audit.approvals import PreviewedChange
from gamekeeper.http.accounts.account_shapes import Days as DayCount
from gamekeeper.http.accounts.account_shapes import Minutes as MinuteCount
from gamekeeper.http.audit.history_shapes import Format
from gamekeeper.http.contract.shapes import (
    NEVER_NULL,
    PRINTABLE,
    Guid,
    Instant,
    Limit,
    Natural,
    PlainInt32,
    PlainInt64,
    Positive,
    describe,
    describe_cursor,
)
from gamekeeper.http.players.variable_shapes import VariableValue
from gamekeeper.http.server import query_values

PlayerKey = Annotated[str, Meta(max_length=255)]
ActName = Literal["give_item", "take_item", "set_variable", "ban_player", "mute_player"]
JobsBefore = Annotated[query_values.MailCursor, describe_cursor("jobs")]
MAX_NUMBER = 2**31 - 1
TargetsAfter = Annotated[
    int, Meta(ge=0, le=MAX_NUMBER, description="Players after this number: `Next` of the previous page.")
]
TargetState = Annotated[
    Literal["waiting", "done", "refused", "held", "not_found"], describe("Only players in this state.")
]


class JobFilter(Struct):
    """Players that a job is for. All conditions must be met; see `filter_players`."""

    ClassId: Guid | UnsetType = UNSET
    MapId: Guid | UnsetType = UNSET
    LevelFrom: Positive | UnsetType = UNSET
    LevelTo: Positive | UnsetType = UNSET
    SeenFrom: Instant | UnsetType = UNSET
    SeenTo: Instant | UnsetType = UNSET
    Banned: bool | UnsetType = UNSET
    Online: bool | UnsetType = UNSET
    ItemId: Guid | UnsetType = UNSET
    Search: Annotated[str, Meta(min_length=3, extra_json_schema=PRINTABLE)] | UnsetType = UNSET


class NewBulkJob(Struct):
    """A job. `Act` is the operation that is called for each player; the other fields are those of its body."""

    Act: Annotated[ActName, describe("What to do with each player.")]
    Players: Annotated[list[PlayerKey], describe("Names and ids of players.")] | UnsetType = UNSET
    Online: Annotated[bool, describe("All players that are online too.")] = False
    ItemId: Annotated[Guid, describe("Id of the item, for `give_item` and `take_item`.")] | UnsetType = UNSET
    Quantity: Annotated[Positive, describe("How many each player gets or loses.")] | UnsetType = UNSET
    BankOverflow: Annotated[bool, describe("Put into the bank what does not fit into the inventory.")] | UnsetType = (
        UNSET
    )
    VariableId: Annotated[Guid, describe("Id of the variable, for `set_variable`.")] | UnsetType = UNSET
    Value: Annotated[VariableValue, describe("Its new value.")] | UnsetType = UNSET
    Days: DayCount | UnsetType = UNSET
    Filter: JobFilter | UnsetType = UNSET  # all players that match it when the job is created
    Minutes: Annotated[MinuteCount | UnsetType, NEVER_NULL] = UNSET
    Until: Annotated[
        Annotated[Instant, describe("Time at which a ban or mute ends, instead of a duration.")] | UnsetType,
        NEVER_NULL,
    ] = UNSET


class JobsQuery(Struct, frozen=True):
    before: JobsBefore = query_values.START
    limit: Annotated[Limit, Meta(extra={"cut": 1000})] = 50


class TargetsQuery(Struct, frozen=True):
    after: TargetsAfter = 0
    state: TargetState | UnsetType = UNSET
    limit: Annotated[Limit, Meta(extra={"cut": 10_000})] = 100
    format: Format = "json"


CheckedPlayers = Annotated[
    Natural,
    Meta(
        description="Number of players, with those shown, that are tried to count refusals in `Check`; at most 1000.",
        extra={"cut": 1000},
    ),
]


class PreviewQuery(Struct, frozen=True):
    limit: Annotated[Limit, Meta(extra={"cut": 50})] = 10
    check: CheckedPlayers = 0


class BulkJob(Struct):
    """A job; `State` is previewed, running, paused, finished or cancelled. Its changes have its `RequestId`."""

    Id: Guid
    State: str
    Act: str
    ItemId: Guid | None
    Quantity: PlainInt32 | None
    BankOverflow: bool
    VariableId: Guid | None
    Value: PlainInt64 | bool | None
    Days: PlainInt32 | None
    Reason: str | None
    CreatorId: Guid
    Creator: str | None
    UndoOf: Guid | None
    RequestId: str
    Problem: str | None
    Players: PlainInt32
    Done: PlainInt32
    Refused: PlainInt32
    Held: PlainInt32
    Remaining: PlainInt32
    NotFound: PlainInt32
    Repeated: PlainInt32
    CreatedAt: Instant
    StartedAt: Instant | None
    EndedAt: Instant | None
    Minutes: PlainInt32 | None
    Until: Instant | None


class BulkJobs(Struct):
    Jobs: list[BulkJob]
    Next: str | None


class PreviewedTarget(Struct):
    """What the job would do to a player now; `Code` and `Message` if it would be refused."""

    Number: PlainInt32
    PlayerId: Guid
    Player: str | None
    Code: str | None
    Message: str | None
    NeedsApproval: bool
    Changes: list[PreviewedChange]


class ExpectedRefusal(Struct):
    """A refusal that the job would get for some players; the message and the player are those of the first."""

    Code: str
    Message: str
    Players: PlainInt32
    First: str | None


class BulkCheck(Struct):
    """What to expect of the job: how many players were tried, of how many who wait, and the refusals."""

    Tried: PlainInt32
    Waiting: PlainInt32
    NeedApproval: PlainInt32
    Refusals: list[ExpectedRefusal]


class BulkPreview(Struct):
    Players: list[PreviewedTarget]
    Check: BulkCheck | None = None
