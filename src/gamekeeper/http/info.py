"""Information about the server: versions, name, limits, statistics."""

from gamekeeper.game import credentials
from gamekeeper.game.list_definitions import ONLINE
from gamekeeper.http import instants, prometheus, samples, wire
from gamekeeper.http.operation import ANY_TOKEN, NO_STORE, NO_TOKEN, READ, REVALIDATED, Group
from gamekeeper.http.request import Request
from gamekeeper.store import clock, presence

MAX_STAT = 255  # highest stat of a player, as in the Intersect engine, where a stat is one byte
METRICS_SECONDS = 5  # seconds that the metrics cover, as in the engine

GROUP = Group("Info", "Versions of the API; the game's name, limits and statistics.")


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
async def list_versions(request: Request) -> bytes:
    """List the versions of the API."""
    del request  # the request is not needed: every client gets the same list
    return wire.encode(wire.info.Versions(wire.info.VERSIONS))


@GROUP.operation(
    "GET /api/info/versions",
    name="list_version_names",
    permissions=NO_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=list[str],
    rows=1,
    refusals=(),
    example_answer=wire.info.VERSIONS,
)
async def list_version_names(request: Request) -> bytes:
    """List the versions of the API, as an array."""
    del request  # the request is not needed: every client gets the same list
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
async def get_info(request: Request) -> bytes:
    """Get the game's name and the server's port."""
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
async def is_authorized(request: Request) -> bytes:
    """Check the token: 200 if it is active, otherwise 401."""
    del request  # the dispatcher has already checked the token
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
async def get_stats(request: Request) -> bytes:
    """Get the uptime, requests per second, connected game servers and players online."""
    keeper, request_rates = request.services.keeper, request.services.metrics.request_rates
    servers, online = await presence.count_servers(keeper.store), await keeper.lists.count(ONLINE)
    return wire.encode(wire.info.ServerStats(request_rates.uptime_ms, request_rates.last_second, servers, online))


@GROUP.operation(
    "GET /api/v1/info/metrics",
    name="get_server_metrics",
    permissions=ANY_TOKEN,
    access=READ,
    cache=NO_STORE,
    answer=wire.server_metrics.ServerMetrics,
    refusals=(),
    example_answer=wire.server_metrics.ServerMetrics(
        86400000,
        samples.LATER_TIME,
        wire.server_metrics.Sections(
            wire.server_metrics.ApplicationMetrics(Memory=wire.server_metrics.measure(91226112)),
            wire.server_metrics.GameMetrics(
                Cps=wire.server_metrics.measure(31, 37, 42), Players=wire.server_metrics.measure(12)
            ),
            wire.server_metrics.NetworkMetrics(Clients=wire.server_metrics.measure(2)),
            wire.server_metrics.ThreadingMetrics(),
        ),
    ),
)
async def get_metrics(request: Request) -> bytes:
    """Get figures about the server in the engine's shape. Those that are not known are zero."""
    keeper, rates = request.services.keeper, request.services.metrics.request_rates
    servers, online = await presence.count_servers(keeper.store), await keeper.lists.count(ONLINE)
    measure = wire.server_metrics.measure
    seconds = [each.requests for each in rates.sum_buckets(1, METRICS_SECONDS)]
    memory = prometheus.read_resident_bytes()
    sections = wire.server_metrics.Sections(
        wire.server_metrics.ApplicationMetrics(Memory=measure(memory)),
        wire.server_metrics.GameMetrics(Cps=measure(*seconds), Players=measure(online)),
        wire.server_metrics.NetworkMetrics(Clients=measure(servers)),
        wire.server_metrics.ThreadingMetrics(),
    )
    now = instants.format_instant(await clock.now(keeper.store))
    return wire.encode(wire.server_metrics.ServerMetrics(rates.uptime_ms, now, sections))


@GROUP.operation(
    "GET /api/v1/info/config",
    name="get_config",
    permissions=ANY_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=wire.config.Config,
    refusals=(),
    example_answer=wire.config.Config(
        "Harrowmere",
        5400,
        wire.config.PlayerConfig(1, 35, 100, 35, 100, 255, 100),
        SmtpValid=True,
        ValidPasswordResetTimeMinutes=30,
        Bank=wire.config.BankConfig(100),
    ),
)
async def get_config(request: Request) -> bytes:
    """Get the game's limits, such as inventory slots and the highest level."""
    given = request.services.keeper.settings
    player = wire.config.PlayerConfig(
        given.max_characters,
        given.inventory_slots,
        given.bank_slots,
        given.spell_slots,
        given.max_level,
        MAX_STAT,
        given.bank_slots,
    )
    return wire.encode(
        wire.config.Config(
            given.game_name,
            given.port,
            player,
            SmtpValid=bool(given.smtp_url),
            ValidPasswordResetTimeMinutes=credentials.CODE_LIFE_MS // 60_000,
            Bank=wire.config.BankConfig(given.bank_slots),
        )
    )


@GROUP.operation(
    "GET /api/v1/info/config/stats",
    name="list_stat_names",
    permissions=ANY_TOKEN,
    access=READ,
    cache=REVALIDATED,
    answer=list[str],
    rows=5,
    refusals=(),
    example_answer=wire.players.STATS,
)
async def list_stat_names(request: Request) -> bytes:
    """List the names of the five stats, in the order that all lists of stats have."""
    del request  # the request is not needed: every client gets the same list
    return wire.encode(wire.players.STATS)
