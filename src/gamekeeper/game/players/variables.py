"""Rules for a player's variables, with the type that the catalogue declares.

Integers and booleans can be set. Text and decimals come from an import and can only be read.
"""

import msgspec

from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchVariable, WrongVariableType
from gamekeeper.game.core.values import BOOLEAN, INTEGER, NUMBER, STRING, find_type
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players.changes import VariablesSet
from gamekeeper.game.players.refusals import ReadOnlyVariable
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import variables
from gamekeeper.store.world import catalogue

Value = int | bool
AnyValue = int | bool | float | str  # a value that is read
_UNSET: dict[str, AnyValue] = {BOOLEAN: False, INTEGER: 0, NUMBER: 0.0, STRING: ""}  # values that were never set
_decode: msgspec.json.Decoder[float | str] = msgspec.json.Decoder(float | str)


def read_value(row: variables.VariableRow) -> Value:
    return bool(row.value) if row.type == BOOLEAN else row.value


def read_any_value(row: variables.AnyVariableRow) -> AnyValue:
    if row.value is None:
        return _decode.decode(row.text or '""')
    return bool(row.value) if row.type == BOOLEAN else row.value


def require_settable(variable_id: str, declared: str | None) -> None:
    if declared in {STRING, NUMBER}:
        raise ReadOnlyVariable(variable=variable_id, type=declared)


async def load_value(tx: Reading, player_id: str, variable_id: str) -> AnyValue:
    """Return the value of a player's variable; 0, false or an empty text if it was never set."""
    declared = await find_declared_type(tx, variable_id)
    row = await variables.find_any_of_player(tx, player_id, variable_id)
    if row is not None:
        return read_any_value(row)
    if declared is None:
        raise NoSuchVariable
    return _UNSET.get(declared, 0)


async def set_value(tx: Locking, player: str, variable_id: str, new: Value, *, from_form: bool) -> Decision[Value]:
    """Set a player's variable to a value of its declared type. In a form body, 1 and 0 also mean true and false."""
    locked = await lookup.lock_player(tx, player)
    row = await variables.find_any_of_player(tx, locked.id, variable_id)
    wanted = await find_declared_type(tx, variable_id) or (row and row.type)
    require_settable(variable_id, wanted)
    if from_form and wanted == BOOLEAN and new in (0, 1):
        new = bool(new)
    if wanted and wanted != find_type(new):
        raise WrongVariableType(variable=variable_id, type=wanted)
    before = bool(row.value) if row and row.type == BOOLEAN else row and row.value
    return Decision([VariablesSet(locked.id, {variable_id: before}, {variable_id: new})], new)


async def find_declared_type(tx: Reading, variable_id: str) -> str | None:
    """Return a variable's type. None: the catalogue has no variables, so any id takes the type of its first value."""
    if variable_id == lookup.ZERO_GUID:
        raise NoSuchVariable
    declared = await catalogue.find_variable(tx, variable_id)
    if declared is None and await catalogue.has_variables(tx):
        raise NoSuchVariable
    return declared.type if declared else None
