"""Variables of guilds for tests, written without a report of a game."""

from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.world import guilds
from gamekeeper.store.world.guilds import GuildVariableDeclaration
from people import guid
from world import World

FAME = GuildVariableDeclaration(guid(0xA1), "Fame", "Integer", "fame", "", 0)
MOTTO = GuildVariableDeclaration(guid(0xA2), "Motto", "String", "motto", "", 0)
AT_WAR = GuildVariableDeclaration(guid(0xA3), "At war", "Boolean", "war", "", 0)


def insert(world: World) -> None:
    """Declare the variables of this module, unless they are declared."""

    async def write(tx: Writing) -> None:
        known = await guilds.find_known_variables(tx, [each.id for each in (FAME, MOTTO, AT_WAR)])
        guilds.load_variables(tx, [each for each in (FAME, MOTTO, AT_WAR) if each.id not in known])

    world.run(world.keeper.store.write(write))
