"""Refusals about approvals, bulk jobs and undo."""

from gamekeeper.game.core.refusals import Conflict, Forbidden, Malformed, NotFound


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


class NotYourJob(Forbidden):
    """Only the account that created this job can start it: each change needs its permissions."""


class JobOfAnotherKey(Forbidden):
    """Only the API key that created a job can start it, and a key can start only its own jobs. Create the job anew."""


class NoSuchBulkJob(NotFound):
    """There is no bulk job with the id '{id}'."""


class JobEnded(Conflict):
    """This job is {state}."""


class JobNotStarted(Conflict):
    """This job was not started yet."""


class JobOfFormerEpoch(Conflict):
    """The database was restored from a moment when this job ran. Resume it, if nobody has cancelled it since."""


class JobRunning(Conflict):
    """This job is running. Pause it, or wait until it is finished."""


class JobUndone(Conflict):
    """All changes of this job are undone already."""


class NothingToUndo(Conflict):
    """This job has changed nothing that could be undone."""


class TooManyPreviewedJobs(Conflict):
    """{most} jobs of yours are not started, and no more are allowed. Start or cancel one of them first."""


class NoPlayers(Malformed):
    """None of the given players exists."""


class FilterTooWide(Malformed):
    """This filter compares more than {most} players. Add a condition that fewer players meet, or make several jobs."""


class TooManyPlayers(Malformed):
    """A job can have at most {most} players. Make several jobs."""


class NotUndoable(Conflict):
    """A change of kind {kind} cannot be undone: {why}."""


class AlreadyUndone(Conflict):
    """Change {seq} was already undone by change {by}."""
