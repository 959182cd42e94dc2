"""Entries of the demo's logs: log-ins of the last days with addresses, and some trades."""

import msgspec

from gamekeeper.demo import world
from gamekeeper.demo.names import make_stable_id
from gamekeeper.store.catalogue import CatalogueItem
from gamekeeper.store.logs import NO_ID, ActivityEntry, TradeEntry

HOUR_MS = 60 * 60 * 1000
DAYS = 3  # days with a log-in of each account
SHARED_ADDRESS = "203.0.113.40"  # two accounts play from the same house
SHARERS = frozenset({"Marlow", "Sunniva"})
# party, other party, what the party gave and what it got
TRADES: tuple[tuple[str, str, tuple[CatalogueItem, int], tuple[CatalogueItem, int]], ...] = (
    ("Aldwyn", "Dorrick", (world.DRAUGHT, 2), (world.COIN, 40)),
    ("Elowen", "Aldwyn", (world.HERB, 12), (world.COIN, 18)),
    ("Farrokh", "Brisela", (world.GEM, 1), (world.SWORD, 1)),
)


def build_logs(now_ms: int) -> tuple[list[ActivityEntry], list[TradeEntry]]:
    """Build the entries of both logs, up to an hour before now."""
    owners = {player: name for name, held in world.ACCOUNTS.items() for player in held}
    activity = [
        entry
        for number, (name, held) in enumerate(world.ACCOUNTS.items())
        for day in range(DAYS)
        for entry in _build_session(name, held[day % len(held)], number, day, now_ms)
    ]
    trades = [
        entry
        for number, (one, other, gave, got) in enumerate(TRADES)
        for entry in (
            _build_side(number, owners[one], (one, other), gave, got, now_ms - (20 * number + 1) * HOUR_MS),
            _build_side(number, owners[other], (other, one), got, gave, now_ms - (20 * number + 1) * HOUR_MS),
        )
    ]
    failed_id, failed_at = make_stable_id("activity", "failed"), now_ms - 30 * HOUR_MS
    failed = ActivityEntry(failed_id, failed_at, NO_ID, None, "FailedLogin", "Client", "198.51.100.23", "Marlowe")
    return [*activity, failed], trades


def _build_session(name: str, player: str, number: int, day: int, now_ms: int) -> list[ActivityEntry]:
    start_ms = now_ms - (24 * day + 2 + number % 5) * HOUR_MS
    address = SHARED_ADDRESS if name in SHARERS else f"203.0.113.{100 + number}"
    user_id, player_id = make_stable_id("user", name), make_stable_id("player", player)
    return [
        ActivityEntry(
            make_stable_id("activity", f"{name} {day} {action}"),
            start_ms + minutes * 60_000,
            user_id,
            None if action == "Login" else player_id,
            action,
            "Client",
            address,
            None if action == "Login" else f"{name},{player}",
        )
        for minutes, action in ((0, "Login"), (1, "SelectPlayer"), (55, "DisconnectLogout"))
    ]


def _build_side(
    number: int,
    owner: str,
    parties: tuple[str, str],
    gave: tuple[CatalogueItem, int],
    got: tuple[CatalogueItem, int],
    at: int,
) -> TradeEntry:
    party, other = (make_stable_id("player", each) for each in parties)
    trade_id, entry_id = make_stable_id("trade", str(number)), make_stable_id("trade", f"{number} {parties[0]}")
    return TradeEntry(
        entry_id, trade_id, at, make_stable_id("user", owner), party, other, None, _encode(gave), _encode(got)
    )


def _encode(given: tuple[CatalogueItem, int]) -> str:
    item, quantity = given
    return msgspec.json.encode(
        [{"ItemId": item.id, "Quantity": quantity, "BagId": None, "StatBuffs": [0, 0, 0, 0, 0]}]
    ).decode()
