"""JSON shapes of the catalogue's entries, as a game server reports them and as the engine lists them, and of guilds."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal

import msgspec
from msgspec import Meta, Struct

from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.world import catalogue
from gamekeeper.http.contract.path_parameters import PathParameter
from gamekeeper.http.contract.shapes import (
    PRINTABLE,
    EngineQuery,
    EngineTime,
    GameText,
    Guid,
    Instant,
    LenientDirection,
    Long,
    Natural,
    PlainDouble,
    PlainInt32,
    Positive,
    R,
    describe,
    encode,
)
from gamekeeper.http.players.variable_shapes import AnyValue, AnyVariable, GuildVariableObject, ServerVariable, TypeName
from gamekeeper.http.server.query_values import make_lenient_choice_reader
from gamekeeper.store.world.catalogue import (
    OBJECT_TYPES,
    CatalogueGuildVariable,
    CatalogueItem,
    CatalogueServerVariable,
    CatalogueVariable,
)
from gamekeeper.store.world.catalogue import NamedEntry as StoredEntry


class KeptEntry(Struct):
    """The base of entries. Their further fields are kept, such as fields of the engine's objects."""

    # fields of the engine's objects that are spelt like a field of ours: in lower case
    FURTHER: ClassVar[frozenset[str] | None] = frozenset({"maxinventorystack", "maxbankstack"})
    SENT_TOO: ClassVar = True


class ItemEntry(KeptEntry):
    Id: Guid
    Name: GameText
    Stackable: bool
    MaxStack: Positive | None = None
    BagSlots: Annotated[int, Meta(ge=0, le=1000)] = 0
    Icon: GameText | None = None


class NamedEntry(KeptEntry):
    Id: Guid
    Name: GameText


class VariableEntry(KeptEntry):
    Id: Guid
    Name: GameText
    Type: TypeName


class GuildVariableEntry(KeptEntry):
    """A variable that guilds can have. It has no further fields."""

    FURTHER: ClassVar[frozenset[str] | None] = None

    Id: Guid
    Name: GameText
    Type: TypeName
    TextId: GameText = ""
    Folder: GameText = ""
    TimeCreated: Long = 0


class ServerVariableEntry(GuildVariableEntry):
    """A variable of the server. `Value` is taken only if the variable was never set."""

    Value: AnyValue = None


class TimeEntry(KeptEntry):
    """The game's settings of day and night: the only entry of its kind, so it needs no id. All fields are details."""

    Id: Guid = ZERO_GUID
    Name: GameText = ""


class ItemObject(Struct):
    Id: Guid
    Name: str
    Icon: str | None
    Stackable: bool
    MaxInventoryStack: PlainInt32
    MaxBankStack: PlainInt32
    SlotCount: PlainInt32  # number of slots of a bag item; 0: the item is no bag


class VariableObject(Struct):
    """A variable of the catalogue; `Type` is 1 for a boolean, 2 for an integer, 3 for a text, 4 for a decimal."""

    Id: Guid
    Name: str
    Type: Literal[1, 2, 3, 4]


class Hue(Struct):
    """A colour over the game's screen. Each value is 0 to 255."""

    A: PlainInt32
    R: PlainInt32
    G: PlainInt32
    B: PlainInt32


class TimeSettings(Struct):
    """Day and night of the game, as the engine lists them: one hue for each range of minutes of a day."""

    DaylightHues: list[Hue]
    Id: Guid
    RangeInterval: PlainInt32  # minutes
    Rate: PlainDouble
    SyncTime: bool


class Keyed(Struct, Generic[R]):
    """A pair of id and record, as in the engine's lists. `encode_keyed` encodes it."""

    Key: Guid
    Value: R


Entry = ItemEntry | NamedEntry | VariableEntry | ServerVariableEntry | GuildVariableEntry | TimeEntry
GameObject = ItemObject | VariableObject | ServerVariable | GuildVariableObject | NamedEntry
ENTRIES: Mapping[str, type[Entry]] = {
    "items": ItemEntry,
    "spells": NamedEntry,
    "variables": VariableEntry,
    "servervariables": ServerVariableEntry,
    "guildvariables": GuildVariableEntry,
    "classes": NamedEntry,
    "maps": NamedEntry,
    **dict.fromkeys(OBJECT_TYPES, NamedEntry),
    "time": TimeEntry,
}
# stored entry → the shape with its fields but the details; the value of a variable of the server is stored as JSON
SHAPES: Mapping[type[Any], type[Any]] = {
    CatalogueItem: ItemEntry,
    CatalogueVariable: VariableEntry,
    CatalogueServerVariable: ServerVariableEntry,
    CatalogueGuildVariable: GuildVariableEntry,
    StoredEntry: NamedEntry,
}
OBJECTS: Mapping[str, str] = {  # object type of the engine → kind in the catalogue
    "item": "items",
    "spell": "spells",
    "class": "classes",
    "map": "maps",
    "playervariable": "variables",
    **{object_type: kind for kind, object_type in OBJECT_TYPES.items() if kind != "time"},
    "servervariable": "servervariables",
    "guildvariable": "guildvariables",
}


def read_kind(text: str, _: str) -> str:
    catalogue.require_kind(text)
    return text


def read_object_type(text: str, _: str) -> str:
    """Read an object type of the engine, in any letter case; return it in lower case."""
    if text.lower() not in OBJECTS:
        raise no.NoSuchObjectType(type=text)
    return text.lower()


PathParameter(
    "kind",
    "The kind of catalogue entries.",
    "items",
    no.NoSuchKind,
    {"type": "string", "enum": sorted(ENTRIES)},
    read_kind,
    "kind",
)
PathParameter(
    "type",
    "An object type of the Intersect engine, in any letter case.",
    "item",
    no.NoSuchObjectType,
    {"type": "string", "enum": sorted(OBJECTS)},
    read_object_type,
    "object_type",
)
_WHITE = Hue(255, 255, 255, 255)
DEFAULT_TIME = TimeSettings(
    [_WHITE, _WHITE], ZERO_GUID, 720, 1.0, SyncTime=True
)  # as a new server of the engine has it
_details_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def encode_keyed(key: str, record: bytes) -> bytes:
    return b'{"Key":%b,"Value":%b}' % (encode(key), record)


def encode_with_details(record: Entry | GameObject, details: str | None) -> bytes:
    """Encode an entry or object, followed by the details. A field of the record wins over one in the details."""
    own = encode(record)
    if details is None:
        return own
    names = {name.lower() for name in record.__struct_fields__}
    rest = {name: value for name, value in _details_decoder.decode(details).items() if name.lower() not in names}
    return own[:-1] + b"," + encode(rest)[1:] if rest else own


def encode_time(details: str | None) -> bytes:
    """Encode what the game published of its day and night, with defaults for the rest."""
    published = _details_decoder.decode(details) if details else {}
    spelt = {name.lower(): name for name in TimeSettings.__struct_fields__}
    known = {spelt.get(name.lower(), name): value for name, value in published.items()}
    return encode({**msgspec.structs.asdict(DEFAULT_TIME), **known})


MAX_MEMBERS, MAX_VARIABLES = 1000, 100  # members and variables of a reported guild

GuildSearch = Annotated[
    str,
    Meta(description="A part of the name; ignored if shorter than 3 characters.", extra_json_schema=PRINTABLE),
]
GuildSort = Annotated[
    Literal["name", "members", "foundingdate"],
    Meta(
        description="Sort by; any other text is `name`.",
        extra={"read": make_lenient_choice_reader(("name", "members", "foundingdate"))},
    ),
]
MemberSort = Annotated[
    Literal["name", "level", "creationdate", "playtime", "guildrank"],
    Meta(
        description="Sort by; any other text is `name`.",
        extra={"read": make_lenient_choice_reader(("name", "level", "creationdate", "playtime", "guildrank"))},
    ),
]


class GuildsQuery(EngineQuery, frozen=True):
    search: GuildSearch = ""
    sortBy: GuildSort = "name"  # noqa: N815 - the wire's spelling
    sortDirection: LenientDirection = "Ascending"  # noqa: N815 - as above


class MembersQuery(EngineQuery, frozen=True):
    search: GuildSearch = ""
    sortBy: MemberSort = "name"  # noqa: N815 - the wire's spelling
    sortDirection: LenientDirection = "Ascending"  # noqa: N815 - as above


class Guild(Struct):
    """A guild. `GuildInstanceId` is all zeros if the game told none."""

    Id: Guid
    Name: str
    FoundingDate: EngineTime
    BankSlotsCount: PlainInt32
    GuildInstanceId: Guid


class CountedGuild(Struct):
    """A guild with the number of its members, in the engine's format."""

    Key: Guild
    Value: PlainInt32


class ReportedMember(Struct):
    """A member of a reported guild."""

    PlayerId: Guid
    Rank: Annotated[Natural, describe("0 is the owner.")]
    JoinedAt: Instant | None = None


class PutGuild(Struct):
    Name: Annotated[
        str, Meta(min_length=1, max_length=255, extra_json_schema=PRINTABLE), describe("Name of the guild.")
    ]
    FoundingDate: Annotated[Instant, describe("When it was founded.")]
    Members: Annotated[
        list[ReportedMember],
        Meta(max_length=MAX_MEMBERS, description="All members: others leave the guild."),
    ]
    BankSlotsCount: Annotated[Natural, describe("Slots of its bank.")] = 0
    InstanceId: Annotated[Guid, describe("Its own map instance.")] | None = None
    Variables: Annotated[
        list[AnyVariable], Meta(max_length=MAX_VARIABLES, description="Values that differ; others stay as they are.")
    ] = []


class ChangedMember(Struct):
    PlayerId: Guid
    Rank: PlainInt32
    JoinedAt: Instant | None


class GuildSide(Struct):
    """A guild in the audit log. Of its members only those who joined, left or changed; in a deletion all of them."""

    GuildId: Guid
    Name: str
    FoundingDate: Instant
    BankSlotsCount: PlainInt32
    InstanceId: Guid | None
    Members: list[ChangedMember]
