"""Bulk jobs: one act for many players. Every method needs the permissions bulk.run and players.read."""

from collections.abc import Mapping, Sequence
from typing import Literal, Unpack

from msgspec import Struct

from gamekeeper_client.approvals import PreviewedChange
from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import iterate_cursor

BulkAct = Literal["give_item", "take_item", "set_variable", "ban_player", "mute_player"]


class BulkJob(Struct, rename="pascal"):
    """A job; `state` is previewed, running, paused, finished or cancelled. Its changes have its `request_id`."""

    id: str
    state: str
    act: str
    item_id: str | None
    quantity: int | None
    bank_overflow: bool
    variable_id: str | None
    value: int | bool | None
    days: int | None
    reason: str | None
    creator_id: str
    creator: str | None
    undo_of: str | None
    request_id: str
    problem: str | None
    players: int
    done: int
    refused: int
    held: int
    remaining: int
    not_found: int
    repeated: int
    created_at: str
    started_at: str | None
    ended_at: str | None
    minutes: int | None = None
    until: str | None = None


class BulkJobsPage(Struct, rename="pascal"):
    jobs: list[BulkJob]
    next: str | None


class BulkTarget(Struct, rename="pascal"):
    """A player of a job; `state` is waiting, done, refused, held or not_found."""

    number: int
    state: str
    player_id: str | None
    player: str | None
    given: str | None
    seq: int | None
    undone_seq: int | None
    approval_id: str | None
    code: str | None
    message: str | None
    undone_by: int | None = None


class BulkTargetsPage(Struct, rename="pascal"):
    targets: list[BulkTarget]
    next: int | None


class PreviewedTarget(Struct, rename="pascal"):
    """What a job would do to a player now; `code` and `message` if it would be refused."""

    number: int
    player_id: str
    player: str | None
    code: str | None
    message: str | None
    needs_approval: bool
    changes: list[PreviewedChange]


class ExpectedRefusal(Struct, rename="pascal"):
    """A refusal that a job would get for some players; `message` and `first` are those of the first of them."""

    code: str
    message: str
    players: int
    first: str | None


class BulkCheck(Struct, rename="pascal"):
    """What to expect of a job: `tried` of the `waiting` players were tried."""

    tried: int
    waiting: int
    need_approval: int
    refusals: list[ExpectedRefusal]


class BulkPreview(Struct, rename="pascal"):
    players: list[PreviewedTarget]
    check: BulkCheck | None = None


class BulkJobs:
    @operation("POST", "/api/keeper/v1/bulk")
    def create_bulk_job(
        self,
        act: BulkAct,
        players: Sequence[str] = (),
        *,
        online: bool = False,
        item_id: str | None = None,
        quantity: int | None = None,
        bank_overflow: bool | None = None,
        variable_id: str | None = None,
        value: int | bool | None = None,
        days: int | None = None,
        filter: Mapping[str, object] | None = None,  # noqa: A002 - the name in the API
        minutes: int | None = None,
        until: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[BulkJob]:
        """Create a job for many players. Needs the permission of the act; nothing is changed before it is started.

        act: what to do with each player.
        players: names and ids of players, at most 10,000.
        online: all players that are online too.
        item_id: id of the item, for give_item and take_item.
        quantity: how many each player gets or loses.
        bank_overflow: put into the bank what does not fit into the inventory.
        variable_id: id of the variable, for set_variable.
        value: its new value.
        days: days of a ban or mute; 0: permanently.
        filter: conditions of all players that match it now, such as `{"LevelFrom": 40}`; named as in the API.
        minutes: minutes of a ban or mute, instead of days.
        until: time at which a ban or mute ends, such as "2030-01-31T18:00:00Z", instead of a duration.
        Returns the job.
        Raises NoPlayers, TooManyPlayers, TooManyPreviewedJobs, FilterTooWide, SearchNotReady, TooManyLongReads,
            BadField, PowerMissing, RoleMissing, PermissionMissing.
        """
        given = {
            "Act": act,
            "Players": list(players),
            "Online": online,
            "ItemId": item_id,
            "Quantity": quantity,
            "BankOverflow": bank_overflow,
            "VariableId": variable_id,
            "Value": value,
            "Days": days,
            "Filter": filter,
            "Minutes": minutes,
            "Until": until,
        }
        return Payload(BulkJob, body={name: each for name, each in given.items() if each is not None})

    @operation("GET", "/api/keeper/v1/bulk")
    def list_bulk_jobs(self, before: str | None = None, *, limit: int | None = None) -> Payload[BulkJobsPage]:
        """List jobs once, newest first.

        before: cursor; `next` of the page before.
        limit: return at most this many jobs; default 50.
        Returns the jobs, and the cursor for the next page; None at the end.
        Raises BadField, PermissionMissing.
        """
        return Payload(BulkJobsPage, query={"before": before, "limit": limit})

    iterate_bulk_jobs = iterate_cursor(
        list_bulk_jobs, BulkJob, lambda page: page.jobs, "Iterate over bulk jobs, newest first."
    )

    @operation("GET", "/api/keeper/v1/bulk/{job_id}")
    def get_bulk_job(self, job_id: str) -> Payload[BulkJob]:
        """Get a job with its progress.

        job_id: id of the job.
        Returns the job.
        Raises NoSuchBulkJob, PermissionMissing.
        """
        return Payload(BulkJob)

    @operation("GET", "/api/keeper/v1/bulk/{job_id}/targets")
    def list_bulk_targets(
        self, job_id: str, after: int | None = None, *, state: str | None = None, limit: int | None = None
    ) -> Payload[BulkTargetsPage]:
        """List the players of a job with their results.

        job_id: id of the job.
        after: only players after this number; `next` of the page before.
        state: only players in this state, such as refused.
        limit: return at most this many players; default 100.
        Returns the players, and the number to pass as `after` for the next page; None at the end.
        Raises NoSuchBulkJob, TooManyLongReads, BadField, PermissionMissing.
        """
        return Payload(BulkTargetsPage, query={"after": after, "state": state, "limit": limit})

    @operation("GET", "/api/keeper/v1/bulk/{job_id}/preview")
    def preview_bulk_job(
        self, job_id: str, *, limit: int | None = None, check: int | None = None
    ) -> Payload[BulkPreview]:
        """Try a job on its next players, and change nothing.

        job_id: id of the job.
        limit: try it on at most this many players; default 10.
        check: try it on at most this many players to count expected refusals, at most 1000; default 0.
        Returns what it would do to each, and the expected refusals.
        Raises BadField, NoSuchBulkJob, TooManyLongReads, PowerMissing, PermissionMissing.
        """
        return Payload(BulkPreview, query={"limit": limit, "check": check})

    @operation("POST", "/api/keeper/v1/bulk/{job_id}/start")
    def start_bulk_job(self, job_id: str, **options: Unpack[WriteOptions]) -> Payload[BulkJob]:
        """Start a job that you created, or resume it.

        job_id: id of the job.
        Returns the job.
        Raises NoSuchBulkJob, NotYourJob, JobOfAnotherKey, JobEnded, PowerMissing, PermissionMissing.
        """
        return Payload(BulkJob)

    @operation("POST", "/api/keeper/v1/bulk/{job_id}/pause")
    def pause_bulk_job(self, job_id: str, **options: Unpack[WriteOptions]) -> Payload[BulkJob]:
        """Pause a job.

        job_id: id of the job.
        Returns the job.
        Raises NoSuchBulkJob, JobEnded, JobNotStarted, PermissionMissing.
        """
        return Payload(BulkJob)

    @operation("POST", "/api/keeper/v1/bulk/{job_id}/cancel")
    def cancel_bulk_job(self, job_id: str, **options: Unpack[WriteOptions]) -> Payload[BulkJob]:
        """Cancel a job. What it has changed stays.

        job_id: id of the job.
        Returns the job.
        Raises NoSuchBulkJob, JobEnded, PermissionMissing.
        """
        return Payload(BulkJob)

    @operation("POST", "/api/keeper/v1/bulk/{job_id}/undo")
    def undo_bulk_job(self, job_id: str, **options: Unpack[WriteOptions]) -> Payload[BulkJob]:
        """Create a job that undoes the changes of another job. Needs the permission audit.undo too; start it then.

        job_id: id of the job to undo.
        Returns the new job.
        Raises NoSuchBulkJob, JobRunning, JobUndone, NothingToUndo, TooManyPreviewedJobs, PermissionMissing.
        """
        return Payload(BulkJob)
