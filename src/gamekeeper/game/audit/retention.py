"""Deletes old rows: answers, tokens, mails, guesses, totals of gifts, events, bulk jobs, logs, sessions, old changes.

A wrong clock must not delete anything: an Idempotency-Key that is deleted too early lets a change be applied twice. So
a process deletes only by the time of its `ProvenClock`, which is known only while the database's clock has kept pace
with the process's monotonic clock for six hours. That clock also closes hours for the rollups.

`stop_former_epochs` stops the jobs, mails, approvals and invitations that began in a former epoch of the database. A
new epoch means that the database was restored from an older state. Meanwhile a person may have cancelled a bulk job,
denied an approval or withdrawn an invitation, and a mail may have been sent. The restored database knows nothing of
that, so a person decides again. Nothing acts before it is stopped either: each transaction that works on a job, sends a
mail, approves a change or accepts an invitation compares the epochs.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, NamedTuple

from gamekeeper.game.access import guess_limits
from gamekeeper.game.audit.changes import LedgerTrimmed
from gamekeeper.game.audit.refusals import ApprovalExpired, JobOfFormerEpoch
from gamekeeper.game.core.background_jobs import Job, OldRows
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.world.feed import WorldKeeper
from gamekeeper.ground import log, rooms
from gamekeeper.ground.instants import DAY_MS, HOUR_MS
from gamekeeper.store.access import credentials as guess_rows
from gamekeeper.store.access import tokens
from gamekeeper.store.accounts import invitations, mails
from gamekeeper.store.audit import approvals, bulk_jobs
from gamekeeper.store.core import idempotency_keys, ledger
from gamekeeper.store.core.ledger import read_state
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Store, Work, Writing
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.players import items
from gamekeeper.store.world import feed

# time in ms before a clock is trusted: an operator or NTP can correct a wrong clock meanwhile
PROBATION_MS = 6 * HOUR_MS
# a clock jump in ms that counts as wrong: more than NTP slews in six hours, less than any retention time
JUMP_MS = HOUR_MS
JUMPED = "The database's clock jumped by {} s: nothing old is deleted for the next six hours."


class ClockReading(NamedTuple):
    """One moment on the process's monotonic clock and the database's clock, in milliseconds."""

    monotonic: int  # monotonic clock of this process
    database: int  # database's clock


class ProvenClock:
    """Compares the database's clock with the monotonic clock of one serving process."""

    def __init__(
        self,
        store: Store,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[Reading], Awaitable[int]] = clock.now,
    ) -> None:
        self._store = store
        self._monotonic = monotonic
        self._now = now
        # from this moment on the process's and the database's clock have kept pace
        self._start: ClockReading | None = None

    async def find_time(self) -> int | None:
        """Return the time from which rows' ages are counted, six hours back; None while the clock is not trusted."""
        store, start = self._store, self._start
        here = ClockReading(int(self._monotonic() * 1000), await self._now(store))
        if store.collect_stats().clock_lead_ms > JUMP_MS:
            self._start = None
            return None
        if start is None:
            self._start = here
            return None
        served = here.monotonic - start.monotonic
        jump = here.database - start.database - served
        if abs(jump) > JUMP_MS:
            log.problem("retention", JUMPED.format(jump // 1000))
            self._start = here
            return None
        if served < PROBATION_MS:
            return None
        return start.database + min(0, jump) + served - PROBATION_MS


MAIL_PROBLEM = (
    "The database was restored from a moment when this mail was waiting. It may have been sent since; retry it if not."
)
BATCH_APPROVALS = 5_000  # approvals that expire per call


async def stop_former_epochs(tx: Writing) -> bool:
    """Pause jobs, keep mails back, delete invitations and expire approvals. False: more approvals are left."""
    tx.defer(bulk_jobs.SQL.pause_former, JobOfFormerEpoch().message)
    tx.defer(mails.SQL.fail_former, MAIL_PROBLEM)
    tx.defer(invitations.SQL.delete_former)
    await tx.flush()  # PostgreSQL updates a job once per flush, and the expired approvals may be of a paused job
    waiting = [row[0] for row in await tx.all(approvals.SQL.former, BATCH_APPROVALS)]
    if waiting:
        await expire_approvals(tx, waiting)
    await tx.flush()
    return len(waiting) < BATCH_APPROVALS


async def expire_approvals(tx: Writing, ids: list[str]) -> None:
    """Expire approvals, and settle the targets of bulk jobs that wait for them."""
    if held := await bulk_jobs.find_held(tx, ids):
        bulk_jobs.refuse_held(tx, held, ApprovalExpired().code, ApprovalExpired().message)
    tx.defer(approvals.SQL.expire, as_column("id", ids))


TIDY_SECONDS = 10.0
BATCH_ROWS = 5_000  # old rows deleted per transaction, so that writers do not wait long
BATCH_CHANGES = 1_000
MAX_BATCHES = 20  # batches of old rows deleted per pass: deletes faster than rows are added
PREVIEW_MS = DAY_MS  # how long a bulk job waits for its start before it is deleted
GIFT_DAYS = 7  # days for which the totals of gifts are kept; limits need only those of today
INTENT = Intent(request_id="retention")


class Follower(NamedTuple):
    """A count over the audit log. Only changes that all followers have counted may be deleted."""

    count_changes: Callable[[], Coroutine[Any, Any, object]]
    find_counted: Callable[[Reading], Coroutine[Any, Any, int]]  # finds the number up to which changes are counted


class AuditKeeper(WorldKeeper, frozen=True):
    clock: ProvenClock
    followers: Sequence[Follower]


class RetentionJob:
    """Deletes old rows (stored answers, tokens, mails, guesses …) for one serving process."""

    def __init__(self, keeper: AuditKeeper, proven_clock: ProvenClock | None = None) -> None:
        self._keeper = keeper
        self.clock = proven_clock or keeper.clock
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
        if epoch != self._epoch and await self._keeper.store.write(stop_former_epochs):
            self._epoch = epoch


async def _tidy_by_clock(tx: Writing) -> None:
    """Delete old guesses and retire old mails at once: a wrong clock may do that safely.

    Guesses older than five minutes are not counted, so deleting them changes nothing while the clock is wrong. If they
    stayed for hours, an attacker could fill the disk with them. A mail is retired when its reset code has expired; the
    account can ask for another.
    """
    guess_rows.delete_old_guesses(tx, guess_limits.WINDOW_MS, BATCH_ROWS)
    mails.retire(tx)
    expired = [row[0] for row in await tx.all(approvals.SQL.expired, BATCH_ROWS)]
    if expired:
        await expire_approvals(tx, expired)


async def delete_old(keeper: AuditKeeper, now_ms: int) -> None:
    """Delete all rows that are past their retention time at `now_ms`."""
    settings = keeper.settings

    async def delete_others(tx: Writing) -> None:
        tx.defer(guess_rows.SQL.delete_old_known_callers, now_ms - guess_limits.KNOWN_CALLER_MS, BATCH_ROWS)
        tx.defer(tokens.SQL.delete_old, now_ms - settings.token_days * DAY_MS, BATCH_ROWS)
        tx.defer(mails.SQL.delete_old, now_ms - settings.mail_days * DAY_MS)
        tx.defer(items.SQL.delete_old_gifts, now_ms - GIFT_DAYS * DAY_MS)
        tx.defer(invitations.SQL.delete_old, now_ms)
        tx.defer(approvals.SQL.delete_old, now_ms - settings.approval_days * DAY_MS, BATCH_ROWS)
        tx.defer(approvals.SQL.delete_old_gifts, now_ms // DAY_MS - 1)
        # zero days: they are kept, like the audit log
        before_ms = now_ms - settings.ledger_days * DAY_MS if settings.ledger_days else 0
        tx.defer(feed.SQL.delete_old_deliveries, before_ms, BATCH_ROWS)

    await keeper.store.write(delete_others)
    jobs_end, previews_end = now_ms - settings.bulk_days * DAY_MS, now_ms - PREVIEW_MS
    await _delete_batches(keeper, lambda tx: bulk_jobs.delete_oldest(tx, jobs_end, previews_end), 1, MAX_BATCHES)
    registered: list[OldRows] = rooms.collect("game", "OLD_ROWS")
    for each in sorted(registered, key=lambda each: each.place):
        if days := each.days(settings):
            await _delete_registered(keeper, each, now_ms - days * DAY_MS)
    keys_end = now_ms - settings.key_days * DAY_MS
    await _delete_batches(
        keeper, lambda tx: idempotency_keys.delete_old(tx, keys_end, BATCH_ROWS), BATCH_ROWS, MAX_BATCHES
    )
    for _ in range(MAX_BATCHES if settings.ledger_days else 0):
        if not await trim(keeper, now_ms - settings.ledger_days * DAY_MS):
            break


async def _delete_registered(keeper: AuditKeeper, each: OldRows, before_ms: int) -> None:
    await _delete_batches(keeper, lambda tx: each.delete(tx, before_ms, each.batch), each.batch, each.batches)


async def _delete_batches(keeper: AuditKeeper, delete: Work[int], rows: int, most: int) -> None:
    """Delete batches of old rows, each in a transaction of its own, until one is not full."""
    for _ in range(most):
        if await keeper.store.write(delete) < rows:
            break


async def trim(keeper: AuditKeeper, before_ms: int) -> bool:
    """Delete one batch of the oldest audit log entries, and record their item totals. False: no entry is that old."""
    for each in keeper.followers:
        await each.count_changes()
    decide = partial(_trim, codec=keeper.changes.codec, followers=keeper.followers, before_ms=before_ms)
    done = await keeper.changes.apply(INTENT, decide, lambda any_: b"more" if any_ else b"")
    return bool(done.answer)


async def _trim(tx: Reading, codec: Codec, followers: Sequence[Follower], before_ms: int) -> Decision[bool]:
    trimmed = await ledger.read_trimmed(tx)
    old = await ledger.find_old(tx, trimmed, before_ms, BATCH_CHANGES)
    # a trim adds a change to the audit log itself: wait for a full batch, or for a day
    if old.rows < BATCH_CHANGES and old.oldest_at > before_ms - DAY_MS:
        return Decision([], False)
    upto = min([old.last, *[await each.find_counted(tx) for each in followers]])
    if upto <= trimmed:
        return Decision([], False)
    rows = await tx.all(ledger.SQL.superseded, trimmed, upto)
    sums: Counter[str] = Counter()
    for _, before, after in rows:
        sums.subtract(codec.count_items(before))
        sums.update(codec.count_items(after))
    carried = {item: quantity for item, quantity in sums.items() if quantity}
    return Decision([LedgerTrimmed(upto, [row[0] for row in rows], carried)], True)


JOBS = (Job[AuditKeeper]("retention", TIDY_SECONDS, lambda keeper: RetentionJob(keeper).tidy),)
