"""Rules for the variables of guilds: values of the types that the game declares."""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game import values
from gamekeeper.game.change import Change
from gamekeeper.game.changes import Decision
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.refusals import BadField
from gamekeeper.game.undo_context import UndoContext
from gamekeeper.game.values import Value
from gamekeeper.game.world_effects import GuildVariablesSet
from gamekeeper.game.world_refusals import GuildMissing, InvalidGuildVariable
from gamekeeper.store import guild_variables, guilds
from gamekeeper.store.engine import Locking, Reading
from gamekeeper.store.guild_variables import GuildValueRow


class GuildVariable(NamedTuple):
    """A variable of one guild. `type` is the declared one; that of the value if the variable is not declared."""

    id: str
    name: str
    type: str
    value: Value | None  # None: never set for this guild


async def load_all(tx: Reading, guild_id: str) -> list[GuildVariable]:
    """Load the variables that were ever set for a guild."""
    if await guilds.find(tx, guild_id) is None:
        raise GuildMissing
    return [_read_row(row) for row in await guild_variables.read_of_guild(tx, guild_id)]


async def load_one(tx: Reading, guild_id: str, variable_id: str) -> GuildVariable:
    if await guilds.find(tx, guild_id) is None:
        raise GuildMissing
    return await _require_variable(tx, guild_id, variable_id)


async def set_value(
    tx: Locking, guild_id: str, variable_id: str, sent: object, *, from_form: bool
) -> Decision[GuildVariable]:
    """Set a guild's variable to a value of its declared type, and return it as it is then."""
    if not await guilds.lock_all(tx, [guild_id]):
        raise GuildMissing
    variable = await _require_variable(tx, guild_id, variable_id)
    new = values.read_value(sent, variable.type, from_form=from_form)
    change = GuildVariablesSet(guild_id, {variable_id: variable.value}, {variable_id: new})
    return Decision([change], variable._replace(value=new))


async def plan_report(tx: Reading, guild_id: str, reported: Sequence[tuple[str, object]]) -> list[Change]:
    """Plan the change to the values that a game reports, if any differs."""
    before, after = dict[str, Value | None](), dict[str, Value | None]()
    for number, (variable_id, sent) in enumerate(reported):
        if not await guild_variables.find(tx, variable_id):
            raise BadField(field=f"Variables[{number}].VariableId", problem="is not the id of a variable of guilds")
        variable = await _require_variable(tx, guild_id, variable_id)
        new = values.read_value(sent, variable.type, field=f"Variables[{number}].Value")
        if not values.is_same_value(variable.value, new):
            before[variable_id], after[variable_id] = variable.value, new
    return [GuildVariablesSet(guild_id, before, after)] if after else []


async def undo(tx: Locking, context: UndoContext) -> list[Change]:
    """Undo a change of a guild's variables, if they still have the values that it set."""
    (guild_id,) = {guild for guild, _ in context.after.guild_variables}
    if not await guilds.lock_all(tx, [guild_id]):
        raise context.make_conflict("the guild does not exist any more")
    stored = {row.variable_id: row.value for row in await guild_variables.read_of_guild(tx, guild_id)}
    now = {each: values.decode_value(stored.get(each)) for _, each in context.after.guild_variables}
    if not all(values.is_same_value(now[each], value) for (_, each), value in context.after.guild_variables.items()):
        raise context.make_conflict("the variable has another value now")
    former = {each: value for (_, each), value in context.before.guild_variables.items()}
    return [GuildVariablesSet(guild_id, now, former)]


async def _require_variable(tx: Reading, guild_id: str, variable_id: str) -> GuildVariable:
    if variable_id == ZERO_GUID:
        raise InvalidGuildVariable(id=variable_id)
    declared = await guild_variables.find(tx, variable_id)
    row = await guild_variables.find_of_guild(tx, guild_id, variable_id)
    if declared:
        return GuildVariable(declared.id, declared.name, declared.type, values.decode_value(row.value) if row else None)
    if row is None:
        raise InvalidGuildVariable(id=variable_id)
    return _read_row(row)


def _read_row(row: GuildValueRow) -> GuildVariable:
    return GuildVariable(row.variable_id, row.name, row.type, values.decode_value(row.value))
