from functools import partial

from gamekeeper.game import lookup, variables
from gamekeeper.http import bodies, wire
from gamekeeper.http.request import Request
from gamekeeper.http.segments import guid_param
from gamekeeper.store import variables as variable_rows
from gamekeeper.store.engine import Reading


async def every(request: Request) -> bytes:
    """All variables ever set for a character."""

    async def look(tx: Reading) -> list[variable_rows.VariableRow]:
        return await variable_rows.of_player(tx, await lookup.player_id(tx, request.params[0]))

    rows = await request.keeper.store.read(look)
    return wire.encode([wire.Variable(row.variable_id, variables.typed(row)) for row in rows])


async def one(request: Request) -> bytes:
    """One variable of a character; 0 or false when it was never set."""
    variable_id, value = await _value(request)
    return wire.encode(wire.Variable(variable_id, value))


async def value(request: Request) -> bytes:
    """One variable's bare value."""
    return wire.encode(wire.Value((await _value(request))[1]))


async def assign(request: Request, body: wire.SetVariable) -> bytes:
    """Set a variable of a character."""
    variable_id = guid_param("variableId", request.params[1])
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    decide = partial(
        variables.set_value,
        player=request.params[0],
        variable_id=variable_id,
        new=body.value,
        from_form=bodies.is_form(request.raw, content_type),
    )
    return await request.change(decide, lambda new: wire.encode(wire.Variable(variable_id, new)))


async def _value(request: Request) -> tuple[str, int | bool]:
    variable_id = guid_param("variableId", request.params[1])

    async def look(tx: Reading) -> int | bool:
        return await variables.value(tx, await lookup.player_id(tx, request.params[0]), variable_id)

    return variable_id, await request.keeper.store.read(look)
