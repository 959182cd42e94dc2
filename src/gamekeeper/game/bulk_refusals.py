"""Refusals of bulk jobs. `refusals.py` has all others.

Forbidden   NotYourJob
NotFound    NoSuchBulkJob
Conflict    JobEnded  JobNotStarted  JobOfFormerEpoch  JobRunning  JobUndone  NothingToUndo  TooManyPreviewedJobs
Malformed   FilterTooWide  NoPlayers  TooManyPlayers
"""

from gamekeeper.game.refusals import Conflict, Forbidden, Malformed, NotFound


class NotYourJob(Forbidden):
    """Only the account that created this job can start it: each change needs its permissions."""


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
