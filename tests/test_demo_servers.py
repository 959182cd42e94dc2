"""The game servers of the demo: they keep players online, and carry out commands."""

from collections.abc import Sequence
from typing import Any

import pytest

from demo_databases import ANYBODY, at_work
from gamekeeper.demo import game_servers, names, world
from gamekeeper.game import commands, moderation, presence
from gamekeeper.game.actors import Actor
from gamekeeper.game.changes import Decide
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.permissions import PERMISSIONS
from gamekeeper.store import (
    deliveries,
    feed,
    players,
)
from gamekeeper.store import presence as presence_rows

pytestmark = pytest.mark.long_only


def test_kicked_player_stays_offline_until_server_restarts(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        await game_servers.DemoGame(keeper).keep_online()
        aldwyn = names.make_stable_id("player", "Aldwyn")
        await keeper.changes.apply(ANYBODY, lambda tx: presence.leave(tx, "realm-1", [aldwyn]), lambda _: b"")
        await game_servers.DemoGame(keeper).keep_online()
        assert not await presence_rows.is_online(keeper.store, aldwyn)
        await keeper.changes.apply(ANYBODY, lambda tx: presence.close_server(tx, "realm-1"), lambda _: b"")
        await game_servers.DemoGame(keeper).keep_online()
        assert await presence_rows.is_online(keeper.store, aldwyn)

    at_work(demo_database, work)


async def play(keeper: Keeper, game: game_servers.DemoGame, *acts: Decide[Any]) -> list[int]:
    """Carry out these acts of staff, then let the game follow the feed; return the numbers of the changes."""
    first = await last_change(keeper)
    for act in acts:
        await keeper.changes.apply(ANYBODY, act, lambda _: b"")
    numbers = list(range(first + 1, await last_change(keeper) + 1))
    await game.follow()
    return numbers


async def last_change(keeper: Keeper) -> int:
    return (await feed.read_state(keeper.store)).last


async def list_states(keeper: Keeper, numbers: Sequence[int]) -> list[tuple[str, str, str | None]]:
    found = await deliveries.read_of_changes(keeper.store, numbers)
    return [(each.server, each.state, each.reason) for each in found]


def allow(_: frozenset[str]) -> None:
    """Do not limit the credential."""


def order(name: str) -> commands.CommandRequest:
    staff = Actor(names.make_stable_id("user", world.API_ACCOUNT), world.API_ACCOUNT, frozenset(PERMISSIONS), allow)
    return commands.CommandRequest(name, staff, key_is_player=True, life_ms=60_000)


def test_game_servers_carry_out_and_acknowledge_commands(demo_database: str) -> None:
    async def work(keeper: Keeper) -> None:
        game, codec = game_servers.DemoGame(keeper), keeper.changes.codec
        await game.keep_online()
        await game.follow()
        docks = commands.Destination(world.MAPS[1].id, (3, 4))
        numbers = await play(
            keeper,
            game,
            lambda tx: moderation.kick(tx, moderation.ModerationRequest("Elowen", key_is_player=True)),
            lambda tx: commands.kill(tx, order("Halvard")),
            lambda tx: commands.warp(tx, order("Halvard"), docks, codec),
            lambda tx: commands.send_to_all(tx, {"Message": "hi"}, 60_000),
        )
        assert await list_states(keeper, numbers) == [
            *[("realm-1", "applied", None)] * 4,
            ("realm-2", "applied", None),
        ]
        assert not await presence_rows.is_online(keeper.store, names.make_stable_id("player", "Elowen"))
        stored = await players.find_record_by_fold(keeper.store, "halvard")
        assert stored
        warped = codec.decode_player(stored.document, None)
        assert (warped.map_id, warped.x, warped.y) == (world.MAPS[1].id, 3, 4)
        await game.follow()
        assert await deliveries.read_overdue(keeper.store, -60_000, 10) == []

    at_work(demo_database, work)
