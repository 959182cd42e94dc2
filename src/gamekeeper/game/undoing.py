"""One undo under way, as the rules of undo.py and account_undo.py get it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from gamekeeper.game.effects import Change
from gamekeeper.game.inventory import Sizes
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import UndoConflict
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.store import players
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange


class Actor(NamedTuple):
    """Whoever asks."""

    id: str
    name: str
    require: Callable[[frozenset[str]], None]  # refuses when they lack one of these roles and powers


@dataclass(frozen=True, slots=True)
class Undoing:
    """The change that is to be taken back with both its sides, and whoever asks."""

    told: HistoryChange
    before: Trace
    after: Trace
    spelling: Spelling
    room: Sizes
    actor: Actor
    trade_ms: int  # within which another player's gain counts as the same item; 0: not looked for
    kin: frozenset[
        int
    ]  # the change that was made in the first place, what took it back, what took that back, and so on

    def conflict(self, why: str) -> UndoConflict:
        return UndoConflict(seq=self.told.seq, why=why)

    @property
    def player_id(self) -> str:
        return self.told.player_id or ""

    @property
    def user_id(self) -> str:
        return self.told.user_id or ""


Rule = Callable[[Reading, Undoing], Coroutine[Any, Any, list[Change]]]


async def locked(tx: Reading, undoing: Undoing) -> Player:
    found = await players.lock_by_id(tx, undoing.player_id)
    if found is None:
        raise undoing.conflict("the player is not there any more")
    return undoing.spelling.read_player(found.document, found.last_online)


def side(stored: bytes | str | None, spelling: Spelling) -> Trace:
    return spelling.read_trace(stored) if stored else Trace()
