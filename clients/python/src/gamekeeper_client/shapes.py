"""What goes over the wire, in Python's spelling: MaxVitals is `max_vitals`. A test compares each with the server's."""

from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

R = TypeVar("R")
ZERO = "00000000-0000-0000-0000-000000000000"  # the ItemId of an empty slot

Kind = Literal["items", "spells", "variables", "classes", "maps"]


# --- what comes back -----------------------------------------------------------------------------------------------


class Page(Struct, Generic[R], rename="pascal"):
    total: int
    page: int
    page_size: int
    count: int
    values: list[R]


class LegacyPage(Struct, Generic[R], rename={"page": "Page"}):
    total: int
    page: int
    count: int
    entries: list[R]


class Player(Struct, rename="pascal"):
    name: str
    in_bank: bool
    user_id: str
    max_vitals: list[int]
    id: str
    level: int
    exp: int
    experience_to_next_level: int
    class_id: str
    gender: int
    vitals: list[int]
    base_stats: list[int]
    stat_point_allocations: list[int]
    stat_points: int
    equipment: list[int]
    map_id: str
    x: int
    y: int
    z: int
    dir: int
    sprite: str
    face: str
    dead: bool
    creation_date: str
    play_time_seconds: int
    class_name: str
    map_name: str
    online: bool
    last_online: str | None


class RankedPlayer(Player, rename="pascal"):
    rank: int


class Rank(Struct, rename="pascal"):
    rank: int
    of: int
    player: Player
    around: list[RankedPlayer]


class ItemSlot(Struct, rename="pascal"):
    slot: int
    bag_id: str | None = None
    item_id: str = ZERO
    quantity: int = 0
    stat_buffs: list[int] = msgspec.field(default_factory=lambda: [0, 0, 0, 0, 0])


class NamedSlot(ItemSlot, rename="pascal"):
    item_name: str = "ERR_DELETED"  # of an empty slot, and of an item that the catalogue does not have


class Items(Struct):
    inventory: list[NamedSlot]
    bank: list[NamedSlot]


class Bag(Struct, rename="pascal"):
    id: str
    slot_count: int
    slots: list[ItemSlot]


class NamedBag(Struct, rename="pascal"):
    id: str
    slot_count: int
    slots: list[NamedSlot]


class Variable(Struct, rename="pascal"):
    variable_id: str
    value: int | bool


class KnownSpell(Struct, rename="pascal"):
    slot: int
    spell_id: str


class Quantity(Struct):
    total: int
    bank: int
    inventory: int


class Given(Struct):
    """What the player has of the item now."""

    id: str
    quantity: Quantity


class Taken(Struct, rename="pascal"):
    item_id: str
    quantity: int


class SpellId(Struct, rename="pascal"):
    spell_id: str


class Power(Struct, rename="pascal"):
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    personal_information: bool


class ChangedPower(Struct, rename="pascal"):
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    api_personal_information: bool
    api_user_management: bool


class User(Struct, Generic[R], rename="pascal"):
    """Lists and look-ups have `User[Power]`, the two changes of an email `User[ChangedPower]`, as the API has it."""

    id: str
    name: str
    email: str
    power: R
    password_reset_code: str | None
    is_muted: bool
    mute_reason: str | None
    is_banned: bool
    registration_date: str
    play_time_seconds: int


class HeldPowers(Struct, rename="pascal"):
    """All that an account may do."""

    id: str
    name: str
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    users_query: bool
    users_manage: bool
    game_link: bool


class Registered(Struct, rename="pascal"):
    username: str
    email: str


class Message(Struct, rename="pascal"):
    message: str
    warning: str | None = None


class Token(Struct, rename={"issued": ".issued", "expires": ".expires"}):
    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str | None
    issued: str
    expires: str


class Revoked(Struct, rename="camel"):
    username: str
    token_id: str | None = None


class ServerState(Struct, rename="pascal"):
    server: str
    expires_at: str
    online: int


class Change(Struct, rename="pascal"):
    """A row of the change feed; `before` and `after` are JSON in the records' own spelling."""

    seq: int
    at: str
    kind: str
    player_id: str
    before: Any
    after: Any
    by: str | None
    request_id: str


class Changes(Struct, rename="pascal"):
    changes: list[Change]
    next: int
    epoch: str


class Health(Struct, rename="pascal"):
    status: str


class Versions(Struct):
    versions: list[str]


class Info(Struct):
    name: str
    port: int


class Authorized(Struct):
    authorized: bool


class ServerStats(Struct, rename="camel"):
    uptime: int
    cps: int
    connected_clients: int
    online_count: int


class PlayerConfig(Struct, rename="pascal"):
    max_characters: int
    max_inventory: int
    max_bank: int
    max_spells: int
    max_level: int
    max_stat: int
    initial_bankslots: int


class Config(Struct, rename="pascal"):
    game_name: str
    server_port: int
    player: PlayerConfig


class ItemObject(Struct, rename="pascal"):
    id: str
    name: str
    icon: str | None
    stackable: bool
    max_inventory_stack: int
    max_bank_stack: int
    slot_count: int


class VariableObject(Struct, rename="pascal"):
    """The type is 1 for a boolean and 2 for an integer."""

    id: str
    name: str
    type: Literal[1, 2]


class Keyed(Struct, Generic[R], rename="pascal"):
    key: str
    value: R


class OnlineCount(Struct, rename="camel"):
    online_count: int


class Value(Struct):
    value: int | bool


class Count(Struct, rename="pascal"):
    count: int


class Online(Struct, rename="pascal"):
    online: int


class Error(Struct, rename="pascal"):
    message: str
    code: str = ""
    request_id: str = ""
    changes: list[Change] = []  # with unapplied_changes


# --- what is sent --------------------------------------------------------------------------------------------------


class ItemEntry(Struct, rename="pascal"):
    id: str
    name: str
    stackable: bool
    max_stack: int | None = None
    bag_slots: int = 0
    icon: str | None = None


class NamedEntry(Struct, rename="pascal"):
    """A spell, a class or a map."""

    id: str
    name: str


class VariableEntry(Struct, rename="pascal"):
    id: str
    name: str
    type: Literal["Integer", "Boolean"]


class PutPlayer(Struct, rename="pascal"):
    """The fields a game reports of a character; what is left unset stays as it is."""

    name: str | UnsetType = UNSET
    in_bank: bool | UnsetType = UNSET
    user_id: str | UnsetType = UNSET
    max_vitals: list[int] | UnsetType = UNSET
    level: int | UnsetType = UNSET
    exp: int | UnsetType = UNSET
    experience_to_next_level: int | UnsetType = UNSET
    class_id: str | UnsetType = UNSET
    gender: int | UnsetType = UNSET
    vitals: list[int] | UnsetType = UNSET
    base_stats: list[int] | UnsetType = UNSET
    stat_point_allocations: list[int] | UnsetType = UNSET
    stat_points: int | UnsetType = UNSET
    equipment: list[int] | UnsetType = UNSET
    map_id: str | UnsetType = UNSET
    x: int | UnsetType = UNSET
    y: int | UnsetType = UNSET
    z: int | UnsetType = UNSET
    dir: int | UnsetType = UNSET
    sprite: str | UnsetType = UNSET
    face: str | UnsetType = UNSET
    dead: bool | UnsetType = UNSET
    last_online: str | UnsetType | None = UNSET
    creation_date: str | UnsetType = UNSET
    play_time_seconds: int | UnsetType = UNSET
    items: list[ItemSlot] | UnsetType = UNSET
    bank: list[ItemSlot] | UnsetType = UNSET
    bags: list[Bag] | UnsetType = UNSET
    spells: list[KnownSpell] | UnsetType = UNSET
    variables: list[Variable] | UnsetType = UNSET
    applied_seq: int | UnsetType = UNSET


class Lease(Struct, rename="pascal"):
    lease: int


class Players(Struct, rename="pascal"):
    players: list[str]
