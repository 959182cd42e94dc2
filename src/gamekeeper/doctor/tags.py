"""The doctor's check of tags: compares the audit log with the table."""

from collections.abc import Iterable

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, REPAIR_ADVICE, Findings
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http.wire.sides import TagsSide
from gamekeeper.store import ledger, notes, presence
from gamekeeper.store.engine import Reading

Tags = dict[tuple[str, str], list[str]]  # account and player, or the zero guid → tags in order
_decode_side = msgspec.json.Decoder(TagsSide).decode


async def check(tx: Reading, found: Findings) -> None:
    """Check that each account and player has the tags of its newest audit log entry."""
    told, held = await _read_told(tx, found), await _read_held(tx)
    trimmed = (await ledger.read_state(tx)).trimmed
    wrong = sorted(each for each in told.keys() | held.keys() if told.get(each, []) != held.get(each, []))
    # the audit log entry of a tag may be trimmed
    wrong = [each for each in wrong if each in told or not trimmed]
    # tags of a player are erased with its last account, and the audit log entry belongs to the account of that time
    erased = await _find_missing(tx, {player for user, player in wrong if (user, player) not in held})
    for user_id, player_id in wrong:
        if (user_id, player_id) in held or player_id not in erased:
            whose = f"account {user_id}" if player_id == ZERO_GUID else f"player {player_id} of account {user_id}"
            found.add(ERROR, "tags", f"The tags of {whose} differ from the audit log. {REPAIR_ADVICE}")


async def _read_told(tx: Reading, found: Findings) -> Tags:
    told: Tags = {}
    seq = 0
    while page := await notes.read_tag_changes_after(tx, seq, findings.PAGE_ROWS):
        for seq, user_id, after in page:
            try:
                side = _decode_side(after)
            except msgspec.DecodeError as error:
                found.add(ERROR, "tags", f"Change {seq} of the audit log cannot be read: {error}. {REPAIR_ADVICE}")
                continue
            told[user_id, side.PlayerId or ZERO_GUID] = side.Tags or []
    return told


async def _read_held(tx: Reading) -> Tags:
    held: Tags = {}
    last = (ZERO_GUID, ZERO_GUID, "")
    while page := await notes.read_all_tags_after(tx, last, findings.PAGE_ROWS):
        for user_id, player_id, tag in page:
            held.setdefault((user_id, player_id), []).append(tag)
        last = page[-1]
    return {whose: sorted(tags) for whose, tags in held.items()}


async def _find_missing(tx: Reading, player_ids: Iterable[str]) -> set[str]:
    """Return which of these players do not exist."""
    wanted = {*player_ids} - {ZERO_GUID}
    return wanted - await presence.find_known_players(tx, wanted) if wanted else set()
