"""Information about the server: versions, name, limits, statistics."""

from collections.abc import Sequence

from gamekeeper.game.access import credentials
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists.list_index import ONLINE
from gamekeeper.ground import instants
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.contract.operation import ANY_TOKEN, NO_TOKEN, REVALIDATED, Group
from gamekeeper.http.players import player_shapes
from gamekeeper.http.server import metrics
from gamekeeper.http.server.request import Request
from gamekeeper.http.world import info_shapes
from gamekeeper.store.engine import clock
from gamekeeper.store.players import presence

MAX_STAT = 255  # highest stat of a player, as in the Intersect engine, where a stat is one byte
METRICS_SECONDS = 5  # seconds that the metrics cover, as in the engine

GROUP = Group("Info", "Versions of the API; the game's name, limits and statistics.", 240, ANY_TOKEN)
GROUPS = (GROUP,)


@GROUP.operation("GET /api/info", permissions=NO_TOKEN, cache=REVALIDATED)
async def list_versions(request: Request) -> info_shapes.Versions:
    """List the versions of the API."""
    del request  # the request is not needed: every client gets the same list
    return info_shapes.Versions(info_shapes.VERSIONS)


@GROUP.operation(
    "GET /api/info/versions",
    permissions=NO_TOKEN,
    cache=REVALIDATED,
    rows=1,
    example_answer=info_shapes.VERSIONS,
)
async def list_version_names(request: Request) -> list[str]:
    """List the versions of the API, as an array."""
    del request  # the request is not needed: every client gets the same list
    return info_shapes.VERSIONS


@GROUP.operation("GET /api/v1/info", cache=REVALIDATED)
async def get_info(request: Request) -> info_shapes.Info:
    """Get the game's name and the server's port."""
    settings = request.services.keeper.settings
    return info_shapes.Info(settings.game_name, settings.port)


@GROUP.operation("GET /api/v1/info/authorized", cache=REVALIDATED)
async def is_authorized(request: Request) -> account_shapes.Authorized:
    """Check the token: 200 if it is active, otherwise 401."""
    del request  # the dispatcher has already checked the token
    return account_shapes.Authorized(authorized=True)


@GROUP.operation("GET /api/v1/info/stats")
async def get_server_stats(request: Request) -> info_shapes.ServerStats:
    """Get the uptime, requests per second, connected game servers and players online."""
    keeper, request_rates = request.services.keeper, request.services.metrics.request_rates
    servers, online = await presence.count_servers(keeper.store), await keeper.lists.count(ONLINE)
    return info_shapes.ServerStats(request_rates.uptime_ms, request_rates.last_second, servers, online)


@GROUP.operation("GET /api/v1/info/metrics")
async def get_server_metrics(request: Request) -> info_shapes.ServerMetrics:
    """Get figures about the server in the engine's shape. Those that are not known are zero."""
    keeper, rates = request.services.keeper, request.services.metrics.request_rates
    servers, online = await presence.count_servers(keeper.store), await keeper.lists.count(ONLINE)
    measure = info_shapes.measure
    seconds = [each.requests for each in rates.sum_buckets(1, METRICS_SECONDS)]
    memory = metrics.read_resident_bytes()
    sections = info_shapes.Sections(
        info_shapes.ApplicationMetrics(Memory=measure(memory)),
        info_shapes.GameMetrics(Cps=measure(*seconds), Players=measure(online)),
        info_shapes.NetworkMetrics(Clients=measure(servers)),
        info_shapes.ThreadingMetrics(),
    )
    now = instants.format_instant(await clock.now(keeper.store))
    return info_shapes.ServerMetrics(rates.uptime_ms, now, sections)


@GROUP.operation("GET /api/v1/info/config", cache=REVALIDATED)
async def get_config(request: Request) -> info_shapes.Config:
    """Get the game's limits, such as inventory slots and the highest level."""
    given = request.services.keeper.settings
    player = info_shapes.PlayerConfig(
        given.max_characters,
        given.inventory_slots,
        given.bank_slots,
        given.spell_slots,
        given.max_level,
        MAX_STAT,
        given.bank_slots,
    )
    return info_shapes.Config(
        given.game_name,
        given.port,
        player,
        SmtpValid=bool(given.smtp_url),
        ValidPasswordResetTimeMinutes=credentials.CODE_LIFE_MS // 60_000,
        Bank=info_shapes.BankConfig(given.bank_slots),
    )


@GROUP.operation("GET /api/v1/info/config/stats", cache=REVALIDATED, rows=5, example_answer=player_shapes.STATS)
async def list_stat_names(request: Request) -> list[str]:
    """List the names of the five stats, in the order that all lists of stats have."""
    del request  # the request is not needed: every client gets the same list
    return player_shapes.STATS


async def _count_online(keeper: Keeper) -> Sequence[metrics.Sample]:
    return [metrics.format_sample("gamekeeper_players_online", {}, await keeper.lists.count(ONLINE))]


PLAYERS_ONLINE = metrics.MetricFamily(metrics.GAUGE, "Players online.")
METRICS = (metrics.RoomMetrics({"gamekeeper_players_online": PLAYERS_ONLINE}, _count_online),)
