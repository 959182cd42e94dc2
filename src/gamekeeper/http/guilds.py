"""Guilds and their members: games report them, and everybody with `players.read` reads the engine's pages."""

from functools import partial

from gamekeeper.game import guild_reports, guilds
from gamekeeper.game import refusals as no
from gamekeeper.game.guild_refusals import NoSuchGuild
from gamekeeper.game.guilds import GuildPage, GuildSlice
from gamekeeper.game.world_refusals import WrongValueType
from gamekeeper.http import guild_codec, paging, player_records, samples, wire
from gamekeeper.http.operation import LINK, READ, READ_PLAYERS, REVALIDATED, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store.guilds import Guild

GROUP = Group("Guilds", "Guilds of the game and their members.")


@GROUP.operation(
    "GET /api/v1/guilds",
    name="list_guilds",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.guilds.GuildsQuery,
    answer=wire.lists.EnginePage[wire.guilds.CountedGuild],
    rows=wire.lists.MAX_ENGINE_RECORDS,
    refusals=(no.TooManyLongReads,),
    example_answer=wire.lists.EnginePage(12, 0, 5, 1, [samples.COUNTED_GUILD]),
)
async def list_guilds(request: Request, query: wire.guilds.GuildsQuery) -> bytes:
    """List guilds with the number of their members, in pages; with `search`, only matching ones."""
    page = paging.read_engine_query(query)
    part = GuildSlice(page.offset, page.limit, query.sortBy, query.sortDirection == "Descending")
    found = await load_page(request, part, query.search)
    return wire.lists.encode_engine_page(
        found.total, page.number, page.size, [guild_codec.encode_counted(each) for each in found.rows]
    )


@GROUP.operation(
    "POST /api/v1/guilds",
    name="list_guilds_legacy",
    permissions=READ_PLAYERS,
    access=READ,
    body=wire.lists.LegacyPage,
    answer=wire.lists.Legacy[wire.guilds.CountedGuild],
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_body=wire.lists.LegacyPage(),
    example_answer=wire.lists.Legacy(12, 0, 1, [samples.COUNTED_GUILD]),
)
async def list_guilds_legacy(request: Request, body: wire.lists.LegacyPage) -> bytes:
    """List guilds by name with the number of their members, in the legacy format."""
    page = paging.read_legacy(request, body)
    found = await load_page(request, GuildSlice(page.offset, page.limit))
    records = [guild_codec.encode_counted(each) for each in found.rows]
    return wire.lists.encode_legacy(found.total, page.number, records)


@GROUP.operation(
    "GET /api/v1/guilds/[guildId]",
    name="get_guild",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.guilds.Guild,
    refusals=(NoSuchGuild,),
    example_answer=samples.GUILD,
)
async def get_guild(request: Request, guild_id: str) -> bytes:
    """Get a guild by id."""
    return wire.encode(guild_codec.make_guild(await guilds.require(request.services.keeper.store, guild_id)))


@GROUP.operation(
    "GET /api/v1/guilds/[guildId]/members",
    name="list_guild_members",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.guilds.MembersQuery,
    answer=wire.lists.EnginePage[wire.players.PlayerRecord],
    rows=wire.lists.MAX_ENGINE_RECORDS,
    refusals=(),
    example_answer=wire.lists.EnginePage(7, 0, 5, 1, [samples.RECORD]),
)
async def list_guild_members(request: Request, query: wire.guilds.MembersQuery, guild_id: str) -> bytes:
    """List the members of a guild, in pages; with `search`, only matching ones."""
    page = paging.read_engine_query(query)
    part = GuildSlice(page.offset, page.limit, query.sortBy, query.sortDirection == "Descending")
    found = await request.services.keeper.store.read(lambda tx: guilds.load_members(tx, guild_id, part, query.search))
    records = player_records.encode_records(found.rows)
    return wire.lists.encode_engine_page(found.total, page.number, page.size, records)


@GROUP.operation(
    "PUT /api/link/v1/guilds/[guildId]",
    name="put_guild",
    permissions=LINK,
    access=WRITE,
    body=wire.guilds.PutGuild,
    answer=wire.guilds.CountedGuild,
    refusals=(WrongValueType,),
    example_body=samples.PUT_GUILD,
    example_answer=samples.COUNTED_GUILD,
)
async def put_guild(request: Request, body: wire.guilds.PutGuild, guild_id: str) -> Response:
    """Report a guild as it is: other members leave it, and members of other guilds move."""
    report = guild_codec.read_report(guild_id, body)
    return await request.change(partial(guild_reports.put_guild, report=report), guild_codec.encode_counted)


@GROUP.operation(
    "DELETE /api/link/v1/guilds/[guildId]",
    name="delete_guild",
    permissions=LINK,
    access=WRITE,
    answer=wire.guilds.CountedGuild,
    refusals=(NoSuchGuild,),
    example_answer=samples.COUNTED_GUILD,
)
async def delete_guild(request: Request, guild_id: str) -> Response:
    """Report that a guild has ended. Its members stay as players without a guild."""
    return await request.change(partial(guild_reports.delete_guild, guild_id=guild_id), guild_codec.encode_counted)


async def load_page(request: Request, part: GuildSlice, search: str = "") -> GuildPage[Guild]:
    """Load a page of guilds. A search reads many of them, so it goes through the gate for long reads."""
    store = request.services.keeper.store
    if guilds.is_search(search):
        return await request.run_through_gate(lambda: store.read(lambda tx: guilds.load_page(tx, part, search)))
    return await store.read(lambda tx: guilds.load_page(tx, part))
