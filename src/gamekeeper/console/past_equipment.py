"""What a player had equipped at an earlier moment. The first later change of the equipment tells it."""

from typing import NamedTuple, cast

from gamekeeper.game import history
from gamekeeper.game.codec import Codec
from gamekeeper.game.history import Pause, PointInTime
from gamekeeper.game.players import Player
from gamekeeper.http.wire.players import PLAYER_ATTRIBUTES
from gamekeeper.store import history as history_rows
from gamekeeper.store.engine import Reading

ATTRIBUTE = "equipment"
FIELD = next(name for name, attribute in PLAYER_ATTRIBUTES.items() if attribute == ATTRIBUTE)
WINDOW_ROWS = 500  # changes of the player that one statement reads, which takes a few milliseconds
MOST_WINDOWS = 10  # windows read for one moment; most changes of an active player are reports of its position


class PastEquipment(NamedTuple):
    slots: tuple[int, ...] = ()
    is_known: bool = True


async def load_equipment(
    tx: Reading, player: Player, moment: PointInTime, spelling: Codec, rest: Pause
) -> PastEquipment:
    """Load what the player had equipped. `player` has the present equipment, or that before its deletion."""
    if moment == PointInTime():
        return PastEquipment(player.equipment)
    cursor = await history.find_last_kept(tx, player.id, moment)
    for _ in range(MOST_WINDOWS):
        steps = await history_rows.read_record_before(tx, player.id, cursor, FIELD, WINDOW_ROWS)
        for seq, before in steps:
            cursor = seq
            known = spelling.decode_side(before).player.get(ATTRIBUTE) if before else None
            if isinstance(known, tuple):
                return PastEquipment(cast("tuple[int, ...]", known))
        if len(steps) < WINDOW_ROWS:
            return PastEquipment(player.equipment)  # no later change of the equipment: it is still the same
        await rest()
    return PastEquipment(is_known=False)
