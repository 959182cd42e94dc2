"""Changes of approvals, bulk jobs and the audit log itself.

They are the approval of a held change, the change of a bulk job's state by a person, and the deletion of old changes.
The change that a bulk job makes to a player has its own entry.
"""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from gamekeeper.game.core.change import ACCOUNTS, GLOBAL, Change, ChangeSide, Codec, Kind, SubjectIds
from gamekeeper.ground.instants import format_instant
from gamekeeper.store.audit import bulk_jobs
from gamekeeper.store.audit.bulk_jobs import PAUSED, RUNNING, BulkJob
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.world import feed


class ChangeApproved(Change, Struct, frozen=True):
    """The approval of a held change. It stands beside the entries of that change, with the approver as actor."""

    requester_id: str | None
    approval_id: str
    kind = Kind("change_approved", "Change approved", ACCOUNTS, 20, why_not="undo the approved change instead").name

    def whose(self) -> SubjectIds:
        return None, self.requester_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user={"approval": self.approval_id})


class JobDetails(Struct, frozen=True, omit_defaults=True):
    """What a job does to each player; which fields it has depends on the act."""

    item_id: str | None = None
    quantity: int | None = None
    bank_overflow: bool = False
    variable_id: str | None = None
    value: int | bool | None = None
    days: int | None = None
    minutes: int | None = None
    until: int | None = None  # end of a ban or mute in milliseconds, instead of a duration


def read_details(job: BulkJob) -> JobDetails:
    return msgspec.json.decode(job.details, type=JobDetails)


class BulkJobChanged(Change, Struct, frozen=True):
    """A job that a person starts, pauses, resumes or cancels."""

    job: BulkJob  # the job before the change
    after: BulkJob
    permission: str | None  # permission of each of its changes; None: that depends on the change
    gift: tuple[str, int] | None = None  # item and quantity that it gives to all players together
    kind = Kind(
        "bulk_job_changed", "Bulk job changed", GLOBAL, 11, why_not="pause, cancel or undo the job instead"
    ).name

    @property
    def is_first_start(self) -> bool:
        return self.after.state == RUNNING and self.job.started_at is None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        job, details = self.job, read_details(self.job)
        about = {
            "ItemId": details.item_id,
            "Each": details.quantity,  # not `Quantity`, by which items are counted in the audit log
            "VariableId": details.variable_id,
            "Value": details.value,
            "Days": details.days,
            "Minutes": details.minutes,
            "Until": None if details.until is None else format_instant(details.until),
            "UndoOf": job.undoes,
        }
        about = {name: value for name, value in about.items() if value is not None}
        told = {"JobId": job.id, "Act": job.act, "Players": job.players, **about}
        before, after = (ChangeSide(command={**told, "State": each.state}) for each in (job, self.after))
        return before, after

    def carry_out(self, tx: Writing, _: Codec) -> None:
        job = self.after
        if job.state == RUNNING:
            tx.defer(bulk_jobs.SQL.start, job.id, job.started_at or 0, job.approved)
        elif job.state == PAUSED:
            bulk_jobs.pause(tx, job.id)
        else:
            bulk_jobs.stop(tx, job.id, job.state, job.ended_at or 0)
            if job.started_at is None:  # otherwise creating and cancelling jobs could fill the disk
                tx.defer(bulk_jobs.SQL.delete_targets, job.id)


class LedgerTrimmed(Change, Struct, frozen=True):
    """A deletion of old entries of the audit log. It has their item totals, so that the log still adds up."""

    upto: int
    numbers: Sequence[int]
    sums: Mapping[str, int]
    kind = Kind("ledger_trimmed", "Old changes deleted", GLOBAL, 8).name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(catalogue={"upto": self.upto, "rows": len(self.numbers)}, sums=self.sums)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        ledger.delete(tx, self.numbers)
        tx.defer(feed.SQL.delete_deliveries, as_column("seq", self.numbers))
        ledger.set_trimmed(tx, self.upto)
