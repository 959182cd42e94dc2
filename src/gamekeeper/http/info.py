"""What sites and tools ask about the server before anything else."""

from gamekeeper.game.lists import ONLINE
from gamekeeper.http import wire
from gamekeeper.http.request import Request
from gamekeeper.store import presence

MOST_STAT = 255  # the engine's: a stat is one byte there


async def versions(request: Request) -> bytes:
    """Which versions of the API there are."""
    del request  # the same for everybody
    return wire.encode(wire.Versions(wire.VERSIONS))


async def version_list(request: Request) -> bytes:
    """Which versions of the API there are, as a bare array."""
    del request  # the same for everybody
    return wire.encode(wire.VERSIONS)


async def about(request: Request) -> bytes:
    """The game's name, and the port that is served."""
    settings = request.keeper.settings
    return wire.encode(wire.Info(settings.game_name, settings.port))


async def authorized(request: Request) -> bytes:
    """Whether the token is good: whoever sees this answer has one."""
    del request  # a bad token does not come this far
    return wire.encode(wire.Authorized(authorized=True))


async def stats(request: Request) -> bytes:
    """How long and how fast this process serves, and who is connected."""
    keeper, pace = request.keeper, request.metrics.pace
    servers, online = await presence.count_servers(keeper.store), await keeper.lists.total(ONLINE)
    return wire.encode(wire.ServerStats(pace.uptime_ms, pace.last_second, servers, online))


async def config(request: Request) -> bytes:
    """The game's limits. Named one by one, so that no secret among the settings can slip in."""
    given = request.keeper.settings
    player = wire.PlayerConfig(
        given.max_characters,
        given.inventory_slots,
        given.bank_slots,
        given.spell_slots,
        given.max_level,
        MOST_STAT,
        given.bank_slots,
    )
    return wire.encode(wire.Config(given.game_name, given.port, player))


async def stat_names(request: Request) -> bytes:
    """The names of the five stats, in the order of every list of five."""
    del request  # the same for everybody
    return wire.encode(wire.STATS)
