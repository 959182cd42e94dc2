"""Players: the stored document against the columns, and equipment against the inventory."""

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, UNDO, Findings, Progress
from gamekeeper.game.lookup import ZERO, clashing_fold
from gamekeeper.game.players import Player
from gamekeeper.game.rows import columns
from gamekeeper.game.spelling import Spelling
from gamekeeper.store import items, players
from gamekeeper.store.engine import Reading, Row

COMPARED = (
    "id",
    "user_id",
    "name",
    "fold",
    "level",
    "exp",
    "class_id",
    "map_id",
    "created_at",
    "play_time",
    "document",
)


async def check(tx: Reading, found: Findings, spelling: Spelling, progress: Progress) -> None:
    total, done, last = await players.count(tx), 0, ZERO
    while page := await players.columns_after(tx, last, findings.PAGE):
        filled = await items.inventory_slots_between(tx, page[0][0], page[-1][0])
        for row in page:
            player = _read(row, found, spelling)
            if player:
                _check_columns(row, player, found, spelling)
                _check_equipment(player, filled.get(player.id, set()), found)
        last, done = page[-1][0], done + len(page)
        progress("players", done, total)


def _read(row: Row, found: Findings, spelling: Spelling) -> Player | None:
    try:
        return spelling.read_player(row[-1], None)
    except (msgspec.DecodeError, ValueError) as error:
        found.add(ERROR, "documents", f"The document of player {row[0]} cannot be read: {error}. {UNDO}")
        return None


def _check_columns(row: Row, player: Player, found: Findings, spelling: Spelling) -> None:
    clashes = row[COMPARED.index("fold")] == clashing_fold(player.name, player.id)
    wanted = columns(player, spelling, clashes=clashes)
    differing = [name for name, value in zip(COMPARED, row, strict=True) if value != getattr(wanted, name)]
    if differing:
        message = (
            f"Player {player.name} ({row[0]}): the stored document and the columns differ in {', '.join(differing)}."
        )
        found.add(ERROR, "documents", f"{message} {UNDO}")


def _check_equipment(player: Player, filled: set[int], found: Findings) -> None:
    empty = [slot for slot in player.equipment if slot >= 0 and slot not in filled]
    if empty:
        slots = ", ".join(str(slot) for slot in empty)
        message = f"Player {player.name} ({player.id}) has equipped inventory slot {slots}, where nothing is."
        cure = f"Have the game report the Equipment anew: PUT /api/link/v1/players/{player.id}"
        found.add(ERROR, "equipment", f"{message} {cure}")
