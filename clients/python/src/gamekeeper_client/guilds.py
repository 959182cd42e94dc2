"""Guilds of the game and their members."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import Direction, EnginePage, LegacyPage, build_page_query, iterate_pages
from gamekeeper_client.players import Player

GuildSort = Literal["name", "members", "foundingdate"]
MemberSort = Literal["name", "level", "creationdate", "playtime", "guildrank"]


class Guild(Struct, rename="pascal"):
    """A guild. `guild_instance_id` is all zeros if the game told none."""

    id: str
    name: str
    founding_date: str
    bank_slots_count: int
    guild_instance_id: str


class CountedGuild(Struct, rename="pascal"):
    """A guild (`key`) with the number of its members (`value`)."""

    key: Guild
    value: int


class ReportedMember(Struct, rename="pascal"):
    """A member of a reported guild. Rank 0 is the owner."""

    player_id: str
    rank: int
    joined_at: str | None = None


class AnyVariable(Struct, rename="pascal"):
    """The value of a variable of a reported guild."""

    variable_id: str
    value: Any  # text, a number or a boolean


class Guilds:
    @operation("GET", "/api/v1/guilds")
    def list_guilds(
        self,
        page: int = 0,
        *,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: GuildSort | None = None,
        sort_direction: Direction | None = None,
    ) -> Payload[EnginePage[CountedGuild]]:
        """List one page of guilds, with the number of their members.

        search: part of the name, from three characters on.
        Returns the page, with the total number of guilds.
        Raises BadField, TooManyLongReads, PermissionMissing.
        """
        return Payload(
            EnginePage[CountedGuild], query=build_page_query(page, page_size, search, sort_by, sort_direction)
        )

    iterate_guilds = iterate_pages(list_guilds, "Iterate over guilds.")

    @operation("POST", "/api/v1/guilds")
    def list_guilds_legacy(self, page: int = 0, count: int = 5) -> Payload[LegacyPage[CountedGuild]]:
        """List one page of guilds by name, in the legacy format.

        count: records per page.
        Returns the page, with the total number of guilds.
        Raises BadField, PermissionMissing.
        """
        return Payload(LegacyPage[CountedGuild], body={"page": page, "count": count})

    @operation("GET", "/api/v1/guilds/{guild_id}")
    def get_guild(self, guild_id: str) -> Payload[Guild]:
        """Get a guild.

        guild_id: id of the guild.
        Returns the guild.
        Raises NoSuchGuild, PermissionMissing.
        """
        return Payload(Guild)

    @operation("GET", "/api/v1/guilds/{guild_id}/members")
    def list_guild_members(
        self,
        guild_id: str,
        page: int = 0,
        *,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: MemberSort | None = None,
        sort_direction: Direction | None = None,
    ) -> Payload[EnginePage[Player]]:
        """List one page of the members of a guild. An unknown guild has none.

        guild_id: id of the guild.
        search: part of the name, from three characters on.
        Returns the page, with the total number of members.
        Raises BadField, PermissionMissing.
        """
        return Payload(EnginePage[Player], query=build_page_query(page, page_size, search, sort_by, sort_direction))

    iterate_guild_members = iterate_pages(list_guild_members, "Iterate over the members of a guild.")

    @operation("PUT", "/api/link/v1/guilds/{guild_id}")
    def put_guild(
        self,
        guild_id: str,
        name: str,
        founding_date: str,
        members: Sequence[ReportedMember],
        bank_slots_count: int = 0,
        instance_id: str | None = None,
        variables: Sequence[AnyVariable] = (),
        **options: Unpack[WriteOptions],
    ) -> Payload[CountedGuild]:
        """Report a guild as it is. Members who are not in the list leave it.

        guild_id: id of the guild, chosen by the game.
        name: name of the guild.
        founding_date: when it was founded.
        members: all members, at most 1000. One bad member refuses the report.
        bank_slots_count: slots of its bank.
        instance_id: its own map instance.
        variables: values of its variables that the game changed, at most 100; others stay as they are.
        Returns the guild with the number of its members.
        Raises WrongValueType, MissingField, BadField, UnknownField, RoleMissing.
        """
        body = {
            "Name": name,
            "FoundingDate": founding_date,
            "Members": list(members),
            "BankSlotsCount": bank_slots_count,
            "InstanceId": instance_id,
            "Variables": list(variables),
        }
        return Payload(CountedGuild, body=body)

    @operation("DELETE", "/api/link/v1/guilds/{guild_id}")
    def delete_guild(self, guild_id: str, **options: Unpack[WriteOptions]) -> Payload[CountedGuild]:
        """Report that a guild has ended.

        guild_id: id of the guild.
        Returns the guild as it was.
        Raises NoSuchGuild, RoleMissing.
        """
        return Payload(CountedGuild)
