"""Convert guilds between values of the rules and JSON shapes."""

from gamekeeper.game.codec import GuildState
from gamekeeper.game.guild_reports import GuildReport
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http import wire
from gamekeeper.http.instants import format_engine_time, format_instant, parse_instant
from gamekeeper.store.guilds import Guild, GuildMember


def make_guild(guild: Guild) -> wire.guilds.Guild:
    founded = format_engine_time(guild.founded_at)
    return wire.guilds.Guild(guild.id, guild.name, founded, guild.bank_slots, guild.instance_id or ZERO_GUID)


def encode_counted(guild: Guild) -> bytes:
    return wire.encode(wire.guilds.CountedGuild(make_guild(guild), guild.members))


def read_report(guild_id: str, body: wire.guilds.PutGuild) -> GuildReport:
    """Convert a game's report to the rules' values. An all-zero instance counts as none."""
    members = [
        GuildMember(each.PlayerId, guild_id, each.Rank, None if each.JoinedAt is None else parse_instant(each.JoinedAt))
        for each in body.Members
    ]
    instance = None if body.InstanceId == ZERO_GUID else body.InstanceId
    values = [(each.VariableId, each.Value) for each in body.Variables]
    founded_at = parse_instant(body.FoundingDate)
    return GuildReport(guild_id, body.Name, founded_at, body.BankSlotsCount, instance, members, values)


def make_side(guild: GuildState) -> wire.guilds.GuildSide:
    members = [_make_member(each) for each in guild.members]
    founded = format_instant(guild.founded_at)
    return wire.guilds.GuildSide(guild.id, guild.name, founded, guild.bank_slots, guild.instance_id, members)


def _make_member(member: GuildMember) -> wire.guilds.ChangedMember:
    joined = None if member.joined_at is None else format_instant(member.joined_at)
    return wire.guilds.ChangedMember(member.player_id, member.rank, joined)
