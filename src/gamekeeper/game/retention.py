"""Deletes old rows: answers, tokens, mails, guesses, totals of gifts, events, bulk jobs, logs, sessions, old changes.

A wrong clock must not delete anything: an Idempotency-Key that is deleted too early lets a change be applied twice.
So a process deletes only by the time of its `ProvenClock`.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from gamekeeper.game import activity, board_seasons, former_epochs, guesses
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.codec import Codec
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.proven_clock import HOUR_MS, ProvenClock
from gamekeeper.game.retention_effects import LedgerTrimmed
from gamekeeper.store import (
    approvals,
    bulk_jobs,
    clock,
    deliveries,
    economy,
    gifts,
    idempotency_keys,
    invitations,
    known_callers,
    ledger,
    logs,
    mails,
    play_sessions,
    rollups,
    security,
    signals,
    tokens,
)
from gamekeeper.store import guesses as guess_rows
from gamekeeper.store.engine import Reading, Work, Writing
from gamekeeper.store.ledger import read_state

TIDY_SECONDS = 10.0
BATCH_ROWS = 5_000  # old rows deleted per transaction, so that writers do not wait long
BATCH_CHANGES = 1_000
BATCH_LOG_ENTRIES = 1_000  # each entry also changes counts
MAX_LOG_BATCHES = 100
MAX_BATCHES = 20  # batches of old rows deleted per pass: deletes faster than rows are added
DAY_MS = 24 * HOUR_MS
PREVIEW_MS = DAY_MS  # how long a bulk job waits for its start before it is deleted
GIFT_DAYS = 7  # days for which the totals of gifts are kept; limits need only those of today
SIGNAL_DAYS = 365  # days for which acknowledged signals are kept
INTENT = Intent(request_id="retention")


class RetentionJob:
    """Deletes old rows (stored answers, tokens, mails, guesses …) for one serving process."""

    def __init__(
        self,
        keeper: Keeper,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[Reading], Awaitable[int]] = clock.now,
    ) -> None:
        self._keeper = keeper
        self.clock = ProvenClock(keeper.store, monotonic, now)
        self._epoch = ""  # epoch in which nothing of a former one is left to stop

    async def tidy(self) -> None:
        """Delete old rows in one pass: a bounded number of small transactions."""
        await self._stop_former()
        await self._keeper.store.write(_tidy_by_clock)
        proven = await self.clock.find_time()
        if proven is not None:
            await delete_old(self._keeper, proven)

    async def _stop_former(self) -> None:
        """Stop what began in a former epoch of the database, at the start and when the epoch has changed."""
        epoch = (await read_state(self._keeper.store)).epoch
        if epoch != self._epoch and await self._keeper.store.write(former_epochs.stop):
            self._epoch = epoch


async def _tidy_by_clock(tx: Writing) -> None:
    """Delete old guesses and retire old mails at once: a wrong clock may do that safely.

    Guesses older than five minutes are not counted, so deleting them changes nothing while the clock is wrong. If they
    stayed for hours, an attacker could fill the disk with them. A mail is retired when its reset code has expired; the
    account can ask for another.
    """
    guess_rows.delete_old(tx, guesses.WINDOW_MS, BATCH_ROWS)
    mails.retire(tx)
    expired = await approvals.read_expired(tx, BATCH_ROWS)
    if expired:
        await former_epochs.expire_approvals(tx, expired)


async def delete_old(keeper: Keeper, now_ms: int) -> None:
    """Delete all rows that are past their retention time at `now_ms`."""
    settings = keeper.settings

    async def delete_keys(tx: Writing) -> int:
        return await idempotency_keys.delete_old(tx, now_ms - settings.key_days * DAY_MS, BATCH_ROWS)

    async def delete_others(tx: Writing) -> None:
        known_callers.delete_old(tx, now_ms - guesses.KNOWN_CALLER_MS, BATCH_ROWS)
        tokens.delete_old(tx, now_ms - settings.token_days * DAY_MS, BATCH_ROWS)
        mails.delete_old(tx, now_ms - settings.mail_days * DAY_MS)
        gifts.delete_old(tx, now_ms - GIFT_DAYS * DAY_MS)
        invitations.delete_old(tx, now_ms)
        approvals.delete_old(tx, now_ms - settings.approval_days * DAY_MS, BATCH_ROWS)
        approvals.delete_old_gifts(tx, now_ms // DAY_MS - 1)
        # zero days: they are kept, like the audit log
        deliveries.delete_old(tx, (now_ms - settings.ledger_days * DAY_MS) if settings.ledger_days else 0, BATCH_ROWS)

    async def delete_events(tx: Writing) -> int:
        # sign-ins after this time are not in the rollups yet
        counted = (await rollups.find(tx, activity.SIGN_INS)).position * HOUR_MS
        return await security.delete_old(tx, min(now_ms - settings.security_days * DAY_MS, counted), BATCH_ROWS)

    async def delete_sessions(tx: Writing) -> int:
        return await play_sessions.delete_old(tx, now_ms - settings.session_days * DAY_MS, BATCH_ROWS)

    async def delete_signals(tx: Writing) -> int:
        return await signals.delete_old(tx, now_ms - SIGNAL_DAYS * DAY_MS, BATCH_ROWS)

    async def delete_log_entries(tx: Writing) -> int:
        return await logs.delete_old(tx, now_ms - settings.log_days * DAY_MS, BATCH_LOG_ENTRIES)

    async def delete_bulk_job(tx: Writing) -> int:
        return await bulk_jobs.delete_oldest(tx, now_ms - settings.bulk_days * DAY_MS, now_ms - PREVIEW_MS)

    await keeper.store.write(delete_others)
    await _delete_batches(keeper, delete_bulk_job, 1, MAX_BATCHES)
    await _delete_batches(keeper, delete_log_entries, BATCH_LOG_ENTRIES, MAX_LOG_BATCHES if settings.log_days else 0)
    await _delete_batches(keeper, delete_signals, BATCH_ROWS, MAX_BATCHES)
    await _delete_batches(keeper, delete_events, BATCH_ROWS, MAX_BATCHES)
    await _delete_batches(keeper, delete_sessions, BATCH_ROWS, MAX_BATCHES if settings.session_days else 0)
    await _delete_batches(keeper, delete_keys, BATCH_ROWS, MAX_BATCHES)
    for _ in range(MAX_BATCHES if settings.ledger_days else 0):
        if not await trim(keeper, now_ms - settings.ledger_days * DAY_MS):
            break


async def _delete_batches(keeper: Keeper, delete: Work[int], rows: int, most: int) -> None:
    """Delete batches of old rows, each in a transaction of its own, until one is not full."""
    for _ in range(most):
        if await keeper.store.write(delete) < rows:
            break


async def trim(keeper: Keeper, before_ms: int) -> bool:
    """Delete one batch of the oldest audit log entries, and record their item totals. False: no entry is that old."""
    # only changes that the economy and the boards have counted may be deleted
    await keeper.economy.count_changes()
    await keeper.boards.refresh()
    decide = partial(_trim, codec=keeper.changes.codec, before_ms=before_ms)
    done = await keeper.changes.apply(INTENT, decide, lambda any_: b"more" if any_ else b"")
    return bool(done.answer)


async def _trim(tx: Reading, codec: Codec, before_ms: int) -> Decision[bool]:
    trimmed = await ledger.read_trimmed(tx)
    old = await ledger.find_old(tx, trimmed, before_ms, BATCH_CHANGES)
    # a trim adds a change to the audit log itself: wait for a full batch, or for a day
    if old.rows < BATCH_CHANGES and old.oldest_at > before_ms - DAY_MS:
        return Decision([], False)
    counted = await economy.read_state(tx)
    upto = min(old.last, counted.seq if counted else 0, await board_seasons.find_counted(tx))
    if upto <= trimmed:
        return Decision([], False)
    rows = await ledger.read_superseded(tx, trimmed, upto)
    sums: Counter[str] = Counter()
    for _, before, after in rows:
        sums.subtract(codec.count_items(before))
        sums.update(codec.count_items(after))
    carried = {item: quantity for item, quantity in sums.items() if quantity}
    return Decision([LedgerTrimmed(upto, [row[0] for row in rows], carried)], True)
