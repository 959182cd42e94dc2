"""Convert catalogue entries, guilds and the change feed between values of the rules and JSON shapes.

Entries are encoded with their further fields (details): for game servers, and in the engine's shapes.
"""

from collections.abc import Sequence

from gamekeeper.game.core.change import GuildState
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.player import Capacity
from gamekeeper.game.core.refusals import UnappliedChanges
from gamekeeper.game.core.values import decode_value
from gamekeeper.game.players.inventory import find_stack_limit
from gamekeeper.ground.instants import format_engine_time, format_instant, parse_instant
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.players import variable_shapes
from gamekeeper.http.server import errors
from gamekeeper.http.world import catalogue_shapes, link_shapes
from gamekeeper.store.world import catalogue, feed
from gamekeeper.store.world.guilds import Guild, GuildMember


def encode_entry(value: catalogue.CatalogueEntry) -> bytes:
    return catalogue_shapes.encode_with_details(_make_entry(value), value.details)


def encode_game_object(value: catalogue.CatalogueEntry, room: Capacity) -> bytes:
    """Encode an entry of the catalogue in the engine's shape of a game object."""
    return catalogue_shapes.encode_with_details(_make_game_object(value, room), value.details)


def _make_entry(value: catalogue.CatalogueEntry) -> catalogue_shapes.Entry:
    entry = catalogue_shapes.SHAPES[type(value)](*value[:-1])
    if isinstance(value, catalogue.CatalogueServerVariable):
        entry.Value = decode_value(value.value)
    return entry


def _make_game_object(value: catalogue.CatalogueEntry, room: Capacity) -> catalogue_shapes.GameObject:
    match value:
        case catalogue.CatalogueItem(id=each, name=name, stackable=stackable, bag_slots=slots, icon=icon):
            most = find_stack_limit(value, room)
            return catalogue_shapes.ItemObject(each, name, icon, stackable, most, most, slots)
        case catalogue.CatalogueVariable(id=each, name=name, type=kind):
            return catalogue_shapes.VariableObject(each, name, variable_shapes.TYPE_NUMBERS[kind])
        case catalogue.CatalogueServerVariable():
            return make_server_variable(value)
        case catalogue.CatalogueGuildVariable(id=each, name=name, type=kind, text_id=text_id, folder=folder):
            known = (name, text_id, variable_shapes.TYPE_NUMBERS[kind])
            return variable_shapes.GuildVariableObject(*known, folder, each, value.created_at)
        case catalogue.NamedEntry(id=each, name=name):
            return catalogue_shapes.NamedEntry(each, name)


def make_server_variable(value: catalogue.CatalogueServerVariable) -> variable_shapes.ServerVariable:
    known = (value.name, value.text_id, variable_shapes.TYPE_NUMBERS[value.type], decode_value(value.value))
    return variable_shapes.ServerVariable(*known, value.folder, value.id, value.created_at)


def make_guild(guild: Guild) -> catalogue_shapes.Guild:
    founded = format_engine_time(guild.founded_at)
    return catalogue_shapes.Guild(guild.id, guild.name, founded, guild.bank_slots, guild.instance_id or ZERO_GUID)


def make_counted(guild: Guild) -> catalogue_shapes.CountedGuild:
    return catalogue_shapes.CountedGuild(make_guild(guild), guild.members)


def read_report(guild_id: str, body: catalogue_shapes.PutGuild) -> GuildState:
    """Convert a game's report to the rules' values. An all-zero instance counts as none."""
    members = [
        GuildMember(each.PlayerId, guild_id, each.Rank, None if each.JoinedAt is None else parse_instant(each.JoinedAt))
        for each in body.Members
    ]
    instance = None if body.InstanceId == ZERO_GUID else body.InstanceId
    founded_at = parse_instant(body.FoundingDate)
    return GuildState(guild_id, body.Name, founded_at, body.BankSlotsCount, instance, members)


def _make_member(member: GuildMember) -> catalogue_shapes.ChangedMember:
    joined = None if member.joined_at is None else format_instant(member.joined_at)
    return catalogue_shapes.ChangedMember(member.player_id, member.rank, joined)


def make_side(guild: GuildState) -> catalogue_shapes.GuildSide:
    own = {"GuildId": guild.id, "FoundingDate": guild.founded_at, "BankSlotsCount": guild.bank_slots}
    members = [_make_member(each) for each in guild.members]
    return make_record(catalogue_shapes.GuildSide, guild, **own, Members=members)


def make_feed_changes(changes: Sequence[feed.FeedRow]) -> list[link_shapes.FeedChange]:
    return [_make_feed_change(each) for each in changes]


def _make_feed_change(change: feed.FeedRow) -> link_shapes.FeedChange:
    sides = (shapes.to_raw(change.before), shapes.to_raw(change.after))
    told = link_shapes.FeedChange(
        change.seq, format_instant(change.at), change.kind, change.player_id, *sides, change.by, change.request_id
    )
    if (target := change.target) is not None:
        told.Server, told.Expired = target.server, target.expired
        told.ExpiresAt = None if target.expires_at is None else format_instant(target.expires_at)
    return told


errors.add_fields(UnappliedChanges, link_shapes.UnappliedError, lambda no: {"Changes": make_feed_changes(no.changes)})
