"""Approvals: changes that wait for a second person. Every method needs the permission approvals.decide."""

from typing import Any, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import iterate_cursor


class KeyMaker(Struct, rename="pascal"):
    """An account that created or rotated an API key, so that it knows the key's secret."""

    id: str
    name: str | None


class Approval(Struct, rename="pascal"):
    """A change that needs an approval; `state` is waiting, done, denied or expired.

    `key_id`, `key` and `key_makers` are of the API key that asked for it, if any. `email` is the address to which the
    mail of a waiting invitation would go; it is masked without the permission users.query.
    """

    id: str
    state: str
    rule: str
    requested_at: str
    expires_at: str
    requester_id: str
    requester: str | None
    method: str
    path: str
    reason: str | None
    decided_at: str | None
    decider_id: str | None
    decider: str | None
    decision_reason: str | None
    key_id: str | None
    key: str | None
    key_makers: list[KeyMaker]
    email: str | None = None


class PreviewedChange(Struct, rename="pascal"):
    kind: str
    player_id: str | None
    user_id: str | None
    before: Any  # JSON, as in the audit log; None: nothing
    after: Any


class ApprovalDetails(Approval, kw_only=True):
    """An approval with what it would change."""

    preview: list[PreviewedChange]


class Approved(Struct, rename="pascal"):
    """A carried-out change; `answer` is the JSON text of its operation's answer."""

    id: str
    state: str
    answer: str


class ApprovalsPage(Struct, rename="pascal"):
    approvals: list[Approval]
    next: str | None


class Approvals:
    @operation("GET", "/api/keeper/v1/approvals")
    def list_approvals(
        self, before: str | None = None, *, state: str | None = None, limit: int | None = None
    ) -> Payload[ApprovalsPage]:
        """List approvals once, newest first.

        before: cursor; `next` of the page before.
        state: only approvals in this state, such as waiting.
        limit: return at most this many approvals; default 50.
        Returns the approvals, and the cursor for the next page; None at the end.
        Raises BadField, PermissionMissing.
        """
        return Payload(ApprovalsPage, query={"state": state, "before": before, "limit": limit})

    iterate_approvals = iterate_cursor(
        list_approvals, Approval, lambda page: page.approvals, "Iterate over approvals, newest first."
    )

    @operation("GET", "/api/keeper/v1/approvals/{approval_id}")
    def get_approval(self, approval_id: str) -> Payload[ApprovalDetails]:
        """Get an approval with what it would change.

        approval_id: id of the approval.
        Returns the approval.
        Raises NoSuchApproval, PermissionMissing, TooManyLongReads.
        """
        return Payload(ApprovalDetails)

    @operation("POST", "/api/keeper/v1/approvals/{approval_id}/approve")
    def approve(self, approval_id: str, **options: Unpack[WriteOptions]) -> Payload[Approved]:
        """Approve a change of another account, and carry it out.

        approval_id: id of the approval.
        Returns the answer of the change's operation.
        Raises NoSuchApproval, OwnApproval, MadeKeyOfRequest, KeyCannotDecide, ApprovalDecided, ApprovalExpired,
        RequesterLostAccess, ChangedMeanwhile, PermissionMissing, and what the change's operation raises.
        """
        return Payload(Approved)

    @operation("POST", "/api/keeper/v1/approvals/{approval_id}/deny")
    def deny(self, approval_id: str, **options: Unpack[WriteOptions]) -> Payload[Approval]:
        """Deny a change of another account.

        approval_id: id of the approval.
        Returns the approval.
        Raises NoSuchApproval, OwnApproval, MadeKeyOfRequest, KeyCannotDecide, ApprovalDecided, ApprovalExpired,
        PermissionMissing.
        """
        return Payload(Approval)
