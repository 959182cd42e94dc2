"""Gifts and bulk loads for tests of the economy, and its tables."""

from typing import Any

from gamekeeper.game.core.player import INVENTORY, Player, Stack
from gamekeeper.game.players.changes import PlayersLoaded, PlayerState
from gamekeeper.game.world.loads import PAUSE_LISTS, RESUME_LISTS
from people import COIN, KILLS, USER_IDS, guid
from world import World


def give(world: World, name: str, quantity: int, item_id: str = COIN.id, what: str = "give", **more: Any) -> None:
    world.give(name, quantity, item_id, act=what, **{"by": "Shop", **more}).accepted()


def give_loaded(world: World) -> None:
    """Load 17 players, and let the first 12 end with 0 to 11 coins more than they were loaded with."""
    load_players(world, 17)
    for number in range(12):
        give(world, f"Loaded{0x5000 + number}", number + 1)
        give(world, f"Loaded{0x5000 + number}", 1, what="take")


def catch_up(world: World) -> None:
    """Count everything, like the background job of a serving process."""
    world.run(world.keeper.economy.follow(rest_factor=0))


def read_flows(world: World, item_id: str = COIN.id) -> dict[str, tuple[int, int]]:
    rows = world.sql("SELECT source, created, destroyed FROM item_flows WHERE item_id = $1", item_id)
    return {row[0]: (row[1], row[2]) for row in rows}


def read_holdings(world: World) -> set[tuple[str, str, str, int]]:
    rows = world.sql("SELECT player_id, kind, thing_id, quantity FROM holdings")
    return {(str(row[0]), row[1], str(row[2]), row[3]) for row in rows}


def load_players(world: World, count: int, first: int = 0x5000) -> None:
    """Load players in bulk, each with some coins."""
    made = [
        (
            Player(guid(first + n), USER_IDS["Bob"], f"Loaded{first + n}", level=1, exp=0),
            PlayerState(slots={(INVENTORY, 0): Stack(COIN.id, n + 1)}, variables={KILLS.id: n % 7}),
        )
        for n in range(count)
    ]
    world.make(PAUSE_LISTS, PlayersLoaded(made), RESUME_LISTS)
