"""The denial of a held change. An approval runs the held request again, see http/audit/approvals.py."""

from gamekeeper.game.access.security_log import SecurityEvent
from gamekeeper.game.audit import approvals
from gamekeeper.game.audit.refusals import ApprovalDenied
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.writes import Decision
from gamekeeper.store.audit import approvals as rows
from gamekeeper.store.audit import bulk_jobs as bulk_rows
from gamekeeper.store.audit.approvals import DENIED, Approval
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing


async def deny(tx: Reading, approval_id: str, account_id: str | None, reason: str | None) -> Decision[Approval]:
    """Deny a held change. `account_id`: the caller, another account than the requester's; None: the command line."""
    await approvals.lock_waiting(tx, approval_id)
    found = await approvals.find(tx, approval_id)
    if account_id is not None:
        approvals.require_other(found, account_id)

    held = await bulk_rows.find_held(tx, [approval_id])

    async def write(tx: Writing) -> None:
        if held:
            bulk_rows.refuse_held(tx, held, ApprovalDenied().code, ApprovalDenied().message)
        rows.decide(tx, approval_id, DENIED, account_id, reason)

    event = SecurityEvent("approval_denied", found.actor_id, details={"ApprovalId": approval_id})
    now = await clock.now(tx)
    denied = found._replace(state=DENIED, decided_at=now, decided_by=account_id, decision_reason=reason)
    # the requester's erasure finds the answer by its id, that of the person whom the change is about by this subject
    player_id, user_id = await rows.find_subject(tx, approval_id)
    subject = (player_id, user_id or found.actor_id)
    return Decision([Unlogged(write)], denied, subject=subject, events=[event])
