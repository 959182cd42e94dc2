"""The data of one undo, which all undo rules receive."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from gamekeeper.game.access.permissions import Actor
from gamekeeper.game.audit.refusals import UndoConflict
from gamekeeper.game.core.change import Change, ChangeSide, Codec
from gamekeeper.game.players.inventory import Capacity
from gamekeeper.game.players.players import Player
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import players


@dataclass(frozen=True, slots=True)
class UndoContext:
    """The change to undo, its state before and after, and the account that asks for the undo."""

    change: HistoryChange
    before: ChangeSide
    after: ChangeSide
    codec: Codec
    room: Capacity
    actor: Actor
    # milliseconds: another player's gain of the item within this time counts as a trade; 0: do not search for trades
    trade_ms: int
    undo_chain: frozenset[int]  # numbers of the undone change, its undos, the undos of those, and so on

    def make_conflict(self, why: str) -> UndoConflict:
        return UndoConflict(seq=self.change.seq, why=why)

    @property
    def player_id(self) -> str:
        return self.change.player_id or ""

    @property
    def user_id(self) -> str:
        return self.change.user_id or ""


Rule = Callable[[Locking, UndoContext], Coroutine[Any, Any, list[Change]]]


async def lock_player(tx: Reading, context: UndoContext) -> Player:
    found = await players.lock_by_id(tx, context.player_id)
    if found is None:
        raise context.make_conflict("the player was deleted since")
    return context.codec.decode_player(found.document, found.last_online)


def read_side(stored: bytes | str | None, codec: Codec) -> ChangeSide:
    return codec.decode_side(stored) if stored else ChangeSide()
