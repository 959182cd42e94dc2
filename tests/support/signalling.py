"""Signals for tests: reports of a game that raise them, and what was raised."""

from typing import Any

from economics import catch_up
from game_server import put_player, stack
from gamekeeper.game.insight.signals import QUIET_MS
from people import ARROW, BOB, COIN
from world import World

ROOT = "/api/keeper/v1/signals"
SIGNAL_ID = "00000000-0000-4000-8000-0000000051a1"
TABLES = ("signals", "signal_counts", "item_growth", "player_gains")


def report(world: World, quantity: int, player_id: str = BOB.id, item_id: str = COIN.id, slot: int = 20) -> None:
    """Report as a game that a player has so many of an item in one slot; 0: none."""
    assert put_player(world, player_id, {"Items": [stack(slot, item_id, quantity)] if quantity else []}).status == 200


def list_signals(world: World, query: str = "") -> list[dict[str, Any]]:
    return world.get(f"{ROOT}{query}").json["Signals"]


def find_signal(world: World) -> dict[str, Any]:
    """Count everything, and return the only signal."""
    catch_up(world)
    (found,) = list_signals(world)
    return found


def list_rules(world: World, query: str = "") -> list[str]:
    """Count everything, and return the rules of the signals, newest first."""
    catch_up(world)
    return [each["Rule"] for each in list_signals(world, query)]


def age_ledger(world: World, milliseconds: int = 2 * QUIET_MS) -> None:
    """Make all changes and signals older, and count the changes anew at their new times."""
    world.sql("UPDATE ledger SET at = at - $1", milliseconds)
    world.sql("UPDATE signals SET first_at = first_at - $1, last_at = last_at - $1", milliseconds)
    for table, column in (("item_growth", "slot"), ("player_gains", "slot")):
        world.sql(f"UPDATE {table} SET {column} = {column} - $1", milliseconds // 600_000)  # noqa: S608 - ours


def insert_signal(world: World, signal_id: str = SIGNAL_ID) -> None:
    """Insert an open signal with a known id, unless it is there: its subject is an item."""
    about = {"rule": "supply", "subject": ARROW.id, "item_id": ARROW.id, "times": 1, "evidence": "{}", "state": "open"}
    world.sql("DELETE FROM signals WHERE id = $1", signal_id)
    world.insert("signals", id=signal_id, first_at=0, last_at=0, **about)
    world.sql("DELETE FROM signal_counts WHERE rule = 'supply'")
    world.insert("signal_counts", rule="supply", raised=1, opened=1)
