"""Variables of guilds for tests, written without a report of a game."""

from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import CatalogueGuildVariable
from people import guid
from world import World

FAME = CatalogueGuildVariable(guid(0xA1), "Fame", "Integer", "fame", "", 0)
MOTTO = CatalogueGuildVariable(guid(0xA2), "Motto", "String", "motto", "", 0)
AT_WAR = CatalogueGuildVariable(guid(0xA3), "At war", "Boolean", "war", "", 0)


def insert(world: World) -> None:
    """Declare the variables of this module, unless they are declared."""

    async def write(tx: Writing) -> None:
        catalogue.save(tx, "guildvariables", (FAME, MOTTO, AT_WAR))

    world.run(world.keeper.store.write(write))
