"""The change of a bulk job's state by a person, as the audit log has it. Each player's change has its own entry."""

from collections.abc import Mapping
from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store import bulk_jobs
from gamekeeper.store.bulk_jobs import PAUSED, RUNNING, BulkJob
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class BulkJobChanged:
    """A job that a person starts, pauses, resumes or cancels."""

    job: BulkJob  # the job before the change
    after: BulkJob
    details: Mapping[str, object]  # what the job does, as the API names it
    permission: str | None  # permission of each of its changes; None: that depends on the change
    gift: tuple[str, int] | None = None  # item and quantity that it gives to all players together
    kind = "bulk_job_changed"

    @property
    def is_first_start(self) -> bool:
        return self.after.state == RUNNING and self.job.started_at is None

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        about = {"JobId": self.job.id, "Act": self.job.act, "Players": self.job.players, **self.details}
        before, after = (ChangeSide(command={**about, "State": each.state}) for each in (self.job, self.after))
        return before, after

    def carry_out(self, tx: Writing, _: Codec) -> None:
        job = self.after
        if job.state == RUNNING:
            bulk_jobs.start(tx, job.id, job.started_at or 0, approved=job.approved)
        elif job.state == PAUSED:
            bulk_jobs.pause(tx, job.id)
        else:
            bulk_jobs.stop(tx, job.id, job.state, job.ended_at or 0)
            if job.started_at is None:  # otherwise creating and cancelling jobs could fill the disk
                bulk_jobs.delete_targets(tx, job.id)
