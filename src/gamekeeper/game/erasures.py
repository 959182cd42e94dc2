"""Deletion of an account: it erases all personal data, and keeps the quantities that the audit log adds up.

The account's players are deleted with all their items. Names, email addresses and reasons are removed from the audit
log entries about the account and its players; numbers, times and quantities stay.

There may be millions of entries: the erasure masks them for every reader, and `erasure_jobs.py` blanks them later.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from gamekeeper.game import lookup, moderation, player_edits, staff
from gamekeeper.game.account_effects import UserDeleted
from gamekeeper.game.actors import Actor, make_outranked, read_permissions
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import Attachments, Codec
from gamekeeper.game.player_effects import PlayerDeleted
from gamekeeper.game.refusals import OwnAccount
from gamekeeper.store import api_keys, ledger, players
from gamekeeper.store import erasures as erasure_rows
from gamekeeper.store.engine import Locking
from gamekeeper.store.users import User

# limit up to which an erasure's summary counts audit log entries: counting millions would be slow
MAX_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class ErasureSummary:
    user: User  # the account before its erasure
    characters: Sequence[str]  # names of the players that the erasure deleted
    changes: int  # number of audit log entries about the account and its players, at most MAX_COUNTED


async def erase(tx: Locking, key: str, codec: Codec, actor: Actor | None) -> Decision[ErasureSummary]:
    """Erase an account. Refused while one of its players is online.

    `actor`: the caller, who must not be outranked by the account; None: the command line. An account cannot erase
    itself: it could not retry the request after a lost answer.
    """
    user = await lookup.lock_user_record(tx, key)
    if actor is not None:
        if user.id == actor.id:
            raise OwnAccount(act="delete")
        if not moderation.can_act_on(await read_permissions(tx, actor), user):
            raise make_outranked(user)
    held = await players.lock_all_of_user(tx, user.id)
    await staff.require_manager_left(tx, await staff.lock_if_staff(tx, user), None)
    gone = [await _plan_player_deletion(tx, each, codec) for each in held]
    ids = sorted({*held, *await ledger.find_deleted_of_user(tx, user.id)})
    changes = await ledger.count_about(tx, user.id, ids, MAX_COUNTED)
    names = [name for name, _ in gone]
    keys = await api_keys.read_ids_of_user(tx, user.id)
    own = {user.name, *names, *await erasure_rows.read_account_names(tx, user.id)}
    deleted = UserDeleted(user, await ledger.read_last(tx), ids, keys, lookup.list_spellings(own))
    anonymous = user._replace(name="", email="", mute_reason=None, ban_reason=None, reset_code=None)
    changed = [*(change for _, change in gone), deleted]
    # the stored answer to an erasure has no names and belongs to no account, so the erasure job does not blank it
    kept, unnamed = ErasureSummary(anonymous, [], 0), (user.name, user.email, *names)
    shown = repr((user.name, user.email, user.powers, user.grants.roles, user.mute_reason, user.ban_reason, names))
    result = ErasureSummary(user, names, changes)
    return Decision(changed, result, subject=(None, None), stored_result=kept, erased_names=unnamed, preview=shown)


async def _plan_player_deletion(tx: Locking, player_id: str, codec: Codec) -> tuple[str, PlayerDeleted]:
    """Return a player's name, and its deletion without its name, texts and unknown fields, which may be personal."""
    _, change = await player_edits.plan_deletion(tx, player_id, codec)
    state = structs.replace(change.state, attached=Attachments())
    return change.player.name, replace(change, player=structs.replace(change.player, name="", unknown={}), state=state)
