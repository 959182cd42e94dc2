"""Guilds for tests, written without a report of a game."""

from collections.abc import Mapping

from gamekeeper.game.core.lookup import fold
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.world import guilds
from gamekeeper.store.world.guilds import GuildColumns, GuildMember
from people import guid
from world import World

GUILD_ID = guid(71)
FOUNDED_AT = 1_622_541_600_000  # 2021-06-01 10:00 UTC


def insert(
    world: World,
    ranks: Mapping[str, int],
    guild_id: str = GUILD_ID,
    name: str = "Red Hand",
    founded_at: int = FOUNDED_AT,
    instance_id: str | None = None,
) -> None:
    """Insert a guild or replace it. `ranks`: player id → rank."""

    async def write(tx: Writing) -> None:
        guilds.save(tx, GuildColumns(guild_id, name, fold(name), founded_at, 50, instance_id))
        if ranks:
            guilds.save_members(tx, [GuildMember(player, guild_id, rank, None) for player, rank in ranks.items()])

    world.run(world.keeper.store.write(write))
