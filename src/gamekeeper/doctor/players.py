"""The doctor's checks of players: document and columns, equipment and inventory, items and the audit log."""

import msgspec

from gamekeeper.doctor import bags, findings, holdings
from gamekeeper.doctor.findings import ERROR, REPAIR_ADVICE, Findings, Progress
from gamekeeper.game.codec import Codec
from gamekeeper.game.inventory import INVENTORY
from gamekeeper.game.lookup import ZERO_GUID, make_clashing_fold
from gamekeeper.game.players import Player
from gamekeeper.game.rows import make_player_columns
from gamekeeper.store import items, ledger, players
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
)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
NAME = COMPARED.index("name")


async def check(tx: Reading, found: Findings, spelling: Codec, progress: Progress) -> None:
    total, done, last = await players.count(tx), 0, ZERO_GUID
    trimmed = (await ledger.read_state(tx)).trimmed
    while page := await players.read_columns_after(tx, last, findings.PAGE_ROWS):
        slots: dict[str, list[items.PlayerSlot]] = {}
        for slot in await items.read_slots_between(tx, page[0][0], page[-1][0]):
            slots.setdefault(slot.player_id, []).append(slot)
        for row in page:
            player, held = _read_document(row, found, spelling), slots.get(row[0], [])
            if player:
                _check_columns(row, player, found, spelling)
                _check_equipment(player, {each.slot for each in held if each.place == INVENTORY}, found)
            bags.check_cycles(row[0], held, found)
        await holdings.check(tx, found, spelling, {row[0]: row[NAME] for row in page}, slots, trimmed)
        last, done = page[-1][0], done + len(page)
        progress("players", done, total)


def _read_document(row: Row, found: Findings, spelling: Codec) -> Player | None:
    try:
        return spelling.decode_player(row[-1], None)
    except (msgspec.DecodeError, ValueError) as error:
        found.add(ERROR, "documents", f"The document of player {row[0]} cannot be read: {error}. {REPAIR_ADVICE}")
        return None


def _check_columns(row: Row, player: Player, found: Findings, spelling: Codec) -> None:
    clashes = row[COMPARED.index("fold")] == make_clashing_fold(player.name, player.id)
    wanted = make_player_columns(player, spelling, clashes=clashes)
    differing = [name for name, value in zip(COMPARED, row, strict=False) if value != getattr(wanted, name)]
    if not _is_part(row[-1], wanted.document):
        differing.append("document")
    if differing:
        message = (
            f"Player {player.name} ({row[0]}): the stored document and the columns differ in {', '.join(differing)}."
        )
        found.add(ERROR, "documents", f"{message} {REPAIR_ADVICE}")


def _is_part(stored: bytes, whole: bytes) -> bool:
    """Return whether a player's stored fields equal those we would write; older versions wrote fewer fields."""
    fields = _fields.decode(stored)
    return msgspec.json.encode(fields) == stored and fields.items() <= _fields.decode(whole).items()


def _check_equipment(player: Player, filled: set[int], found: Findings) -> None:
    empty = [slot for slot in player.equipment if slot >= 0 and slot not in filled]
    if empty:
        slots = ", ".join(str(slot) for slot in empty)
        message = f"Player {player.name} ({player.id}) has equipped inventory slot {slots}, which is empty."
        cure = f"Have the game report the Equipment again: PUT /api/link/v1/players/{player.id}"
        found.add(ERROR, "equipment", f"{message} {cure}")
