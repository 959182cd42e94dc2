"""Erasure of an account: its deletion, and the background job that blanks old data about it.

The deletion erases all personal data, and keeps the quantities that the audit log adds up. The job blanks old changes,
stored answers, events and log entries in batches.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct, structs

from gamekeeper.game.access import permissions
from gamekeeper.game.accounts.changes import UserDeleted
from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Erasure, Job
from gamekeeper.game.core.change import Actor, Attachments, Codec
from gamekeeper.game.core.refusals import OwnAccount
from gamekeeper.game.core.writes import CoreKeeper, Decision, erase_names
from gamekeeper.game.players import player_edits
from gamekeeper.game.players.changes import PlayerDeleted
from gamekeeper.ground import rooms
from gamekeeper.store.access import api_keys
from gamekeeper.store.accounts import erasures
from gamekeeper.store.accounts import moderation as moderation_rows
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit.history import NEVER
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Locking, Reading, Store, Writing
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.players import players
from gamekeeper.store.world import feed

# limit up to which an erasure's summary counts audit log entries: counting millions would be slow
MAX_COUNTED = 10_000


class ErasureSummary(Struct, frozen=True):
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
        await permissions.require_reach(tx, user, actor)
    held = [row[0] for row in await tx.all(players.SQL.lock_of_user, user.id)]
    await permissions.require_manager_left(tx, await permissions.lock_if_staff(tx, user), None)
    gone = [await _plan_player_deletion(tx, each, codec) for each in held]
    ids = sorted({*held, *await ledger.find_deleted_of_user(tx, user.id)})
    changes = await ledger.count_about(tx, user.id, ids, MAX_COUNTED)
    names = [name for name, _ in gone]
    keys = await api_keys.read_ids_of_user(tx, user.id)
    own = {user.name, *names, *erasures.collect_names(await tx.all(erasures.SQL.account_names, user.id))}
    unnamed = (*sorted(own), user.email)  # the background job removes former names of players
    deleted = UserDeleted(user, await ledger.read_last(tx), ids, keys, lookup.list_spellings(own))
    anonymous = user._replace(name="", email="", mute_reason=None, ban_reason=None, reset_code=None)
    changed = [*(change for _, change in gone), deleted]
    # the stored answer to an erasure has no names and belongs to no account, so the erasure job does not blank it
    kept = ErasureSummary(anonymous, [], 0)
    shown = repr((user.name, user.email, user.powers, user.grants.roles, user.mute_reason, user.ban_reason, names))
    result = ErasureSummary(user, names, changes)
    return Decision(changed, result, subject=(None, None), stored_result=kept, erased_names=unnamed, preview=shown)


async def _plan_player_deletion(tx: Locking, player_id: str, codec: Codec) -> tuple[str, PlayerDeleted]:
    """Return a player's name, and its deletion without its name, texts and unknown fields, which may be personal."""
    _, change = await player_edits.plan_deletion(tx, player_id, codec)
    state = structs.replace(change.state, attached=Attachments())
    return change.player.name, structs.replace(
        change, player=structs.replace(change.player, name="", unknown={}), state=state
    )


POLL_SECONDS = 1.0
# audit log entries or stored answers blanked per transaction: a few milliseconds, so that requests do not wait long
BATCH_ROWS = 1_000
# pause after a batch of an erasure job, as a multiple of the batch's duration: uses at most a quarter of the time
REST_FACTOR = 3
LOCKED_SECONDS = 0.1  # pause of an erasure worker while other processes work on all jobs


async def run_all_jobs(store: Store, blanked: Callable[[int], object] = lambda _: None) -> None:
    """Run all erasure jobs to their end; `blanked` is called with the number of rows after each batch."""
    while await erasures.has_jobs(store):
        started = time.monotonic()
        rows = await blank_batch(store, BATCH_ROWS)
        if rows is None:
            await asyncio.sleep(LOCKED_SECONDS)
        else:
            blanked(rows)
            await asyncio.sleep(REST_FACTOR * (time.monotonic() - started))


async def describe_backlog(tx: Reading) -> list[str]:
    """Describe the remaining work of the erasure jobs in sentences; empty list: all jobs are done."""
    accounts = await tx.value(erasures.SQL.count_accounts) or 0
    if not accounts:
        return []
    left = await erasures.count_left(tx, NEVER)
    whose = f"{accounts:,} erased account{'' if accounts == 1 else 's'}"
    message = f"{left:,} changes of {whose} are still to be blanked; until then every reader masks them."
    return [f"{message} `gamekeeper serve` does it while it runs."]


async def blank_batch(store: Store, most: int) -> int | None:
    """Blank the next rows of one erasure job, in one transaction. None: no job, or other processes work on all jobs."""

    async def blank(tx: Writing) -> int | None:
        job = await tx.row(erasures.ErasureJob, erasures.SQL.claim)
        return None if job is None else await _blank_rows(tx, job, most)

    return await store.write(blank)


async def _blank_rows(tx: Writing, job: erasures.ErasureJob, most: int) -> int:
    """Blank a batch of an erased account's changes, then answers, then what the rooms register; delete the job."""
    if former := erasures.collect_names(await tx.all(erasures.SQL.next_names, job.id, job.seq, job.upto, most)):
        await _blank_former_names(tx, job, former)
    changes = sorted(row[0] for row in await tx.returning(erasures.SQL.blank_changes, job.id, job.seq, job.upto, most))
    if changes:
        tx.defer(erasures.SQL.set_seq, job.id, changes[-1])
        tx.defer(feed.SQL.blank_deliveries, as_column("seq", changes))
        return len(changes)
    of_player = len(await tx.returning(erasures.SQL.blank_keys_of_player, job.id, most))
    answers = of_player or len(await tx.returning(erasures.SQL.blank_keys_of_user, job.id, most))
    if answers:
        return answers
    registered: list[Erasure] = rooms.collect("game", "ERASURES")
    for each in sorted(registered, key=lambda each: each.place):
        if rows := await each.erase(tx, job.id, most):
            return rows
    if job.id == job.user_id:
        looked_at, cursor = await erasures.blank_keys(tx, job, most)
    else:
        looked_at, cursor = await erasures.blank_own_keys(tx, job, most)
    if looked_at:
        tx.defer(erasures.SQL.set_key, job.id, cursor)
    else:
        tx.defer(erasures.SQL.delete, job.id)
    return looked_at


async def _blank_former_names(tx: Writing, job: erasures.ErasureJob, names: set[str]) -> None:
    """Remove former names of an erased player from rows of others, and from the reasons of the erasure."""
    spellings = lookup.list_spellings(names)
    erasures.blank_names(tx, spellings, job.id)
    moderation_rows.blank_moderator(tx, job.id, spellings)
    for seq, reason in await tx.all(erasures.SQL.reasons, job.user_id, job.upto):
        tx.defer(erasures.SQL.set_reason, seq, erase_names(reason, names))
    for approval_id, reason in await tx.all(erasures.SQL.decision_reasons, job.user_id):
        tx.defer(erasures.SQL.set_decision_reason, approval_id, erase_names(reason, names))
    await tx.flush()


JOBS = (Job[CoreKeeper]("erasures", POLL_SECONDS, lambda keeper: partial(run_all_jobs, keeper.store)),)
