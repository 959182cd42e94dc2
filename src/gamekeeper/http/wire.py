"""Every JSON shape, attributes spelt exactly as on the wire. Nothing else knows how a field is spelt."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.history import KINDS

R = TypeVar("R")
ZERO = "00000000-0000-0000-0000-000000000000"
STORABLE = {"pattern": "^[^\\x00-\\x1f\\x7f]*$"}
PRINTABLE = {"pattern": "^[^\\x00-\\x1f\\x7f-\\x9f]*$"}

# `extra` is read by bodies.py, `extra_json_schema` by openapi.py.
Guid = Annotated[str, Meta(extra={"is": "guid"}, extra_json_schema={"format": "uuid"})]
Text = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]  # that people write
Told = Annotated[str, Meta(max_length=255, extra={"is": "told"}, extra_json_schema=STORABLE)]  # by a game
Name = Annotated[str, Meta(extra_json_schema={"format": "name"})]  # of a new account; what it must match is a setting
Email = Annotated[str, Meta(extra_json_schema={"format": "email"})]
HASH = {"pattern": "^[0-9A-Fa-f]{64}$", "description": "The SHA-256 of the password, in hex."}
Sent = Annotated[str, Meta(extra={"is": "password"}, extra_json_schema=HASH)]
Secret = Annotated[str, Meta(max_length=255, extra={"is": "secret"}, extra_json_schema=PRINTABLE)]
Instant = Annotated[str, Meta(extra={"is": "instant"}, extra_json_schema={"format": "date-time"})]  # with its offset
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Level = Annotated[Positive, Meta(extra_json_schema={"format": "level"})]  # the highest is a setting
# Not null, though it may be left out: a ban for good, an empty slot, or a report that asks nothing, is not to come of a
# value that went missing.
NEVER_NULL = Meta(extra={"never_null": True})
Days = Annotated[int, Meta(ge=0, le=999_999, description="Whole days; 0: for good."), NEVER_NULL]
LongNatural = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Two = Annotated[list[Int32], Meta(min_length=2, max_length=2, description="Health, mana.")]
Five = Annotated[list[Int32], Meta(min_length=5, max_length=5)]
Stats = Annotated[Five, Meta(description="Attack, ability power, defense, magic resist, speed.")]
WORN = "Inventory slots of helmet, armor, weapon, shield, boots; -1 for none."
Worn = Annotated[list[Annotated[int, Meta(ge=-1, le=2**31 - 1)]], Meta(min_length=5, max_length=5, description=WORN)]
VariableValue = Annotated[Long | bool, Meta(extra={"is": "value"})]

encode = msgspec.json.Encoder().encode


# --- what comes in -------------------------------------------------------------------------------------------------


class LegacyPage(Struct):
    page: Natural = 0
    count: Annotated[Int32, Meta(description="0 and less mean 5, as for the engine.")] = 5


class SetVariable(Struct):
    value: VariableValue


class GiveItem(Struct):
    itemid: Guid
    quantity: Positive
    bankoverflow: bool = False


class TakeItem(Struct):
    itemid: Guid
    quantity: Positive


class Spell(Struct):
    spellid: Guid


class Register(Struct):
    username: Name
    password: Sent
    email: Email


class ValidatePassword(Struct):
    password: Sent


class ChangeEmail(Struct):
    new: Email
    authorization: Sent


class ChangePassword(Struct):
    new: Sent
    authorization: Sent


class ManageEmail(Struct):
    new: Email


class ManagePassword(Struct):
    new: Sent


class RedeemCode(Struct):
    code: Secret
    new: Sent


class Pardon(Struct):
    reason: Text | None = None
    moderator: Text | None = None  # whoever did it, for the record


class Penalty(Struct):
    duration: Days = 0
    reason: Text | None = None
    moderator: Text | None = None


class Rename(Struct):
    name: Name


_QUERY = Meta(extra={"or": "users.query"}, description="Also as `users.query`.")
_MANAGE = Meta(extra={"or": "users.manage"}, description="Also as `users.manage`.")
_LINK = Meta(extra={"or": "game.link"}, description="Also as `game.link`.")


class ChangePowers(Struct):
    """Only what is given changes."""

    editor: bool | UnsetType = UNSET
    ban: bool | UnsetType = UNSET
    kick: bool | UnsetType = UNSET
    mute: bool | UnsetType = UNSET
    api: bool | UnsetType = UNSET
    usersquery: Annotated[bool | UnsetType, _QUERY] = UNSET
    usersmanage: Annotated[bool | UnsetType, _MANAGE] = UNSET
    gamelink: Annotated[bool | UnsetType, _LINK] = UNSET


class SetLevel(Struct):
    level: Level


class SetClass(Struct):
    classid: Annotated[Guid, Meta(extra={"or": "id"}, description="Also as `id`.")]  # as newer engines call it


class LogIn(Struct):
    grant_type: str = ""
    username: str = ""
    password: Secret = ""
    refresh_token: Secret = ""
    scope: str = ""


class PasswordGrant(Struct):
    """What a LogIn must be, said more exactly than its refusals allow to read it."""

    grant_type: Literal["password"]
    username: Annotated[str, Meta(min_length=1, extra_json_schema=PRINTABLE)]
    password: Sent
    scope: Literal["", "read"] = ""


class RefreshGrant(Struct):
    """The same for renewing."""

    grant_type: Literal["refresh_token"]
    refresh_token: Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema=PRINTABLE)]


class ItemEntry(Struct):
    Id: Guid
    Name: Told
    Stackable: bool
    MaxStack: Positive | None = None
    BagSlots: Annotated[int, Meta(ge=0, le=1000)] = 0
    Icon: Told | None = None


class NamedEntry(Struct):
    Id: Guid
    Name: Told


class VariableEntry(Struct):
    Id: Guid
    Name: Told
    Type: Literal["Integer", "Boolean"]


class Lease(Struct):
    Lease: Annotated[int, Meta(ge=1, le=3600)]


class Players(Struct):
    Players: Annotated[list[Guid], Meta(max_length=10_000)]


# --- what is asked for in the query ----------------------------------------------------------------------------------


Number = Annotated[Natural, Meta(description="Which page, from 0; one past the end has no records.")]
Size = Annotated[Positive, Meta(description="Records per page; more than the server's greatest is cut to it.")]
Limit = Annotated[Positive, Meta(description="At most so many of what would be answered.")]
Around = Annotated[int, Meta(ge=0, le=50, description="How many above and how many below to show.")]
Order = Annotated[Literal["Ascending", "Descending"], Meta(description="Descending: the best first.")]
Direction = Annotated[Literal["Ascending", "Descending"], Meta(description="Of the order.")]
PlayerSort = Annotated[Literal["name", "level"], Meta(description="The order; level: as in the rank list.")]
UserSort = Annotated[Literal["name", "email"], Meta(description="The order.")]
Printable = Annotated[str, Meta(max_length=255, extra_json_schema=PRINTABLE)]
Search = Annotated[
    str,
    Meta(
        description="A part of the name, or of an account's email; less than 3 characters are ignored. At most 1000 "
        "matches are put into order (among those online: those of these that are), and `Total` is never more.",
        extra_json_schema=PRINTABLE,
    ),
]
After = Annotated[LongNatural | Literal["now"], Meta(description="`Next` of the answer before; 0: all there ever was.")]
Wait = Annotated[Natural, Meta(description="Seconds to wait when there is nothing yet; more than 60 are 60.")]
Own = Annotated[bool, Meta(description="Also what this account itself wrote over the link.")]
Epoch = Annotated[Guid, Meta(description="`Epoch` of the answer before: refused when the ledger is another by now.")]


class PageQuery(Struct):
    page: Number = 0
    pageSize: Size = 5  # noqa: N815 - the wire's spelling
    limit: Limit | UnsetType = UNSET


class PlayersQuery(PageQuery):
    search: Search = ""
    sortBy: PlayerSort = "name"  # noqa: N815 - the wire's spelling
    sortDirection: Direction = "Ascending"  # noqa: N815 - as above


class UsersQuery(PageQuery):
    search: Search = ""
    sortBy: UserSort = "name"  # noqa: N815 - the wire's spelling
    sortDirection: Direction = "Ascending"  # noqa: N815 - as above


class RankQuery(PageQuery):
    sortDirection: Order = "Descending"  # noqa: N815 - the wire's spelling


class AroundQuery(Struct):
    around: Around = 5


class FeedQuery(Struct):
    after: After = 0
    wait: Wait = 0
    limit: Limit = 100
    own: Own = False
    epoch: Epoch | UnsetType = UNSET


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
MARK = {"pattern": "^([0-9]{1,18}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$"}
Mark = Annotated[str, Meta(description="Mails before this place: `Next` of the page before.", extra_json_schema=MARK)]
ToUser = Annotated[Guid, Meta(description="Mails to this account, by its id.")]
SOUGHT = "An id, also of a deleted character or account, or the beginning or a part of a name or an email."
Sought = Annotated[Printable, Meta(description=SOUGHT)]
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


class MailsQuery(Struct):
    user: ToUser | UnsetType = UNSET
    before: Mark | UnsetType = UNSET
    limit: Limit = 50


class FindQuery(Struct):
    q: Sought = ""
    limit: Limit = 20


# --- what comes in and goes out ------------------------------------------------------------------------------------


class ItemSlot(Struct):
    Slot: Natural
    BagId: Guid | None = None
    ItemId: Annotated[Guid, NEVER_NULL] = ZERO
    Quantity: Annotated[Natural, NEVER_NULL] = 0
    StatBuffs: Stats = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


# A body has both fields or neither, unless it says that the slot is empty: half a slot would empty it by mistake.
TOGETHER: Mapping[type[Struct], Sequence[str]] = {ItemSlot: ("ItemId", "Quantity")}


class Bag(Struct):
    Id: Guid
    SlotCount: Annotated[int, Meta(ge=1, le=1000)]
    Slots: list[ItemSlot]


class KnownSpell(Struct):
    Slot: Natural
    SpellId: Guid


class Variable(Struct):
    VariableId: Guid
    Value: VariableValue


class PutPlayer(Struct):
    Name: Told | UnsetType = UNSET
    InBank: bool | UnsetType = UNSET
    UserId: Guid | UnsetType = UNSET
    MaxVitals: Two | UnsetType = UNSET
    Level: Positive | UnsetType = UNSET
    Exp: LongNatural | UnsetType = UNSET
    ExperienceToNextLevel: Long | UnsetType = UNSET
    ClassId: Guid | UnsetType = UNSET
    Gender: Annotated[int, Meta(ge=0, le=1)] | UnsetType = UNSET
    Vitals: Two | UnsetType = UNSET
    BaseStats: Stats | UnsetType = UNSET
    StatPointAllocations: Stats | UnsetType = UNSET
    StatPoints: Int32 | UnsetType = UNSET
    Equipment: Worn | UnsetType = UNSET
    MapId: Guid | UnsetType = UNSET
    X: Int32 | UnsetType = UNSET
    Y: Int32 | UnsetType = UNSET
    Z: Int32 | UnsetType = UNSET
    Dir: Int32 | UnsetType = UNSET
    Sprite: Told | UnsetType = UNSET
    Face: Told | UnsetType = UNSET
    Dead: bool | UnsetType = UNSET
    LastOnline: Instant | UnsetType | None = UNSET
    CreationDate: Instant | UnsetType = UNSET
    PlayTimeSeconds: LongNatural | UnsetType = UNSET
    Items: list[ItemSlot] | UnsetType = UNSET
    Bank: list[ItemSlot] | UnsetType = UNSET
    Bags: list[Bag] | UnsetType = UNSET
    Spells: list[KnownSpell] | UnsetType = UNSET
    Variables: Annotated[list[Variable], Meta(max_length=10_000)] | UnsetType = UNSET
    AppliedSeq: Annotated[LongNatural | UnsetType, NEVER_NULL] = UNSET


# --- what goes out -------------------------------------------------------------------------------------------------


class Error(Struct):
    Message: str
    Code: str
    RequestId: str


class LogInError(Error):
    """As `log_in_error` writes it."""

    error: Literal["invalid_request", "invalid_grant", "unsupported_grant_type", "unauthorized_client"]


class PlayerDocument(Struct):
    """The stored part of a player record; ClassName, MapName, Online and LastOnline follow as its tail."""

    Name: str
    InBank: bool
    UserId: Guid
    MaxVitals: Two
    Id: Guid
    Level: int
    Exp: int
    ExperienceToNextLevel: int
    ClassId: Guid
    Gender: int
    Vitals: Two
    BaseStats: Stats
    StatPointAllocations: Stats
    StatPoints: int
    Equipment: Worn
    MapId: Guid
    X: int
    Y: int
    Z: int
    Dir: int
    Sprite: str
    Face: str
    Dead: bool
    CreationDate: Instant
    PlayTimeSeconds: int


class PlayerRecord(PlayerDocument):
    """The document with its tail, as `player_tail` writes it."""

    ClassName: str
    MapName: str
    Online: bool
    LastOnline: Instant | None


class RankedPlayer(PlayerRecord):
    """As `ranked_player` writes it: the rank comes first."""

    Rank: int


DELETED = "ERR_DELETED"  # the engine's word: a real client hides the rows that have it


class NamedSlot(ItemSlot):
    """With the item's name in the catalogue; `ERR_DELETED` for an empty slot and for an unknown item."""

    ItemName: str = DELETED


class NamedBag(Struct):
    Id: Guid
    SlotCount: int
    Slots: list[NamedSlot]


# Fields of our answers that a strict body may repeat. They are ignored, so that callers can put back what they read.
READ_ONLY: Mapping[type[Struct], Sequence[str]] = {
    PutPlayer: [name for name in RankedPlayer.__struct_fields__ if name not in PutPlayer.__struct_fields__],
    ItemSlot: [name for name in NamedSlot.__struct_fields__ if name not in ItemSlot.__struct_fields__],
    ChangePowers: ["Id", "Name"],
}


class Rank(Struct):
    """As `rank` writes it."""

    Rank: int
    Of: int
    Player: PlayerRecord
    Around: list[RankedPlayer]


class Paged(Struct, Generic[R]):
    """As `paged` writes it."""

    Total: int
    Page: int
    PageSize: int
    Count: int
    Values: list[R]


class Legacy(Struct, Generic[R]):
    """As `legacy` writes it."""

    total: int
    Page: int
    count: int
    entries: list[R]


class Value(Struct):
    value: int | bool


class OnlineCount(Struct):
    onlineCount: int  # noqa: N815 - the wire's spelling


class Items(Struct):
    inventory: list[NamedSlot]
    bank: list[NamedSlot]


class Quantity(Struct):
    total: int
    bank: int
    inventory: int


class Given(Struct):
    id: Guid
    quantity: Quantity


class Taken(Struct):
    ItemId: Guid
    Quantity: int


class SpellId(Struct):
    SpellId: Guid


class Power(Struct):
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    PersonalInformation: bool


class ChangedPower(Struct):
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    ApiPersonalInformation: bool
    ApiUserManagement: bool


class UserRecord(Struct, Generic[R]):
    Id: Guid
    Name: str
    Email: str
    Power: R  # Power or ChangedPower, as the spec lists per endpoint
    PasswordResetCode: str | None
    IsMuted: bool
    MuteReason: str | None
    IsBanned: bool
    RegistrationDate: Instant
    PlayTimeSeconds: int  # of all its characters


class HeldPowers(Struct):
    """All that an account may do; the spec's records say a part of it."""

    Id: str
    Name: str
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    UsersQuery: bool
    UsersManage: bool
    GameLink: bool


class Registered(Struct):
    Username: str
    Email: str


class Message(Struct, omit_defaults=True):
    Message: str
    Warning: str | None = None


class Token(Struct, rename={"issued": ".issued", "expires": ".expires"}):
    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str | None
    issued: str
    expires: str


class Revoked(Struct, omit_defaults=True):
    username: str
    tokenId: str | None = None  # noqa: N815 - the wire's spelling


class Count(Struct):
    Count: int


class ServerState(Struct):
    Server: str
    ExpiresAt: Instant
    Online: int


class Online(Struct):
    Online: int


class FeedChange(Struct):
    Seq: int
    At: Instant
    Kind: str
    PlayerId: Guid
    Before: msgspec.Raw
    After: msgspec.Raw
    By: str | None
    RequestId: str


class UnappliedError(Error):
    """As `unapplied_error` writes it."""

    Changes: list[FeedChange]


class Changes(Struct):
    Changes: list[FeedChange]
    Next: int
    Epoch: Guid


class ToldChange(Struct):
    Seq: int
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
    Undoes: int | None
    UndoneBy: int | None
    Undoable: bool


class History(Struct):
    Changes: list[ToldChange]
    Next: int | None


class DoneChange(Struct):
    Kind: str
    PlayerId: Guid | None
    UserId: Guid | None
    Before: msgspec.Raw
    After: msgspec.Raw


class Undone(Struct):
    Undoes: int
    Kind: str
    Changes: list[DoneChange]


class ItemsThen(Struct):
    inventory: list[ItemSlot]
    bank: list[ItemSlot]
    bags: list[Bag]


class Mail(Struct):
    Id: Guid
    UserId: Guid
    User: str
    Kind: str
    Email: str
    State: str  # queued, sending, sent, failed or expired
    QueuedAt: Instant
    ExpiresAt: Instant
    Tries: int
    NextTryAt: Instant | None
    SentAt: Instant | None
    LastError: str | None
    Retriable: bool


class Mails(Struct):
    Mails: list[Mail]
    Next: str | None


class Found(Struct):
    Kind: str
    Id: str
    Name: str
    Detail: str
    Match: str  # id, exact, prefix, part or near


class Finds(Struct):
    Query: str
    Found: list[Found]


class Health(Struct):
    Status: str


class Versions(Struct):
    versions: list[str]


class Info(Struct):
    name: str
    port: int


class Authorized(Struct):
    authorized: bool


class ServerStats(Struct):
    uptime: int
    cps: int
    connectedClients: int  # noqa: N815 - the wire's spelling
    onlineCount: int  # noqa: N815 - as above


class PlayerConfig(Struct):
    MaxCharacters: int
    MaxInventory: int
    MaxBank: int
    MaxSpells: int
    MaxLevel: int
    MaxStat: int
    InitialBankslots: int


class Config(Struct):
    GameName: str
    ServerPort: int
    Player: PlayerConfig


class ItemObject(Struct):
    Id: Guid
    Name: str
    Icon: str | None
    Stackable: bool
    MaxInventoryStack: int
    MaxBankStack: int
    SlotCount: int  # 0: not a bag


class VariableObject(Struct):
    Id: Guid
    Name: str
    Type: Literal[1, 2]  # boolean, integer


class Keyed(Struct, Generic[R]):
    """As `keyed` writes it."""

    Key: Guid
    Value: R


class ChangedBag(Struct):
    Id: str
    SlotCount: int | None
    Slots: list[ItemSlot]


class ChangedVariable(Struct):
    VariableId: str
    Value: int | bool | None


class Sum(Struct):
    ItemId: str
    Quantity: int


class LedgerSide(Struct, omit_defaults=True):
    """What a change was about besides fields of the record, before or after."""

    Items: list[ItemSlot] = []
    Bank: list[ItemSlot] = []
    Bags: list[ChangedBag] = []
    Spells: list[KnownSpell] = []
    Variables: list[ChangedVariable] = []
    Sums: list[Sum] = []


# --- how the records' fields are called in the rules -----------------------------------------------------------------

PLAYER_ATTRIBUTES = {
    "Name": "name",
    "InBank": "in_bank",
    "UserId": "user_id",
    "MaxVitals": "max_vitals",
    "Id": "id",
    "Level": "level",
    "Exp": "exp",
    "ExperienceToNextLevel": "experience_to_next_level",
    "ClassId": "class_id",
    "Gender": "gender",
    "Vitals": "vitals",
    "BaseStats": "base_stats",
    "StatPointAllocations": "stat_point_allocations",
    "StatPoints": "stat_points",
    "Equipment": "equipment",
    "MapId": "map_id",
    "X": "x",
    "Y": "y",
    "Z": "z",
    "Dir": "dir",
    "Sprite": "sprite",
    "Face": "face",
    "Dead": "dead",
    "CreationDate": "created_at",
    "PlayTimeSeconds": "play_time_seconds",
    "LastOnline": "last_online",
}
PLAYER_FIELDS = {attribute: name for name, attribute in PLAYER_ATTRIBUTES.items()}
USER_FIELDS = {
    "name": "Name",
    "email": "Email",
    "password": "Password",
    "reset_code": "PasswordResetCode",
    "mute_reason": "MuteReason",
    "ban_reason": "BanReason",
    "reason": "Reason",
    "moderator": "Moderator",
    "ends_at": "EndsAt",
    "mail_id": "MailId",
    "mail_state": "MailState",
    "next_try_at": "NextTryAt",
    "editor": "Editor",
    "ban": "Ban",
    "kick": "Kick",
    "mute": "Mute",
    "api": "Api",
    "users_query": "UsersQuery",
    "users_manage": "UsersManage",
    "game_link": "GameLink",
}
RIGHTS = {  # what a body that changes powers calls those that have a point in their name
    "usersquery": "users.query",
    "usersmanage": "users.manage",
    "gamelink": "game.link",
}
TIMES = frozenset({"CreationDate", "LastOnline", "EndsAt", "NextTryAt"})
PERSONAL = (PLAYER_FIELDS["name"], *(USER_FIELDS[each] for each in ("email", "mute_reason", "ban_reason", "reason")))
ENTRIES: Mapping[str, type[ItemEntry | NamedEntry | VariableEntry]] = {
    "items": ItemEntry,
    "spells": NamedEntry,
    "variables": VariableEntry,
    "classes": NamedEntry,
    "maps": NamedEntry,
}
STATS = ["Attack", "AbilityPower", "Defense", "MagicResist", "Speed"]  # in the order of every list of five
VERSIONS = ["v1"]
OBJECTS: Mapping[str, str | None] = {  # the engine's types, and which of our lists each is; None: we keep none of it
    "item": "items",
    "spell": "spells",
    "class": "classes",
    "map": "maps",
    "playervariable": "variables",
    **dict.fromkeys(("animation", "npc", "projectile", "quest", "resource", "shop", "crafttables", "crafts", "event")),
    **dict.fromkeys(("servervariable", "tileset", "guildvariable", "uservariable")),
}


# --- lists ---------------------------------------------------------------------------------------------------------


def paged(total: int, page: int, size: int, records: Sequence[bytes]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(records))
    return head + b",".join(records) + b"]}"


def legacy(total: int, page: int, records: Sequence[bytes]) -> bytes:
    head = b'{"total":%d,"Page":%d,"count":%d,"entries":[' % (total, page, len(records))
    return head + b",".join(records) + b"]}"


def keyed(key: str, record: bytes) -> bytes:
    return b'{"Key":%b,"Value":%b}' % (encode(key), record)


def array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"


def player_tail(class_name: str, map_name: str, last_online: str | None, *, online: bool) -> bytes:
    return b',"ClassName":%b,"MapName":%b,"Online":%b,"LastOnline":%b}' % (
        encode(class_name),
        encode(map_name),
        b"true" if online else b"false",
        encode(last_online),
    )


def ranked_player(rank: int, record: bytes) -> bytes:
    return b'{"Rank":%d,' % rank + record[1:]


def rank(rank: int, of: int, player: bytes, around: Sequence[bytes]) -> bytes:
    return b'{"Rank":%d,"Of":%d,"Player":%b,"Around":%b}' % (rank, of, player, array(around))


def revoked(answer: bytes, token_id: str) -> bytes:
    """The answer about all tokens, made one about this token."""
    return encode({**msgspec.json.decode(answer, type=dict[str, msgspec.Raw]), "tokenId": token_id})


def error_code(codes: Sequence[str]) -> dict[str, object]:
    """The one field of an error that differs from row to row."""
    return {"Code": {"enum": codes}}


def unapplied_error(changes: list[FeedChange], error: Error) -> bytes:
    return encode({**msgspec.structs.asdict(error), "Changes": changes})


def log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})
