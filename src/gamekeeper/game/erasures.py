"""Deleting an account is erasing a person: what is known of them goes, what the game counts stays.

The characters go with all they hold. In the ledger rows about the account and its characters, names, addresses and
reasons are taken out; numbers, times and quantities stay, so that the ledger goes on adding up.

There may be millions of these rows: the erasure masks them for every reader, and `erasing.py` blanks them afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gamekeeper.game import lookup, player_edits
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import Codec
from gamekeeper.game.effects import PlayerDeleted, UserDeleted
from gamekeeper.game.refusals import OwnAccount
from gamekeeper.store import ledger, players
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User

MOST_COUNTED = 10_000  # changes that a summary of an erasure counts


@dataclass(frozen=True, slots=True)
class ErasureSummary:
    user: User  # as it was
    characters: Sequence[str]  # their names
    changes: int  # about them, counted up to COUNTED_MOST


async def erase(tx: Reading, key: str, codec: Codec, caller: str | None) -> Decision[ErasureSummary]:
    """Refused while one of the characters is online, and to the account itself: nobody could repeat the request."""
    user = await lookup.lock_user_record(tx, key)
    if user.id == caller:
        raise OwnAccount(act="delete")
    held = await players.lock_all_of_user(tx, user.id)
    gone = [await _plan_player_deletion(tx, each, codec) for each in held]
    ids = sorted({*held, *await ledger.find_deleted_of_user(tx, user.id)})
    changes = await ledger.count_about(tx, user.id, ids, MOST_COUNTED)
    names = [name for name, _ in gone]
    deleted = UserDeleted(user, await ledger.read_last(tx), ids)
    nobody = user._replace(name="", email="", mute_reason=None, ban_reason=None, reset_code=None)
    changed = [*(change for _, change in gone), deleted]
    # the answer that is kept has no names and refers to no account, so that the job leaves it alone
    kept, unnamed = ErasureSummary(nobody, [], 0), (user.name, user.email, *names)
    shown = repr((user.name, user.email, user.powers, user.mute_reason, user.ban_reason, names))
    result = ErasureSummary(user, names, changes)
    return Decision(changed, result, subject=(None, None), stored_result=kept, erased_names=unnamed, preview=shown)


async def _plan_player_deletion(tx: Reading, player_id: str, codec: Codec) -> tuple[str, PlayerDeleted]:
    """The name, and the change without it. Fields of a newer version go too: they may be personal data."""
    _, change = await player_edits.plan_deletion(tx, player_id, codec)
    return change.player.name, replace(change, player=replace(change.player, name="", unknown={}))
