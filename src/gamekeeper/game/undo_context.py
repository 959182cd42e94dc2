"""One undo under way, as the rules of undo.py and account_undo.py get it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.effects import Change
from gamekeeper.game.inventory import Capacity
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import UndoConflict
from gamekeeper.store import players
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange


class Actor(NamedTuple):
    """Whoever asks."""

    id: str
    name: str
    require: Callable[[frozenset[str]], None]  # refuses when they lack one of these roles and powers


@dataclass(frozen=True, slots=True)
class UndoContext:
    """The change that is to be taken back with both its sides, and whoever asks."""

    change: HistoryChange
    before: ChangeSide
    after: ChangeSide
    codec: Codec
    room: Capacity
    actor: Actor
    trade_ms: int  # within which another player's gain counts as the same item; 0: not looked for
    undo_chain: frozenset[
        int
    ]  # the change that was made in the first place, what took it back, what took that back, and so on

    def make_conflict(self, why: str) -> UndoConflict:
        return UndoConflict(seq=self.change.seq, why=why)

    @property
    def player_id(self) -> str:
        return self.change.player_id or ""

    @property
    def user_id(self) -> str:
        return self.change.user_id or ""


Rule = Callable[[Reading, UndoContext], Coroutine[Any, Any, list[Change]]]


async def lock_player(tx: Reading, context: UndoContext) -> Player:
    found = await players.lock_by_id(tx, context.player_id)
    if found is None:
        raise context.make_conflict("the player is not there any more")
    return context.codec.decode_player(found.document, found.last_online)


def read_side(stored: bytes | str | None, codec: Codec) -> ChangeSide:
    return codec.decode_side(stored) if stored else ChangeSide()
