"""Delivery states: for each change, which game servers must know of it, and how far each has got.

The states are derived when they are read: from deliveries, from the cursors of the change feed and from the receipts
(`AppliedSeq`) of game servers. Nothing is written for a change that is no command.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gamekeeper.store import deliveries
from gamekeeper.store.deliveries import APPLIED, WAITING, Delivery, ServerReceipt
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange
from gamekeeper.store.kinds import COMMANDS, SIGNALS, STATE_COMMANDS, WITHOUT_PLAYER

SENT, EXPIRED, NOT_NEEDED = "sent", "expired", "not_needed"  # derived states; the others are stored
STATES = (WAITING, SENT, APPLIED, deliveries.FAILED, deliveries.UNKNOWN, EXPIRED, NOT_NEEDED)
FOR_ALL = frozenset(WITHOUT_PLAYER) - {*COMMANDS, *SIGNALS}  # kinds of changes that every game server must know
MOST_SERVERS = 100  # game servers listed for a change that all of them must know
FindCursor = Callable[[str], int]  # name of a game server → change number up to which it has read the feed


class DeliveryState(NamedTuple):
    """How far one game server has got with one change."""

    server: str
    state: str
    reason: str | None = None  # what the game says about it
    at: int | None = None  # when the game server acknowledged it, or when it expired; None: not known
    seconds: float | None = None  # from the request to the acknowledgement


States = Mapping[int, Sequence[DeliveryState]]  # number of a change → its states; missing: no game server needs it
NO_STATES: States = MappingProxyType({})


def ignore_cursors(_server: str) -> int:
    """Return 0 for each game server: for callers that know only the stored cursors."""
    return 0


async def load_states(
    tx: Reading, changes: Iterable[HistoryChange], find_cursor: FindCursor = ignore_cursors
) -> States:
    """Load the delivery states of a page of changes, with a fixed number of queries.

    `find_cursor`: how far game servers have read the feed at this process; the stored cursors may be older.
    """
    told = [each for each in changes if not each.over_link or each.kind in COMMANDS]
    commands = {each.seq: each for each in told if each.kind in COMMANDS}
    for_all = [each.seq for each in told if each.kind in FOR_ALL]
    player_ids = {each.player_id for each in told if each.player_id is not None}
    online = await deliveries.read_player_receipts(tx, player_ids) if player_ids else {}
    found = await deliveries.read_of_changes(tx, commands) if commands else []
    cursors = await _load_cursors(tx, found, find_cursor)
    states: dict[int, list[DeliveryState]] = {}
    for each in found:
        player_id = commands[each.seq].player_id
        receipt = online.get(player_id) if player_id else None
        left = player_id is not None and (receipt is None or receipt.server != each.server)
        is_moot = left and commands[each.seq].kind in STATE_COMMANDS
        states.setdefault(each.seq, []).append(_find_command_state(each, cursors, is_moot=is_moot))
    for change in told:
        receipt = online.get(change.player_id) if change.player_id and change.kind not in COMMANDS else None
        if receipt:
            states[change.seq] = [_find_change_state(change.seq, receipt, find_cursor)]
    if for_all:
        servers = await deliveries.read_leased(tx, MOST_SERVERS)
        states |= {seq: [_find_change_state(seq, each, find_cursor) for each in servers] for seq in for_all}
    return states


async def _load_cursors(tx: Reading, found: Iterable[Delivery], find_cursor: FindCursor) -> dict[str, int]:
    """Load how far game servers have read the feed, if one of their deliveries waits."""
    waiting = {each.server for each in found if each.state == WAITING}
    stored = await deliveries.read_cursors(tx, waiting) if waiting else {}
    return {each: max(stored.get(each, 0), find_cursor(each)) for each in waiting}


def _find_command_state(each: Delivery, cursors: Mapping[str, int], *, is_moot: bool) -> DeliveryState:
    """Find the state of a command. `is_moot`: the player has left the game server, which need not know it any more."""
    if each.state != WAITING:
        seconds = None if each.acked_at is None else max(0, each.acked_at - each.queued_at) / 1000
        return DeliveryState(each.server, each.state, each.reason, each.acked_at, seconds)
    if each.expired:
        return DeliveryState(each.server, EXPIRED, at=each.expires_at)
    if is_moot:
        return DeliveryState(each.server, NOT_NEEDED)
    return DeliveryState(each.server, SENT if cursors[each.server] >= each.seq else WAITING)


def _find_change_state(seq: int, receipt: ServerReceipt, find_cursor: FindCursor) -> DeliveryState:
    if receipt.applied_seq >= seq:
        return DeliveryState(receipt.server, APPLIED)
    is_sent = max(receipt.sent_seq, find_cursor(receipt.server)) >= seq
    return DeliveryState(receipt.server, SENT if is_sent else WAITING)
