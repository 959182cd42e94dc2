"""Refusals of requests that need an approval, and of approvals. `refusals.py` has all others.

Forbidden   OwnApproval  MadeKeyOfRequest  KeyCannotDecide
NotFound    NoSuchApproval
Conflict    ApprovalRequired  ApprovalDenied  ApprovalExpired  ApprovalDecided  RequesterLostAccess
            NobodyCanDecide  TooManyWaitingApprovals
"""

from gamekeeper.game.refusals import Conflict, Forbidden, NotFound


class ApprovalRequired(Conflict):
    """A second person must approve this change; it waits as approval {approval}. Nothing was changed yet."""

    def __init__(self, approval: str) -> None:
        super().__init__(approval=approval)
        self.approval = approval


class ApprovalDenied(Conflict):
    """The approval of this change was denied. Nothing was changed."""


class ApprovalExpired(Conflict):
    """The approval of this change has expired. Nothing was changed. Ask for it again with a new Idempotency-Key."""


class ApprovalDecided(Conflict):
    """This request was decided already: {state}."""


class RequesterLostAccess(Conflict):
    """The account or API key that asked for this change can no longer make it. Deny the approval."""


class NobodyCanDecide(Conflict):
    """Another account with approvals.decide must approve this change, and there is none. On the server: {command}"""


class TooManyWaitingApprovals(Conflict):
    """{most} changes that this account asked for wait for approval already. Wait until some of them are decided."""


class OwnApproval(Forbidden):
    """You cannot decide on your own request; another account must do it."""


class MadeKeyOfRequest(Forbidden):
    """You created or rotated the API key that asked for this change; another account must decide on it."""


class KeyCannotDecide(Forbidden):
    """An API key cannot decide on an approval. Sign in to the console, or use a token of an account."""


class NoSuchApproval(NotFound):
    """There is no approval with the id '{id}'."""
