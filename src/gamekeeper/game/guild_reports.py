"""Reports of games about guilds: the whole guild as it is, or its end.

Two games may report at the same time. So every report locks the players first, in the order in which presence and
erasures lock them, by account, and then the guilds by id. A deletion of a player has the same order: it locks the
player, and its trigger then counts the guild's members.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game import guild_variables
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import GuildState
from gamekeeper.game.guild_effects import GuildDeleted, GuildSaved
from gamekeeper.game.guild_refusals import NoSuchGuild
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.refusals import BadField
from gamekeeper.store import guilds
from gamekeeper.store.engine import Reading
from gamekeeper.store.guilds import Guild, GuildMember


class GuildReport(NamedTuple):
    id: str
    name: str
    founded_at: int
    bank_slots: int
    instance_id: str | None
    members: Sequence[GuildMember]
    variables: Sequence[tuple[str, object]] = ()  # variable id and value as sent


async def put_guild(tx: Reading, report: GuildReport) -> Decision[Guild]:
    """Store a guild as reported. Members who are not in the report leave it; members of other guilds move."""
    _require_ids(report)
    named = [each.player_id for each in report.members]
    players = await _lock_players(tx, report.id, named)
    for number, player_id in enumerate(named):
        if player_id not in players:
            raise BadField(field=f"Members[{number}].PlayerId", problem="is not the id of a player")
    elsewhere = {each.guild_id for each in (await guilds.read_memberships(tx, named)).values()}
    old = (await guilds.lock_all(tx, {report.id, *elsewhere})).get(report.id)
    was = {each.player_id: each for each in await guilds.read_members(tx, report.id)} if old else {}
    # a report without a time keeps the known one
    now = {
        each.player_id: each._replace(joined_at=was[each.player_id].joined_at)
        if each.joined_at is None and each.player_id in was
        else each
        for each in report.members
    }
    differing = {player for player in was.keys() | now.keys() if was.get(player) != now.get(player)}
    after = GuildState(*report[:5], [now[each] for each in sorted(differing & now.keys())])
    before = old and GuildState(*old[:5], [was[each] for each in sorted(differing & was.keys())])
    counted = Guild(*report[:5], len(now))
    saved = [GuildSaved(before, after)] if before != after else []
    return Decision([*saved, *await guild_variables.plan_report(tx, report.id, report.variables)], counted)


async def delete_guild(tx: Reading, guild_id: str) -> Decision[Guild]:
    await _lock_players(tx, guild_id, ())
    found = (await guilds.lock_all(tx, [guild_id])).get(guild_id)
    if found is None:
        raise NoSuchGuild(id=guild_id)
    members = sorted(await guilds.read_members(tx, guild_id))
    return Decision([GuildDeleted(GuildState(*found[:5], members))], found)


def _require_ids(report: GuildReport) -> None:
    if report.id == ZERO_GUID:
        raise BadField(field="guildId", problem="must not be all zeros")
    if not report.name:
        raise BadField(field="Name", problem="must not be empty")
    seen = set[str]()
    for number, member in enumerate(report.members):
        if member.player_id in seen:
            raise BadField(field=f"Members[{number}].PlayerId", problem="is in the list twice")
        seen.add(member.player_id)


async def _lock_players(tx: Reading, guild_id: str, named: Sequence[str]) -> set[str]:
    """Lock the named players and the members of the guild, before any guild; return those who exist."""
    members = [each.player_id for each in await guilds.read_members(tx, guild_id)]
    return await guilds.lock_players(tx, {*named, *members})
