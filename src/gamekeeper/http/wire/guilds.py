"""JSON shapes of guilds, in the engine's format."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from gamekeeper.http.query_values import make_lenient_choice_reader
from gamekeeper.http.wire.lists import EngineQuery, LenientDirection
from gamekeeper.http.wire.scalars import PRINTABLE, EngineTime, Guid, Instant, Natural, PlainInt32
from gamekeeper.http.wire.variables import AnyVariable

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
    Id: Guid
    Name: str
    FoundingDate: EngineTime
    BankSlotsCount: PlainInt32
    GuildInstanceId: Guid  # all zeros if the game told none


class CountedGuild(Struct):
    """A guild with the number of its members, in the engine's format."""

    Key: Guild
    Value: PlainInt32


class ReportedMember(Struct):
    PlayerId: Guid
    Rank: Annotated[Natural, Meta(description="0 is the owner.")]
    JoinedAt: Instant | None = None


class PutGuild(Struct):
    Name: Annotated[str, Meta(min_length=1, max_length=255, extra_json_schema=PRINTABLE)]
    FoundingDate: Instant
    Members: Annotated[
        list[ReportedMember],
        Meta(max_length=MAX_MEMBERS, description="All members: others leave the guild."),
    ]
    BankSlotsCount: Natural = 0
    InstanceId: Guid | None = None
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
