from functools import partial

from gamekeeper.game import lookup, variables
from gamekeeper.game import refusals as no
from gamekeeper.game.variable_refusals import ReadOnlyVariable
from gamekeeper.http import bodies, samples, wire
from gamekeeper.http.answered_rows import OF_ONE_OWNER
from gamekeeper.http.long_lists import encode_rows
from gamekeeper.http.operation import READ, READ_PLAYERS, REVALIDATED, WRITE, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import variables as variable_rows
from gamekeeper.store.engine import Reading

GROUP = Group("Variables", "Variables: values that a game stores for a player.")


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/variables",
    name="list_variables",
    number=6,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.variables.PlayerVariable],
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=[wire.variables.PlayerVariable(samples.DRAGONS, 6)],
)
async def list_variables(request: Request) -> bytes:
    """List all variables that were ever set for a player."""

    async def look(tx: Reading) -> list[variable_rows.AnyVariableRow]:
        return await variable_rows.read_all_of_player(tx, await lookup.find_player_id(tx, request.params[0]))

    rows = await request.services.keeper.store.read(look)
    return await encode_rows(
        request,
        rows,
        lambda some: wire.encode(
            [wire.variables.PlayerVariable(row.variable_id, variables.read_any_value(row)) for row in some]
        ),
    )


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/variables/[variableId]",
    name="get_variable",
    number=7,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.variables.PlayerVariable,
    refusals=(no.NoSuchVariable,),
    example_answer=wire.variables.PlayerVariable(samples.DRAGONS, 7),
)
async def get_variable(request: Request, variable_id: str) -> bytes:
    """Get a variable of a player; 0, false or an empty text if it was never set."""
    return wire.encode(wire.variables.PlayerVariable(variable_id, await _load_value(request, variable_id)))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/variables/[variableId]/value",
    name="get_variable_value",
    number=8,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.variables.Value,
    refusals=(no.NoSuchVariable,),
    example_answer=wire.variables.Value(6),
)
async def get_value(request: Request, variable_id: str) -> bytes:
    """Get only the value of a variable."""
    return wire.encode(wire.variables.Value(await _load_value(request, variable_id)))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/variables/[variableId]",
    name="set_variable",
    number=9,
    permissions=needs("variables.write"),
    access=WRITE,
    body=wire.variables.SetVariable,
    answer=wire.variables.Variable,
    refusals=(no.NoSuchVariable, no.WrongVariableType, ReadOnlyVariable),
    example_body=wire.variables.SetVariable(7),
    example_answer=wire.variables.Variable(samples.DRAGONS, 7),
)
async def set_variable(request: Request, body: wire.variables.SetVariable, variable_id: str) -> Response:
    """Set a variable of a player."""
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    decide = partial(
        variables.set_value,
        player=request.params[0],
        variable_id=variable_id,
        new=body.value,
        from_form=bodies.is_form(request.raw_body, content_type),
    )
    return await request.change(decide, lambda new: wire.encode(wire.variables.Variable(variable_id, new)))


async def _load_value(request: Request, variable_id: str) -> variables.AnyValue:
    async def look(tx: Reading) -> variables.AnyValue:
        return await variables.load_value(tx, await lookup.find_player_id(tx, request.params[0]), variable_id)

    return await request.services.keeper.store.read(look)
