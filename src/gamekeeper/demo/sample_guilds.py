"""Guilds of the demo, with their members and ranks."""

from gamekeeper.demo import world
from gamekeeper.demo.names import make_stable_id
from gamekeeper.game.lookup import fold
from gamekeeper.store.guilds import GuildColumns, GuildMember

DAY_MS = 24 * 60 * 60 * 1000
FOUNDED_AT = 1_735_722_000_000  # when the first guild was founded: 2025-01-01 09:00 UTC, as its owner was created
LOWEST_RANK = 3  # the engine's ranks are 0 (owner) to 3


def build_guilds() -> tuple[list[GuildColumns], list[GuildMember]]:
    """Build the guilds and their members. The first member owns the guild; the others have the ranks 1 to 3."""
    guilds, members = list[GuildColumns](), list[GuildMember]()
    for number, (name, players) in enumerate(world.GUILDS.items()):
        guild_id, founded_at = make_stable_id("guild", name), FOUNDED_AT + 40 * number * DAY_MS
        guilds.append(GuildColumns(guild_id, name, fold(name), founded_at, 50, make_stable_id("instance", name)))
        members += [
            GuildMember(make_stable_id("player", player), guild_id, min(rank, LOWEST_RANK), founded_at + rank * DAY_MS)
            for rank, player in enumerate(players)
        ]
    return guilds, members
