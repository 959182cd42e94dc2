"""The background job that blanks old changes, stored answers, events and log entries of erased accounts, in batches.

The transaction of an erasure only records jobs (`store/erasures.py`), and every reader masks the rows from then on.
Each batch is a transaction that also moves its job's cursor. A crash therefore loses only the current batch, and any
process can continue the job.
"""

import asyncio
import time
from collections.abc import Callable

from gamekeeper.game import lookup, standings
from gamekeeper.store import deliveries, erasures, logs, play_sessions, rollups, security
from gamekeeper.store.engine import Reading, Store, Writing
from gamekeeper.store.history import NEVER

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
    accounts = await erasures.count_accounts(tx)
    if not accounts:
        return []
    left = await erasures.count_left(tx, NEVER)
    whose = f"{accounts:,} erased account{'' if accounts == 1 else 's'}"
    message = f"{left:,} changes of {whose} are still to be blanked; until then every reader masks them."
    return [f"{message} `gamekeeper serve` does it while it runs."]


async def blank_batch(store: Store, most: int) -> int | None:
    """Blank the next rows of one erasure job, in one transaction. None: no job, or other processes work on all jobs."""

    async def blank(tx: Writing) -> int | None:
        job = await erasures.claim(tx)
        return None if job is None else await _blank_rows(tx, job, most)

    return await store.write(blank)


async def _blank_rows(tx: Writing, job: erasures.ErasureJob, most: int) -> int:
    """Blank a batch of an erased account's changes, then answers, events, log entries and sessions; delete the job."""
    # former names of players: changes and bulk jobs of others may have them
    if names := lookup.list_spellings(await erasures.read_next_names(tx, job, most)):
        erasures.blank_names(tx, names, job.id)
        await tx.flush()
    changes = await erasures.blank_changes(tx, job, most)
    if changes:
        erasures.set_seq(tx, job, changes[-1])
        deliveries.blank(tx, changes)
        return len(changes)
    of_player = await erasures.blank_keys_of_player(tx, job, most)
    answers = of_player or await erasures.blank_keys_of_user(tx, job, most)
    if answers:
        return answers
    events = await security.delete_of_user(tx, job.id, most) or await security.blank_by_actor(tx, job.id, most)
    entries = events or await logs.delete_of_user(tx, job.id, most)
    if entries:
        return entries
    await rollups.wait(tx, standings.BOARDS)
    if places := await standings.forget(tx, job.id, lookup.new_guid()):
        return places
    sessions = await play_sessions.forget(tx, job.id, lookup.new_guid())
    if sessions:
        return sessions
    keys = await erasures.read_own_keys(tx, job, most)
    if keys:
        erasures.blank_own_keys(tx, job, keys[-1])
        erasures.set_key(tx, job, keys[-1])
    else:
        erasures.delete(tx, job)
    return len(keys)
