"""Stop the jobs, mails, approvals and invitations that began in a former epoch of the database.

A new epoch means that the database was restored from an older state. Meanwhile a person may have cancelled a bulk job,
denied an approval or withdrawn an invitation, and a mail may have been sent. The restored database knows nothing of
that, so a person decides again. Nothing acts before it is stopped either: each transaction that works on a job, sends a
mail, approves a change or accepts an invitation compares the epochs.
"""

from gamekeeper.game.approval_refusals import ApprovalExpired
from gamekeeper.game.bulk_refusals import JobOfFormerEpoch
from gamekeeper.store import approvals, bulk_jobs, invitations, mails
from gamekeeper.store.engine import Writing

MAIL_PROBLEM = (
    "The database was restored from a moment when this mail was waiting. It may have been sent since; retry it if not."
)
BATCH_APPROVALS = 5_000  # approvals that expire per call


async def stop(tx: Writing) -> bool:
    """Pause jobs, keep mails back, delete invitations and expire approvals. False: more approvals are left."""
    bulk_jobs.pause_former(tx, JobOfFormerEpoch().message)
    mails.fail_former(tx, MAIL_PROBLEM)
    invitations.delete_former(tx)
    await tx.flush()  # PostgreSQL updates a job once per flush, and the expired approvals may be of a paused job
    waiting = await approvals.read_former(tx, BATCH_APPROVALS)
    if waiting:
        await expire_approvals(tx, waiting)
    await tx.flush()
    return len(waiting) < BATCH_APPROVALS


async def expire_approvals(tx: Writing, ids: list[str]) -> None:
    """Expire approvals, and settle the targets of bulk jobs that wait for them."""
    if held := await bulk_jobs.find_held(tx, ids):
        bulk_jobs.refuse_held(tx, held, ApprovalExpired().code, ApprovalExpired().message)
    approvals.expire(tx, ids)
