"""The pages of guilds: the list, and one guild with its members."""

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.labels import name_rank
from gamekeeper.console.frame.list_page import GuildListQuery, RosterQuery
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.players import players
from gamekeeper.console.players.players import PlayerRow
from gamekeeper.game.core import lookup
from gamekeeper.game.world import guilds
from gamekeeper.game.world.guilds import GuildSlice
from gamekeeper.game.world.refusals import NoSuchGuild
from gamekeeper.http.server import paging, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import guilds as operations
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists.search import PART_LETTERS
from gamekeeper.store.world import guilds as rows
from gamekeeper.store.world.guilds import Guild, GuildMember

GUILD_SORTS = ("name", "members", "foundingdate")
MEMBER_SORTS = ("guildrank", "name", "level")


async def show_list(request: Request) -> Response:
    query = queries.decode(GuildListQuery, request.query)
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    ascending = query.sortDirection == "Ascending"
    part = GuildSlice(page.offset, page.limit, query.sortBy, not ascending)
    total, found = await operations.load_page(request, part, query.search)
    return pages.render(
        request,
        "world/guilds.html",
        guilds=found,
        part=list_page.make_page(request, page, total, len(found)),
        heads=list_page.make_columns(request, GUILD_SORTS, ascending=ascending),
        sought=query.search,
        short=0 < len(lookup.fold(query.search)) < PART_LETTERS,
        kept=list_page.keep_query(request, "sortby", "sortdirection"),
    )


async def show_guild(request: Request) -> Response:
    query = queries.decode(RosterQuery, request.query)
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    ascending, guild_id = query.sortDirection == "Ascending", lookup.parse_guid(request.params[0])
    if guild_id is None:
        raise NoSuchGuild(id=request.params[0])
    part = GuildSlice(page.offset, page.limit, query.sortBy, not ascending)

    async def read(tx: Reading) -> tuple[Guild, int, list[tuple[PlayerRow, GuildMember]]]:
        guild = await guilds.require(tx, guild_id)
        total, found = await guilds.load_members(tx, guild_id, part)
        shown = players.read_players(request, found)
        memberships = await rows.read_memberships(tx, [each.player.id for each in shown])
        return guild, total, [(each, memberships[each.player.id]) for each in shown]

    guild, total, members = await request.services.keeper.store.read(read)
    return pages.render(
        request,
        "world/guild.html",
        guild=guild,
        members=members,
        name_rank=name_rank,
        part=list_page.make_page(request, page, total, len(members)),
        heads=list_page.make_columns(request, MEMBER_SORTS, ascending=ascending),
    )


PAGES = (
    page_route("/guilds", show_list, PLAYERS)
    .in_menu("Guilds", GAME, 70, "guild")
    .with_help("The guilds of the game. They are changed in the game, not here.", "link"),
    page_route("/guilds/[guild]", show_guild, PLAYERS).with_help(
        "A guild with its members and ranks. It is changed in the game, not here.", "link"
    ),
)
