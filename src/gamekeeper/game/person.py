"""Deleting an account is erasing a person: what is known of them goes, what the game counts stays.

The characters go with all they hold. In the ledger rows about the account and its characters, names, addresses and
reasons are taken out; numbers, times and quantities stay, so that the ledger goes on adding up.

There may be millions of these rows: the erasure masks them for every reader, and `erasing.py` blanks them afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gamekeeper.game import characters, lookup
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import PlayerDeleted, UserDeleted
from gamekeeper.game.refusals import OwnAccount
from gamekeeper.game.spelling import Spelling
from gamekeeper.store import ledger, players
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User

COUNTED_MOST = 10_000  # changes that a summary of an erasure counts


@dataclass(frozen=True, slots=True)
class Erased:
    user: User  # as it was
    characters: Sequence[str]  # their names
    changes: int  # about them, counted up to COUNTED_MOST


async def erase(tx: Reading, key: str, spelling: Spelling, caller: str | None) -> Decision[Erased]:
    """Refused while one of the characters is online, and to the account itself: nobody could repeat the request."""
    user = await lookup.locked_user_record(tx, key)
    if user.id == caller:
        raise OwnAccount(act="delete")
    held = await players.lock_all_of_user(tx, user.id)
    gone = [await _deleted(tx, each, spelling) for each in held]
    ids = sorted({*held, *await ledger.find_deleted_of_user(tx, user.id)})
    changes = await ledger.count_about(tx, user.id, ids, COUNTED_MOST)
    names = [name for name, _ in gone]
    deleted = UserDeleted(user, await ledger.read_last(tx), ids)
    nobody = user._replace(name="", email="", mute_reason=None, ban_reason=None, reset_code=None)
    changed = [*(change for _, change in gone), deleted]
    # the answer that is kept has no names and refers to no account, so that the job leaves it alone
    kept, unnamed = Erased(nobody, [], 0), (user.name, user.email, *names)
    shown = repr((user.name, user.email, user.powers, user.mute_reason, user.ban_reason, names))
    result = Erased(user, names, changes)
    return Decision(changed, result, about=(None, None), kept=kept, unnamed=unnamed, shown=shown)


async def _deleted(tx: Reading, player_id: str, spelling: Spelling) -> tuple[str, PlayerDeleted]:
    """The name, and the change without it. Fields of a newer version go too: they may be personal data."""
    _, change = await characters.deleted(tx, player_id, spelling)
    return change.player.name, replace(change, player=replace(change.player, name="", unknown={}))
