"""Rules for the variables of the server: values of the types that the game declares."""

from typing import NamedTuple

from gamekeeper.game.audit.undo_context import UndoContext
from gamekeeper.game.core import values
from gamekeeper.game.core.change import Change
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import Malformed, NotFound
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.world.changes import ServerVariablesSet
from gamekeeper.store.engine.interface import Locking, Reading, Store
from gamekeeper.store.world import server_variables
from gamekeeper.store.world.server_variables import ServerVariable


class IdRefusals(NamedTuple):
    """The refusals of an id, which differ between the versions of the engine."""

    zero: type[Malformed]
    unknown: type[NotFound]


async def load_page(store: Store, limit: int, offset: int) -> tuple[int, list[ServerVariable]]:
    """Return the number of variables and one page of them, by id, from the same snapshot."""

    async def look(tx: Reading) -> tuple[int, list[ServerVariable]]:
        return await server_variables.count(tx), await server_variables.read_page(tx, limit, offset)

    return await store.read(look)


async def require(tx: Reading, variable_id: str, refusals: IdRefusals) -> ServerVariable:
    found = None if variable_id == ZERO_GUID else await server_variables.find(tx, variable_id)
    return _require_found(found, variable_id, refusals)


async def set_value(
    tx: Locking, variable_id: str, sent: object, refusals: IdRefusals, *, from_form: bool
) -> Decision[ServerVariable]:
    """Set a variable to a value of its declared type, and return it as it is then."""
    found = None if variable_id == ZERO_GUID else await server_variables.lock(tx, variable_id)
    variable = _require_found(found, variable_id, refusals)
    new = values.read_value(sent, variable.type, from_form=from_form)
    change = ServerVariablesSet({variable_id: values.decode_value(variable.value)}, {variable_id: new})
    return Decision([change], variable._replace(value=values.encode_value(new)))


async def undo(tx: Locking, context: UndoContext) -> list[Change]:
    """Undo a change of variables, if they still have the values that it set."""
    now: dict[str, values.Value | None] = {}
    for each, became in sorted(context.after.server_variables.items()):
        variable = await server_variables.lock(tx, each)
        if variable is None:
            raise context.make_conflict("the variable does not exist any more")
        now[each] = values.decode_value(variable.value)
        if not values.is_same_value(now[each], became):
            raise context.make_conflict("the variable has another value now")
    return [ServerVariablesSet(now, context.before.server_variables)]


def _require_found(found: ServerVariable | None, variable_id: str, refusals: IdRefusals) -> ServerVariable:
    if variable_id == ZERO_GUID:
        raise refusals.zero(id=variable_id)
    if found is None:
        raise refusals.unknown(id=variable_id)
    return found
