"""Guilds, their members and their variables, as in the engine's version 0.7.1.

Games report guilds, and everybody with `players.read` reads the engine's pages.
"""

from collections.abc import Sequence
from functools import partial

from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import WrongValueType
from gamekeeper.game.world import guilds
from gamekeeper.game.world.guilds import GuildSlice, GuildVariable
from gamekeeper.game.world.refusals import GuildMissing, InvalidGuildVariable, NoSuchGuild
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import LINK, OF_ONE_OWNER, READ, READ_PLAYERS, REVALIDATED, Group, needs
from gamekeeper.http.players import player_shapes, players, variable_shapes, variables
from gamekeeper.http.players.variable_shapes import AnyValueOnly, SetAnyVariable
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import encode_rows
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import catalogue_shapes, documents
from gamekeeper.store.world.guilds import Guild

GROUP = Group("Guilds", "Guilds of the game and their members.", 260, READ_PLAYERS, REVALIDATED)


@GROUP.operation(
    "GET /api/v1/guilds",
    answer=shapes.EnginePage[catalogue_shapes.CountedGuild],
    refusals=(no.TooManyLongReads,),
)
async def list_guilds(request: Request, query: catalogue_shapes.GuildsQuery) -> bytes:
    """List guilds with the number of their members, in pages; with `search`, only matching ones."""
    page = paging.read_engine_query(query)
    part = GuildSlice(page.offset, page.limit, query.sortBy, query.sortDirection == "Descending")
    total, found = await load_page(request, part, query.search)
    records = [shapes.encode(documents.make_counted(each)) for each in found]
    return shapes.encode_engine_page(total, page.number, page.size, records)


@GROUP.operation("POST /api/v1/guilds", access=READ, answer=shapes.Legacy[catalogue_shapes.CountedGuild])
async def list_guilds_legacy(request: Request, body: shapes.LegacyPage) -> bytes:
    """List guilds by name with the number of their members, in the legacy format."""
    page = paging.read_legacy(request, body)
    total, found = await load_page(request, GuildSlice(page.offset, page.limit))
    return shapes.encode_legacy(total, page.number, [shapes.encode(documents.make_counted(each)) for each in found])


@GROUP.operation("GET /api/v1/guilds/[guildId]", refusals=(NoSuchGuild,))
async def get_guild(request: Request, guild_id: str) -> catalogue_shapes.Guild:
    """Get a guild by id."""
    return documents.make_guild(await guilds.require(request.services.keeper.store, guild_id))


@GROUP.operation("GET /api/v1/guilds/[guildId]/members", answer=shapes.EnginePage[player_shapes.PlayerRecord])
async def list_guild_members(request: Request, query: catalogue_shapes.MembersQuery, guild_id: str) -> bytes:
    """List the members of a guild, in pages; with `search`, only matching ones."""
    page = paging.read_engine_query(query)
    part = GuildSlice(page.offset, page.limit, query.sortBy, query.sortDirection == "Descending")
    store = request.services.keeper.store
    total, found = await store.read(lambda tx: guilds.load_members(tx, guild_id, part, query.search))
    return shapes.encode_engine_page(total, page.number, page.size, players.encode_records(found))


@GROUP.operation(
    "PUT /api/link/v1/guilds/[guildId]",
    permissions=LINK,
    answer=catalogue_shapes.CountedGuild,
    refusals=(WrongValueType,),
)
async def put_guild(request: Request, body: catalogue_shapes.PutGuild, guild_id: str) -> Response:
    """Report a guild as it is: other members leave it, and members of other guilds move."""
    values = [(each.VariableId, each.Value) for each in body.Variables]
    decide = partial(guilds.put_guild, report=documents.read_report(guild_id, body), variables=values)
    return await request.change(decide, documents.make_counted)


@GROUP.operation(
    "DELETE /api/link/v1/guilds/[guildId]",
    permissions=LINK,
    answer=catalogue_shapes.CountedGuild,
    refusals=(NoSuchGuild,),
)
async def delete_guild(request: Request, guild_id: str) -> Response:
    """Report that a guild has ended. Its members stay as players without a guild."""
    return await request.change(partial(guilds.delete_guild, guild_id=guild_id), documents.make_counted)


async def load_page(request: Request, part: GuildSlice, search: str = "") -> tuple[int, Sequence[Guild]]:
    """Load a page of guilds. A search reads many of them, so it goes through the gate for long reads."""
    store = request.services.keeper.store
    if guilds.is_search(search):
        return await request.run_through_gate(lambda: store.read(lambda tx: guilds.load_page(tx, part, search)))
    return await store.read(lambda tx: guilds.load_page(tx, part))


VARIABLES_GROUP = Group(
    "Guild variables", "Variables of guilds, which the game declares.", 50, READ_PLAYERS, REVALIDATED
)
GROUPS = (GROUP, VARIABLES_GROUP)


@VARIABLES_GROUP.operation(
    "GET /api/v1/guilds/[guildId]/variables",
    answer=list[variable_shapes.GuildVariable],
    rows=OF_ONE_OWNER,
    refusals=(GuildMissing,),
)
async def list_guild_variables(request: Request, guild_id: str) -> bytes:
    """List the variables that were ever set for a guild."""
    found = await request.services.keeper.store.read(lambda tx: guilds.load_variables(tx, guild_id))
    return await encode_rows(request, found, lambda some: shapes.encode([_make_record(each) for each in some]))


@VARIABLES_GROUP.operation(
    "GET /api/v1/guilds/[guildId]/variables/[guildVariableId]",
    refusals=(GuildMissing, InvalidGuildVariable),
)
async def get_guild_variable(request: Request, guild_id: str, variable_id: str) -> variable_shapes.GuildVariable:
    """Get a variable of a guild. Its value is null if it was never set."""
    return _make_record(await _load_one(request, guild_id, variable_id))


@VARIABLES_GROUP.operation(
    "GET /api/v1/guilds/[guildId]/variables/[guildVariableId]/value",
    refusals=(GuildMissing, InvalidGuildVariable),
)
async def get_guild_variable_value(request: Request, guild_id: str, variable_id: str) -> AnyValueOnly:
    """Get only the value of a variable of a guild."""
    return AnyValueOnly((await _load_one(request, guild_id, variable_id)).value)


@VARIABLES_GROUP.operation(
    "POST /api/v1/guilds/[guildId]/variables/[guildVariableId]",
    permissions=needs("world.write"),
    answer=variable_shapes.GuildVariable,
    refusals=(GuildMissing, InvalidGuildVariable, WrongValueType),
)
async def set_guild_variable(request: Request, body: SetAnyVariable, guild_id: str, variable_id: str) -> Response:
    """Set a variable of a guild. All game servers are told in the change feed."""
    decide = partial(guilds.set_variable, guild_id=guild_id, variable_id=variable_id, sent=body.value)
    return await request.change(partial(decide, from_form=variables.is_form(request)), _make_record)


async def _load_one(request: Request, guild_id: str, variable_id: str) -> GuildVariable:
    store = request.services.keeper.store
    return await store.read(lambda tx: guilds.load_variable(tx, guild_id, variable_id))


def _make_record(each: GuildVariable) -> variable_shapes.GuildVariable:
    return variable_shapes.GuildVariable(each.id, each.name, each.value)
