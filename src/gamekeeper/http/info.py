"""What sites and tools ask about the server before anything else."""

from gamekeeper.game.list_definitions import ONLINE
from gamekeeper.http import wire
from gamekeeper.http.operation import ANY_TOKEN, NO_STORE, NO_TOKEN, READ, REVALIDATED, Group
from gamekeeper.http.request import Request
from gamekeeper.store import presence

MOST_STAT = 255  # the engine's: a stat is one byte there

GROUP = Group("Info", "What sites and tools ask about the server first.")


@GROUP.operation(
    "GET /api/info",
    name="list_versions",
    permissions=NO_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=wire.info.Versions,
    refusals=(),
    example_answer=wire.info.Versions(wire.info.VERSIONS),
)
async def versions(request: Request) -> bytes:
    """Which versions of the API there are."""
    del request  # the same for everybody
    return wire.encode(wire.info.Versions(wire.info.VERSIONS))


@GROUP.operation(
    "GET /api/info/versions",
    name="list_version_names",
    permissions=NO_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=list[str],
    refusals=(),
    example_answer=wire.info.VERSIONS,
)
async def version_list(request: Request) -> bytes:
    """Which versions of the API there are, as a bare array."""
    del request  # the same for everybody
    return wire.encode(wire.info.VERSIONS)


@GROUP.operation(
    "GET /api/v1/info",
    name="get_info",
    permissions=ANY_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=wire.info.Info,
    refusals=(),
    example_answer=wire.info.Info("Harrowmere", 5400),
)
async def about(request: Request) -> bytes:
    """The game's name, and the port that is served."""
    settings = request.services.keeper.settings
    return wire.encode(wire.info.Info(settings.game_name, settings.port))


@GROUP.operation(
    "GET /api/v1/info/authorized",
    name="is_authorized",
    permissions=ANY_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=wire.users.Authorized,
    refusals=(),
    example_answer=wire.users.Authorized(authorized=True),
)
async def authorized(request: Request) -> bytes:
    """Whether the token is good: whoever sees this answer has one."""
    del request  # a bad token does not come this far
    return wire.encode(wire.users.Authorized(authorized=True))


@GROUP.operation(
    "GET /api/v1/info/stats",
    name="get_server_stats",
    permissions=ANY_TOKEN,
    access=READ,
    cache=NO_STORE,
    answer=wire.info.ServerStats,
    refusals=(),
    example_answer=wire.info.ServerStats(uptime=86400000, cps=37, connectedClients=2, onlineCount=12),
)
async def stats(request: Request) -> bytes:
    """How long and how fast this process serves, and who is connected."""
    keeper, request_rates = request.services.keeper, request.services.metrics.request_rates
    servers, online = await presence.count_servers(keeper.store), await keeper.lists.count(ONLINE)
    return wire.encode(wire.info.ServerStats(request_rates.uptime_ms, request_rates.last_second, servers, online))


@GROUP.operation(
    "GET /api/v1/info/config",
    name="get_config",
    permissions=ANY_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=wire.info.Config,
    refusals=(),
    example_answer=wire.info.Config("Harrowmere", 5400, wire.info.PlayerConfig(1, 35, 100, 35, 100, 255, 100)),
)
async def config(request: Request) -> bytes:
    """The game's limits. Named one by one, so that no secret among the settings can slip in."""
    given = request.services.keeper.settings
    player = wire.info.PlayerConfig(
        given.max_characters,
        given.inventory_slots,
        given.bank_slots,
        given.spell_slots,
        given.max_level,
        MOST_STAT,
        given.bank_slots,
    )
    return wire.encode(wire.info.Config(given.game_name, given.port, player))


@GROUP.operation(
    "GET /api/v1/info/config/stats",
    name="list_stat_names",
    permissions=ANY_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=list[str],
    refusals=(),
    example_answer=wire.players.STATS,
)
async def stat_names(request: Request) -> bytes:
    """The names of the five stats, in the order of every list of five."""
    del request  # the same for everybody
    return wire.encode(wire.players.STATS)
