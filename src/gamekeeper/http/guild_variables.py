"""Variables of guilds, as in the engine's version 0.7.1."""

from functools import partial

from gamekeeper.game import guild_variables
from gamekeeper.game import refusals as no
from gamekeeper.game.guild_variables import GuildVariable
from gamekeeper.game.world_refusals import GuildMissing, InvalidGuildVariable, WrongValueType
from gamekeeper.http import bodies, samples, wire
from gamekeeper.http.answered_rows import OF_ONE_OWNER
from gamekeeper.http.long_lists import encode_rows
from gamekeeper.http.operation import READ, READ_PLAYERS, REVALIDATED, WRITE, Group, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.http.wire.variables import AnyValueOnly, SetAnyVariable

GROUP = Group("Guild variables", "Variables of guilds, which the game declares.")
EXAMPLE = wire.variables.GuildVariable(samples.GUILD_FAME, "Guild Fame", 12)


@GROUP.operation(
    "GET /api/v1/guilds/[guildId]/variables",
    name="list_guild_variables",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=list[wire.variables.GuildVariable],
    rows=OF_ONE_OWNER,
    refusals=(GuildMissing, no.TooManyLongReads),
    example_answer=[EXAMPLE],
)
async def list_variables(request: Request, guild_id: str) -> bytes:
    """List the variables that were ever set for a guild."""
    found = await request.services.keeper.store.read(lambda tx: guild_variables.load_all(tx, guild_id))
    return await encode_rows(request, found, lambda some: wire.encode([_make_record(each) for each in some]))


@GROUP.operation(
    "GET /api/v1/guilds/[guildId]/variables/[guildVariableId]",
    name="get_guild_variable",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.variables.GuildVariable,
    refusals=(GuildMissing, InvalidGuildVariable),
    example_answer=EXAMPLE,
)
async def get_variable(request: Request, guild_id: str, variable_id: str) -> bytes:
    """Get a variable of a guild. Its value is null if it was never set."""
    return wire.encode(_make_record(await _load_one(request, guild_id, variable_id)))


@GROUP.operation(
    "GET /api/v1/guilds/[guildId]/variables/[guildVariableId]/value",
    name="get_guild_variable_value",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=AnyValueOnly,
    refusals=(GuildMissing, InvalidGuildVariable),
    example_answer=AnyValueOnly(12),
)
async def get_value(request: Request, guild_id: str, variable_id: str) -> bytes:
    """Get only the value of a variable of a guild."""
    return wire.encode(AnyValueOnly((await _load_one(request, guild_id, variable_id)).value))


@GROUP.operation(
    "POST /api/v1/guilds/[guildId]/variables/[guildVariableId]",
    name="set_guild_variable",
    permissions=needs("world.write"),
    access=WRITE,
    body=SetAnyVariable,
    answer=wire.variables.GuildVariable,
    refusals=(GuildMissing, InvalidGuildVariable, WrongValueType),
    example_body=SetAnyVariable(12),
    example_answer=EXAMPLE,
)
async def set_variable(request: Request, body: SetAnyVariable, guild_id: str, variable_id: str) -> Response:
    """Set a variable of a guild. All game servers are told in the change feed."""
    content_type = request.headers.get(b"content-type", b"").decode("latin-1")
    decide = partial(
        guild_variables.set_value,
        guild_id=guild_id,
        variable_id=variable_id,
        sent=body.value,
        from_form=bodies.is_form(request.raw_body, content_type),
    )
    return await request.change(decide, lambda changed: wire.encode(_make_record(changed)))


async def _load_one(request: Request, guild_id: str, variable_id: str) -> GuildVariable:
    store = request.services.keeper.store
    return await store.read(lambda tx: guild_variables.load_one(tx, guild_id, variable_id))


def _make_record(each: GuildVariable) -> wire.variables.GuildVariable:
    return wire.variables.GuildVariable(each.id, each.name, each.value)
