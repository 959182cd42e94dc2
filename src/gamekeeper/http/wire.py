"""Every JSON shape, attributes spelt exactly as on the wire, and the way from the rules' values to them and back."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.game.inventory import BANK, INVENTORY, Counts, Slots, Spot, Stack
from gamekeeper.game.link import Report
from gamekeeper.game.lookup import ZERO
from gamekeeper.game.players import Player
from gamekeeper.game.spelling import Trace
from gamekeeper.game.tokens import Pair
from gamekeeper.store import catalogue
from gamekeeper.store.players import Record
from gamekeeper.store.users import User

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


class Nothing(Struct):
    pass


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


# --- players -------------------------------------------------------------------------------------------------------

_ATTRIBUTES = {
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
_FIELDS = {attribute: name for name, attribute in _ATTRIBUTES.items()}
_document = msgspec.json.Decoder(PlayerDocument)


def instant(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(microsecond=milliseconds % 1000 * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(text: str) -> int:
    moment = datetime.fromisoformat(text)
    whole = moment.replace(microsecond=0).timestamp()
    return round(whole) * 1000 + moment.microsecond // 1000


def player_document(player: Player) -> bytes:
    return encode(PlayerDocument(**{name: _spelt(player, name) for name in PlayerDocument.__struct_fields__}))


def read_player(document: bytes, last_online: int | None) -> Player:
    record = _document.decode(document)
    given = {_ATTRIBUTES[name]: _read(name, getattr(record, name)) for name in PlayerDocument.__struct_fields__}
    return Player(**cast("dict[str, Any]", given), last_online=last_online)


def player_record(record: Record) -> bytes:
    last = b'"' + instant(record.last_online).encode() + b'"' if record.last_online is not None else b"null"
    tail = b',"ClassName":%b,"MapName":%b,"Online":%b,"LastOnline":%b}' % (
        encode(record.class_name),
        encode(record.map_name),
        b"true" if record.online else b"false",
        last,
    )
    return record.document[:-1] + tail


def name_of(record: Record) -> str:
    return _document.decode(record.document).Name


def report(body: PutPlayer) -> Report:
    """What the game gave, in the rules' words."""
    given = {
        attribute: _read(name, getattr(body, name))
        for name, attribute in _ATTRIBUTES.items()
        if name != "Id" and getattr(body, name) is not UNSET
    }
    slots = _spots(INVENTORY, body.Items or []) | _spots(BANK, body.Bank or [])
    for bag in body.Bags or []:
        slots |= _spots(bag.Id, bag.Slots)
    return Report(
        fields=given,
        slots=slots,
        bags={bag.Id: bag.SlotCount for bag in body.Bags or []},
        spells={each.Slot: None if each.SpellId == ZERO else each.SpellId for each in body.Spells or []},
        variables={each.VariableId: each.Value for each in body.Variables or []},
    )


def _spots(place: str, slots: Sequence[ItemSlot]) -> dict[Spot, Stack | None]:
    return {
        (place, each.Slot): Stack(each.ItemId, each.Quantity, each.BagId, tuple(each.StatBuffs))
        if each.ItemId != ZERO and each.Quantity
        else None
        for each in slots
    }


def _spelt(player: Player, name: str) -> Any:  # noqa: ANN401 - the fields of a record have many types
    value = getattr(player, _ATTRIBUTES[name])
    return instant(value) if name == "CreationDate" else value


def _read(name: str, value: object) -> object:
    if name in {"CreationDate", "LastOnline"} and isinstance(value, str):
        return milliseconds(value)
    return tuple(cast("list[int]", value)) if isinstance(value, list) else value


# --- lists ---------------------------------------------------------------------------------------------------------


def paged(total: int, page: int, size: int, records: Sequence[bytes]) -> bytes:
    head = b'{"Total":%d,"Page":%d,"PageSize":%d,"Count":%d,"Values":[' % (total, page, size, len(records))
    return head + b",".join(records) + b"]}"


def legacy(total: int, page: int, records: Sequence[bytes]) -> bytes:
    head = b'{"total":%d,"Page":%d,"count":%d,"entries":[' % (total, page, len(records))
    return head + b",".join(records) + b"]}"


def array(records: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(records) + b"]"


# --- items ---------------------------------------------------------------------------------------------------------


def item_slot(slot: int, stack: Stack | None) -> ItemSlot:
    if stack is None:
        return ItemSlot(Slot=slot)
    return ItemSlot(slot, stack.bag_id, stack.item_id, stack.quantity, list(stack.buffs))


def item_slots(slots: Slots, place: str, size: int) -> list[ItemSlot]:
    """Every slot, the empty ones too; one beyond the size is shown as long as it holds something."""
    last = max((slot for where, slot in slots if where == place), default=-1)
    return [item_slot(slot, slots.get((place, slot))) for slot in range(max(size, last + 1))]


def given(item_id: str, held: Counts) -> bytes:
    return encode(Given(item_id, Quantity(held.inventory + held.bank, held.bank, held.inventory)))


# --- users ---------------------------------------------------------------------------------------------------------


def user_record(user: User, *, codes: bool) -> bytes:
    powers = user.powers
    power = Power(powers.editor, powers.ban, powers.kick, powers.mute, powers.api, powers.users_query)
    return _user(user, power, codes=codes)


def changed_user_record(user: User, *, codes: bool) -> bytes:
    powers = user.powers
    flags = (powers.editor, powers.ban, powers.kick, powers.mute, powers.api)
    return _user(user, ChangedPower(*flags, powers.users_query, powers.users_manage), codes=codes)


def _user(user: User, power: Power | ChangedPower, *, codes: bool) -> bytes:
    record = UserRecord(
        Id=user.id,
        Name=user.name,
        Email=user.email,
        Power=power,
        PasswordResetCode=user.reset_code if codes else None,
        IsMuted=user.mute_reason is not None,
        MuteReason=user.mute_reason,
    )
    return encode(record)


# --- tokens --------------------------------------------------------------------------------------------------------


def token(pair: Pair) -> bytes:
    answer = Token(
        access_token=pair.access,
        token_type="bearer",  # noqa: S106 - the scheme's name
        expires_in=(pair.expires_at - pair.issued_at) // 1000,
        refresh_token=pair.refresh,
        issued=_http_date(pair.issued_at),
        expires=_http_date(pair.expires_at),
    )
    return encode(answer)


def log_in_error(code: str, error: Error) -> bytes:
    return encode({"error": code, **msgspec.structs.asdict(error)})


def _http_date(milliseconds: int) -> str:
    return format_datetime(datetime.fromtimestamp(milliseconds // 1000, UTC), usegmt=True)


# --- the catalogue -------------------------------------------------------------------------------------------------

ENTRIES: Mapping[str, type[ItemEntry | NamedEntry | VariableEntry]] = {
    "items": ItemEntry,
    "spells": NamedEntry,
    "variables": VariableEntry,
    "classes": NamedEntry,
    "maps": NamedEntry,
}


def entry(value: catalogue.Entry) -> ItemEntry | NamedEntry | VariableEntry:
    match value:
        case catalogue.Item():
            return ItemEntry(*value)
        case catalogue.Variable(id=each, name=name, type=kind):
            return VariableEntry(each, name, "Boolean" if kind == "Boolean" else "Integer")
        case catalogue.Named():
            return NamedEntry(*value)


def read_entry(value: ItemEntry | NamedEntry | VariableEntry) -> catalogue.Entry:
    match value:
        case ItemEntry():
            return catalogue.Item(value.Id, value.Name, value.Stackable, value.MaxStack, value.BagSlots, value.Icon)
        case VariableEntry():
            return catalogue.Variable(value.Id, value.Name, value.Type)
        case NamedEntry():
            return catalogue.Named(value.Id, value.Name)


# --- the ledger ----------------------------------------------------------------------------------------------------

_USER_FIELDS = {
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


def trace(side: Trace) -> str:
    """One side of a ledger row, in the words of the records."""
    spelt: dict[str, object] = {_FIELDS[name]: _traced(name, value) for name, value in side.player.items()}
    spelt |= {_USER_FIELDS[name]: value for name, value in side.user.items()}
    for name, place in (("Items", INVENTORY), ("Bank", BANK)):
        if slots := _slots_in(side, place):
            spelt[name] = slots
    if bags := _bags(side):
        spelt["Bags"] = bags
    if side.spells:
        spelt["Spells"] = [{"Slot": slot, "SpellId": spell or ZERO} for slot, spell in side.spells.items()]
    if side.variables:
        spelt["Variables"] = [{"VariableId": each, "Value": value} for each, value in side.variables.items()]
    spelt |= {name.title(): _entries(value) for name, value in side.catalogue.items()}
    if side.sums:
        spelt["Sums"] = [{"ItemId": item, "Quantity": quantity} for item, quantity in side.sums.items()]
    return encode(spelt).decode()


def _traced(attribute: str, value: object) -> object:
    return instant(value) if attribute in {"created_at", "last_online"} and isinstance(value, int) else value


def _slots_in(side: Trace, place: str) -> list[ItemSlot]:
    return [item_slot(slot, stack) for (where, slot), stack in sorted(side.slots.items()) if where == place]


def _bags(side: Trace) -> list[dict[str, object]]:
    places = {place for place, _ in side.slots} - {INVENTORY, BANK}
    return [
        {"Id": each, "SlotCount": side.bags.get(each), "Slots": _slots_in(side, each)}
        for each in sorted(places | side.bags.keys())
    ]


def _entries(value: object) -> object:
    if isinstance(value, list):
        return [entry(each) for each in cast("list[catalogue.Entry]", value)]
    return value
