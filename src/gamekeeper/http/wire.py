"""Every JSON shape, attributes spelt exactly as on the wire. Nothing else knows how a field is spelt."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

ZERO = "00000000-0000-0000-0000-000000000000"

Guid = Annotated[str, Meta(extra={"is": "guid"})]
Text = Annotated[str, Meta(max_length=255)]
Sent = Annotated[str, Meta(extra={"is": "password"})]  # a SHA-256 in hex
Secret = Annotated[str, Meta(max_length=255, extra={"is": "secret"})]
Instant = Annotated[str, Meta(extra={"is": "instant"})]  # ISO 8601 with its offset
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
LongNatural = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Two = Annotated[list[Int32], Meta(min_length=2, max_length=2)]
Five = Annotated[list[Int32], Meta(min_length=5, max_length=5)]
VariableValue = Annotated[int | bool, Meta(extra={"is": "value"})]

encode = msgspec.json.Encoder().encode


# --- what comes in -------------------------------------------------------------------------------------------------


class LegacyPage(Struct):
    page: Natural = 0
    count: Positive = 5


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
    username: str
    password: Sent
    email: str


class ValidatePassword(Struct):
    password: Sent


class ChangeEmail(Struct):
    new: str
    authorization: Sent


class ChangePassword(Struct):
    new: Sent
    authorization: Sent


class ManageEmail(Struct):
    new: str


class ManagePassword(Struct):
    new: Sent


class RedeemCode(Struct):
    code: Secret
    new: Sent


class LogIn(Struct):
    grant_type: str = ""
    username: str = ""
    password: Secret = ""
    refresh_token: Secret = ""
    scope: str = ""


class ItemEntry(Struct):
    Id: Guid
    Name: Text
    Stackable: bool
    MaxStack: Positive | None = None
    BagSlots: Annotated[int, Meta(ge=0, le=1000)] = 0
    Icon: Text | None = None


class NamedEntry(Struct):
    Id: Guid
    Name: Text


class VariableEntry(Struct):
    Id: Guid
    Name: Text
    Type: Literal["Integer", "Boolean"]


class Lease(Struct):
    Lease: Annotated[int, Meta(ge=1, le=3600)]


class Players(Struct):
    Players: Annotated[list[Guid], Meta(max_length=10_000)]


# --- what comes in and goes out ------------------------------------------------------------------------------------


class ItemSlot(Struct):
    Slot: Natural
    BagId: Guid | None = None
    ItemId: Guid = ZERO
    Quantity: Natural = 0
    StatBuffs: Five = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


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
    Name: Text | UnsetType = UNSET
    InBank: bool | UnsetType = UNSET
    UserId: Guid | UnsetType = UNSET
    MaxVitals: Two | UnsetType = UNSET
    Level: Positive | UnsetType = UNSET
    Exp: LongNatural | UnsetType = UNSET
    ExperienceToNextLevel: Long | UnsetType = UNSET
    ClassId: Guid | UnsetType = UNSET
    Gender: Annotated[int, Meta(ge=0, le=1)] | UnsetType = UNSET
    Vitals: Two | UnsetType = UNSET
    BaseStats: Five | UnsetType = UNSET
    StatPointAllocations: Five | UnsetType = UNSET
    StatPoints: Int32 | UnsetType = UNSET
    Equipment: Five | UnsetType = UNSET
    MapId: Guid | UnsetType = UNSET
    X: Int32 | UnsetType = UNSET
    Y: Int32 | UnsetType = UNSET
    Z: Int32 | UnsetType = UNSET
    Dir: Int32 | UnsetType = UNSET
    Sprite: Text | UnsetType = UNSET
    Face: Text | UnsetType = UNSET
    Dead: bool | UnsetType = UNSET
    LastOnline: Instant | UnsetType | None = UNSET
    CreationDate: Instant | UnsetType = UNSET
    PlayTimeSeconds: LongNatural | UnsetType = UNSET
    Items: list[ItemSlot] | UnsetType = UNSET
    Bank: list[ItemSlot] | UnsetType = UNSET
    Bags: list[Bag] | UnsetType = UNSET
    Spells: list[KnownSpell] | UnsetType = UNSET
    Variables: list[Variable] | UnsetType = UNSET


# --- what goes out -------------------------------------------------------------------------------------------------


class Error(Struct):
    Message: str
    Code: str
    RequestId: str


class PlayerDocument(Struct):
    """The stored part of a player record; ClassName, MapName, Online and LastOnline follow as its tail."""

    Name: str
    InBank: bool
    UserId: str
    MaxVitals: list[int]
    Id: str
    Level: int
    Exp: int
    ExperienceToNextLevel: int
    ClassId: str
    Gender: int
    Vitals: list[int]
    BaseStats: list[int]
    StatPointAllocations: list[int]
    StatPoints: int
    Equipment: list[int]
    MapId: str
    X: int
    Y: int
    Z: int
    Dir: int
    Sprite: str
    Face: str
    Dead: bool
    CreationDate: str
    PlayTimeSeconds: int


class Value(Struct):
    value: int | bool


class OnlineCount(Struct):
    onlineCount: int  # noqa: N815 - the wire's spelling


class Items(Struct):
    inventory: list[ItemSlot]
    bank: list[ItemSlot]


class Quantity(Struct):
    total: int
    bank: int
    inventory: int


class Given(Struct):
    id: str
    quantity: Quantity


class Taken(Struct):
    ItemId: str
    Quantity: int


class SpellId(Struct):
    SpellId: str


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


class UserRecord(Struct):
    Id: str
    Name: str
    Email: str
    Power: Power | ChangedPower
    PasswordResetCode: str | None
    IsMuted: bool
    MuteReason: str | None


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
    ExpiresAt: str
    Online: int


class Online(Struct):
    Online: int


class Health(Struct):
    Status: str


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
    "editor": "Editor",
    "ban": "Ban",
    "kick": "Kick",
    "mute": "Mute",
    "api": "Api",
    "users_query": "UsersQuery",
    "users_manage": "UsersManage",
    "game_link": "GameLink",
}
TIMES = frozenset({"CreationDate", "LastOnline"})
ENTRIES: Mapping[str, type[ItemEntry | NamedEntry | VariableEntry]] = {
    "items": ItemEntry,
    "spells": NamedEntry,
    "variables": VariableEntry,
    "classes": NamedEntry,
    "maps": NamedEntry,
}


# --- lists ---------------------------------------------------------------------------------------------------------


def paged(total: int, page: int, size: int, records: Sequence[bytes]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(records))
    return head + b",".join(records) + b"]}"


def legacy(total: int, page: int, records: Sequence[bytes]) -> bytes:
    head = b'{"total":%d,"Page":%d,"count":%d,"entries":[' % (total, page, len(records))
    return head + b",".join(records) + b"]}"


def array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"


def player_tail(class_name: str, map_name: str, last_online: str | None, *, online: bool) -> bytes:
    return b',"ClassName":%b,"MapName":%b,"Online":%b,"LastOnline":%b}' % (
        encode(class_name),
        encode(map_name),
        b"true" if online else b"false",
        encode(last_online),
    )


def log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})
