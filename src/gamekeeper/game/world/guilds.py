"""Guilds: pages of them and of their members, reports of games about them, and their variables.

A report of a game has the whole guild as it is, or its end. Variables have the types that the game declares.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Change, GuildState
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.undo import UndoContext, undoes
from gamekeeper.game.core.values import Value
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.world.changes import GuildDeleted, GuildSaved, GuildVariablesSet
from gamekeeper.game.world.refusals import GuildMissing, InvalidGuildVariable, NoSuchGuild
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.lists.search import PART_LETTERS
from gamekeeper.store.players import players
from gamekeeper.store.players.players import StoredPlayer
from gamekeeper.store.world import guilds
from gamekeeper.store.world.guilds import Guild, GuildMember, GuildValueRow, RosterEntry

R = TypeVar("R")
MAX_GUILDS = 10_000  # guilds that a list counts, or that a search reads
MAX_MATCHES = 1000  # guilds that a search finds
MAX_MEMBERS = 1000  # members of one guild that are listed

_GUILD_KEYS: Mapping[str, Callable[[tuple[Guild, str]], Any]] = {
    "name": lambda found: (found[1], found[0].id),
    "members": lambda found: (found[0].members, found[1], found[0].id),
    "foundingdate": lambda found: (found[0].founded_at, found[1], found[0].id),
}
_MEMBER_KEYS: Mapping[str, Callable[[RosterEntry], Any]] = {
    "name": lambda member: member.fold,
    "level": lambda member: (member.level, member.exp, member.id),
    "creationdate": lambda member: (member.created_at, member.fold),
    "playtime": lambda member: (member.play_time, member.fold),
    "guildrank": lambda member: (member.rank, member.fold),
}


class GuildSlice(NamedTuple):
    """A part of a sorted list: without the first `offset` entries, at most `limit`."""

    offset: int
    limit: int
    sort_by: str = "name"
    descending: bool = False


class GuildPage(NamedTuple, Generic[R]):
    total: int
    rows: Sequence[R]


async def require(tx: Reading, guild_id: str) -> Guild:
    found = await guilds.find(tx, guild_id)
    if found is None:
        raise NoSuchGuild(id=guild_id)
    return found


def is_search(text: str) -> bool:
    """Tell whether a search text is long enough; a shorter one is ignored."""
    return len(lookup.fold(text)) >= PART_LETTERS


async def load_page(tx: Reading, part: GuildSlice, search: str = "") -> GuildPage[Guild]:
    """Load a page of all guilds, or of those whose name contains the text."""
    if is_search(search):
        found = await guilds.search(tx, lookup.fold(search), MAX_GUILDS, MAX_MATCHES)
        ordered = sorted(found, key=_GUILD_KEYS[part.sort_by], reverse=part.descending)
        return GuildPage(len(found), [each for each, _ in ordered[part.offset : part.offset + part.limit]])
    total = await guilds.count(tx, MAX_GUILDS)
    limit = min(part.limit, total - part.offset)
    if limit <= 0:
        return GuildPage(total, ())
    return GuildPage(total, await guilds.read_page(tx, part.sort_by, limit, part.offset, descending=part.descending))


async def load_members(tx: Reading, guild_id: str, part: GuildSlice, search: str = "") -> GuildPage[StoredPlayer]:
    """Load a page of the members of a guild. A guild that does not exist has none."""
    roster = await guilds.read_roster(tx, guild_id, MAX_MEMBERS)
    if is_search(search):
        sought = lookup.fold(search)
        roster = [each for each in roster if sought in lookup.strip_clash(each.fold)]
    ordered = sorted(roster, key=_MEMBER_KEYS[part.sort_by], reverse=part.descending)
    ids = [each.id for each in ordered[part.offset : part.offset + part.limit]]
    records = await players.read_records_of_ids(tx, ids) if ids else {}
    return GuildPage(len(roster), [records[each] for each in ids])


class GuildVariable(NamedTuple):
    """A variable of one guild. `type` is the declared one; that of the value if the variable is not declared."""

    id: str
    name: str
    type: str
    value: Value | None  # None: never set for this guild


async def load_variables(tx: Reading, guild_id: str) -> list[GuildVariable]:
    """Load the variables that were ever set for a guild."""
    if await guilds.find(tx, guild_id) is None:
        raise GuildMissing
    return [_read_row(row) for row in await guilds.read_values_of_guild(tx, guild_id)]


async def load_variable(tx: Reading, guild_id: str, variable_id: str) -> GuildVariable:
    if await guilds.find(tx, guild_id) is None:
        raise GuildMissing
    return await _require_variable(tx, guild_id, variable_id)


async def set_variable(
    tx: Locking, guild_id: str, variable_id: str, sent: object, *, from_form: bool
) -> Decision[GuildVariable]:
    """Set a guild's variable to a value of its declared type, and return it as it is then."""
    if not await guilds.lock_all(tx, [guild_id]):
        raise GuildMissing
    variable = await _require_variable(tx, guild_id, variable_id)
    new = values.read_value(sent, variable.type, from_form=from_form)
    change = GuildVariablesSet(guild_id, {variable_id: variable.value}, {variable_id: new})
    return Decision([change], variable._replace(value=new))


async def plan_reported_variables(tx: Reading, guild_id: str, reported: Sequence[tuple[str, object]]) -> list[Change]:
    """Plan the change to the values that a game reports, if any differs."""
    before, after = dict[str, Value | None](), dict[str, Value | None]()
    for number, (variable_id, sent) in enumerate(reported):
        if not await guilds.find_declaration(tx, variable_id):
            raise BadField(field=f"Variables[{number}].VariableId", problem="is not the id of a variable of guilds")
        variable = await _require_variable(tx, guild_id, variable_id)
        new = values.read_value(sent, variable.type, field=f"Variables[{number}].Value")
        if not values.is_same_value(variable.value, new):
            before[variable_id], after[variable_id] = variable.value, new
    return [GuildVariablesSet(guild_id, before, after)] if after else []


@undoes(GuildVariablesSet.kind)
async def undo_variables(tx: Locking, context: UndoContext) -> list[Change]:
    """Undo a change of a guild's variables, if they still have the values that it set."""
    (guild_id,) = {guild for guild, _ in context.after.guild_variables}
    if not await guilds.lock_all(tx, [guild_id]):
        raise context.make_conflict("the guild does not exist any more")
    stored = {row.variable_id: row.value for row in await guilds.read_values_of_guild(tx, guild_id)}
    now = {each: values.decode_value(stored.get(each)) for _, each in context.after.guild_variables}
    if not all(values.is_same_value(now[each], value) for (_, each), value in context.after.guild_variables.items()):
        raise context.make_conflict("the variable has another value now")
    former = {each: value for (_, each), value in context.before.guild_variables.items()}
    return [GuildVariablesSet(guild_id, now, former)]


async def _require_variable(tx: Reading, guild_id: str, variable_id: str) -> GuildVariable:
    if variable_id == ZERO_GUID:
        raise InvalidGuildVariable(id=variable_id)
    declared = await guilds.find_declaration(tx, variable_id)
    row = await guilds.find_value(tx, guild_id, variable_id)
    if declared:
        return GuildVariable(declared.id, declared.name, declared.type, values.decode_value(row.value) if row else None)
    if row is None:
        raise InvalidGuildVariable(id=variable_id)
    return _read_row(row)


def _read_row(row: GuildValueRow) -> GuildVariable:
    return GuildVariable(row.variable_id, row.name, row.type, values.decode_value(row.value))


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
    return Decision([*saved, *await plan_reported_variables(tx, report.id, report.variables)], counted)


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
