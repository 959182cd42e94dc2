"""The rules by which changes are undone: rooms register them. And the data of one undo, which all rules receive."""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from msgspec import Struct

from gamekeeper.game.core.change import Actor, Change, ChangeSide, Codec
from gamekeeper.game.core.player import Capacity, Player
from gamekeeper.game.core.refusals import Conflict
from gamekeeper.store.audit import history
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Locking, Reading
from gamekeeper.store.players import players

# An earlier state also needs reading changes that are not reverted: at most the number of reverted ones times this
SKIP_FACTOR = 10


class UndoConflict(Conflict):
    """Change {seq} can no longer be undone: {why}. Nothing was changed."""


class UndoContext(Struct, frozen=True):
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
R = TypeVar("R", bound=Rule)
RULES: dict[str, Rule] = {}  # kind of change → the rule by which an undo makes its changes


def undoes(*kinds: str) -> Callable[[R], R]:
    """Register a function as the rule by which changes of these kinds are undone."""

    def register(rule: R) -> R:
        RULES.update(dict.fromkeys(kinds, rule))
        return rule

    return register


async def lock_player(tx: Reading, context: UndoContext) -> Player:
    found = await players.lock_by_id(tx, context.player_id)
    if found is None:
        raise context.make_conflict("the player was deleted since")
    return context.codec.decode_player(found.document, found.last_online)


def read_side(stored: bytes | str | None, codec: Codec) -> ChangeSide:
    return codec.decode_side(stored) if stored else ChangeSide()


async def find_undone(tx: Reading, numbers: Iterable[int]) -> dict[int, int]:
    """Return which of these changes are undone, and by which change. An undo that was itself undone does not count."""
    wanted = list(numbers)
    return history.resolve_undos(await history.find_undos(tx, wanted), wanted)
