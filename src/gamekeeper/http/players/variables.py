from functools import partial

from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.players import variables
from gamekeeper.game.players.refusals import ReadOnlyVariable
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import OF_ONE_OWNER, READ_PLAYERS, REVALIDATED, Group, needs
from gamekeeper.http.players import variable_shapes
from gamekeeper.http.server import bodies
from gamekeeper.http.server.paging import encode_rows
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import variables as variable_rows

GROUP = Group("Variables", "Variables: values that a game stores for a player.", 30, READ_PLAYERS, REVALIDATED)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/variables",
    number=6,
    answer=list[variable_shapes.PlayerVariable],
    rows=OF_ONE_OWNER,
)
async def list_variables(request: Request) -> bytes:
    """List all variables that were ever set for a player."""

    async def look(tx: Reading) -> list[variable_rows.AnyVariableRow]:
        return await variable_rows.read_all_of_player(tx, await lookup.find_player_id(tx, request.params[0]))

    rows = await request.services.keeper.store.read(look)
    return await encode_rows(
        request,
        rows,
        lambda some: shapes.encode(
            [variable_shapes.PlayerVariable(row.variable_id, variables.read_any_value(row)) for row in some]
        ),
    )


@GROUP.operation("GET /api/v1/players/[lookupKey]/variables/[variableId]", number=7, refusals=(no.NoSuchVariable,))
async def get_variable(request: Request, variable_id: str) -> variable_shapes.PlayerVariable:
    """Get a variable of a player; 0, false or an empty text if it was never set."""
    return variable_shapes.PlayerVariable(variable_id, await _load_value(request, variable_id))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/variables/[variableId]/value",
    number=8,
    refusals=(no.NoSuchVariable,),
)
async def get_variable_value(request: Request, variable_id: str) -> variable_shapes.Value:
    """Get only the value of a variable."""
    return variable_shapes.Value(await _load_value(request, variable_id))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/variables/[variableId]",
    number=9,
    permissions=needs("variables.write"),
    answer=variable_shapes.Variable,
    refusals=(no.NoSuchVariable, no.WrongVariableType, ReadOnlyVariable),
)
async def set_variable(request: Request, body: variable_shapes.SetVariable, variable_id: str) -> Response:
    """Set a variable of a player."""
    decide = partial(variables.set_value, player=request.params[0], variable_id=variable_id, new=body.value)
    chosen = partial(decide, from_form=is_form(request))
    return await request.change(chosen, lambda new: variable_shapes.Variable(variable_id, new))


def is_form(request: Request) -> bool:
    """Tell whether the body is a form, in which 1 and 0 also mean true and false."""
    return bodies.is_form(request.raw_body, request.headers.get(b"content-type", b"").decode("latin-1"))


async def _load_value(request: Request, variable_id: str) -> variables.AnyValue:
    async def look(tx: Reading) -> variables.AnyValue:
        return await variables.load_value(tx, await lookup.find_player_id(tx, request.params[0]), variable_id)

    return await request.services.keeper.store.read(look)
