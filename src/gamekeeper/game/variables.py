"""A character's variables: integers and booleans, each of the type its declaration says."""

from gamekeeper.game import lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import VariablesSet
from gamekeeper.game.refusals import NoSuchVariable, WrongVariableType
from gamekeeper.game.rows import BOOLEAN, INTEGER
from gamekeeper.store import catalogue, variables
from gamekeeper.store.engine import Reading

Value = int | bool


def read_value(row: variables.VariableRow) -> Value:
    return bool(row.value) if row.type == BOOLEAN else row.value


def find_type(value: Value) -> str:
    return BOOLEAN if isinstance(value, bool) else INTEGER


def is_same_value(one: Value | None, other: Value) -> bool:
    """To Python 1 and true are equal; here they are two values."""
    return one is not None and find_type(one) == find_type(other) and one == other


async def load_value(tx: Reading, player_id: str, variable_id: str) -> Value:
    """One never set is 0 or false."""
    declared = await find_declared_type(tx, variable_id)
    row = await variables.find_of_player(tx, player_id, variable_id)
    if row is not None:
        return read_value(row)
    if declared is None:
        raise NoSuchVariable
    return False if declared == BOOLEAN else 0


async def set_value(tx: Reading, player: str, variable_id: str, new: Value, *, from_form: bool) -> Decision[Value]:
    """Set a variable to a value of its type. A form has no types: there 1 and 0 may be booleans."""
    locked = await lookup.lock_player(tx, player)
    row = await variables.find_of_player(tx, locked.id, variable_id)
    wanted = await find_declared_type(tx, variable_id) or (row and row.type)
    if from_form and wanted == BOOLEAN and new in (0, 1):
        new = bool(new)
    if wanted and wanted != find_type(new):
        raise WrongVariableType(variable=variable_id, type=wanted)
    before = {variable_id: read_value(row) if row else None}
    return Decision([VariablesSet(locked.id, before, {variable_id: new})], new)


async def find_declared_type(tx: Reading, variable_id: str) -> str | None:
    """None while the catalogue knows no variable at all: then any id is one, of the type of its first value."""
    if variable_id == lookup.ZERO_GUID:
        raise NoSuchVariable
    declared = await catalogue.find_variable(tx, variable_id)
    if declared is None and await catalogue.has_variables(tx):
        raise NoSuchVariable
    return declared.type if declared else None
