"""Ordered lists: add and delete many players, and compare every page with ORDER BY."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from gamekeeper.game.core.player import Player
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.lists.list_index import LISTS
from gamekeeper.game.lists.ordered_lists import ListsView
from gamekeeper.game.players import changes
from gamekeeper.store.accounts.users import User
from gamekeeper.store.core import ordered_lists as stored
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import players
from people import USER_IDS, guid
from world import World

IN_ORDER = {
    "rank": "SELECT CAST(id AS TEXT) FROM players ORDER BY level, exp, id",
    "names": "SELECT CAST(id AS TEXT) FROM players ORDER BY fold",
    "users": "SELECT CAST(id AS TEXT) FROM users ORDER BY fold",
    "emails": "SELECT CAST(id AS TEXT) FROM users ORDER BY email_fold",
    "online": "SELECT CAST(p.id AS TEXT) FROM players p JOIN presence o ON o.player_id = p.id ORDER BY p.fold",
    "online_rank": "SELECT CAST(p.id AS TEXT) FROM players p JOIN presence o ON o.player_id = p.id "
    "ORDER BY p.level, p.exp, p.id",
}
CHECKPOINT = 40


def agrees(world: World) -> bool:
    """Compare every ordered list with ORDER BY: its count, and its pages of two sizes, also beyond the end."""
    for listing in LISTS:
        wanted = [row[0] for row in world.sql(IN_ORDER[listing.name])]
        for descending in (False, True):
            expected = wanted[::-1] if descending else wanted
            for size in (7, 100):
                for offset in range(0, len(wanted) + size + 1, size):
                    total, found = page(world, listing, offset, size, descending=descending)
                    assert (listing.name, total) == (listing.name, len(wanted))
                    assert [read_id(each) for each in found] == expected[offset : offset + size], (listing.name, offset)
    return True


def read_id(record: Any) -> str:
    """Return the id of an account, or of a player's row, whose document has it."""
    return record.id if isinstance(record, User) else json.loads(record[0])["Id"]


def page(world: World, listing: Any, offset: int, limit: int, *, descending: bool = False) -> tuple[int, list[Any]]:
    return world.run(world.keeper.lists.load_page(listing, offset, limit, descending=descending))


def crowd(numbers: Sequence[int]) -> list[Player]:
    """Make players with names in several alphabets, not in rank order, and with many ties in rank."""
    return [
        Player(
            guid(0x2000 + number),
            USER_IDS["Bob"],
            f"{'NéЖ😀'[number % 4]}{number * 37 % 1000:03}",
            level=1 + number % 7,
            exp=number % 3,
        )
        for number in numbers
    ]


def columns(world: World, numbers: Sequence[int]) -> list[players.PlayerColumns]:
    return [changes.make_player_columns(each, world.keeper.changes.codec) for each in crowd(numbers)]


async def insert(world: World, made: Iterable[Player]) -> None:
    async def work(tx: Writing) -> None:
        players.insert(tx, [changes.make_player_columns(each, world.keeper.changes.codec) for each in made])

    await world.keeper.store.write(work)


def add(world: World, numbers: Sequence[int]) -> None:
    world.run(insert(world, crowd(numbers)))


async def load(world: World, numbers: Sequence[int]) -> None:
    """Insert players as a bulk load does: without a row in list_changes for each, from which lists are updated."""

    async def past_the_log(tx: Writing) -> None:
        await stored.begin_bulk_load(tx)
        players.load(tx, columns(world, numbers))
        await stored.end_bulk_load(tx)

    await world.keeper.store.write(past_the_log)


def tend(world: World) -> None:
    world.run(world.keeper.lists.maintain())


def rebuild(world: World) -> None:
    world.run(world.keeper.lists.rebuild())


def view(world: World) -> ListsView | None:
    return world.run(world.keeper.store.read(ordered_lists.load_view))


def sizes(world: World, listing: Any) -> list[int]:
    found = view(world)
    assert found
    return [count for block in found.indexes[listing.name].blocks for count in block.counts]


def read_checkpoint(world: World) -> stored.ListCheckpoint:
    return world.run(stored.read_checkpoint(world.keeper.store))


def count_log_rows(world: World) -> int:
    return world.sql("SELECT COUNT(*) FROM list_changes")[0][0]


def level_up(world: World, numbers: Sequence[int]) -> None:
    first, last = guid(0x2000 + numbers[0]), guid(0x2000 + numbers[-1])
    world.sql("UPDATE players SET level = level + 7 WHERE id BETWEEN $1 AND $2", first, last)


def delete(world: World, player_id: str) -> None:
    world.sql("DELETE FROM players WHERE id = $1", player_id)
