"""What a bulk job does, in words: its title, its state, and the facts that an approver needs."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.frame import formats
from gamekeeper.console.frame.differences import TIMES_SIGN
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.labels import JOB_STATES
from gamekeeper.console.frame.texts import gettext, ngettext
from gamekeeper.game.audit import approvals, bulk_jobs
from gamekeeper.game.audit.approvals import HeldEntry
from gamekeeper.game.audit.bulk_jobs import UNDO, JobDetails
from gamekeeper.game.audit.changes import BulkJobChanged
from gamekeeper.game.core import lookup
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.audit.history_shapes import PreviewedChange
from gamekeeper.http.server.request import Request
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.audit.bulk_jobs import BulkJob
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import catalogue

GIVE, TAKE = "give_item", "take_item"


class JobView(NamedTuple):
    job: BulkJob
    title: str
    state: str


class _Side(msgspec.Struct):
    """The part of one side of a change that names its job."""

    JobId: str


_decode_side = msgspec.json.Decoder(_Side).decode


async def load_views(tx: Reading, jobs: Sequence[BulkJob]) -> list[JobView]:
    """Describe jobs, with the names of their items and variables."""
    known = {job.id: job for job in jobs}
    for missing in {job.undoes for job in jobs if job.undoes} - known.keys():
        if undone := await rows.find(tx, missing):
            known[missing] = undone
    told = [bulk_jobs.read_details(job) for job in known.values()]
    items = await catalogue.find_by_ids(tx, "items", {each.item_id for each in told if each.item_id})
    variables = await catalogue.find_by_ids(tx, "variables", {each.variable_id for each in told if each.variable_id})
    names = {each.id: each.name for each in (*items.values(), *variables.values())}
    views: list[JobView] = []
    for job in jobs:
        undone = known.get(job.undoes or "")
        # the title of an undo has that of the job that it undoes, if that job is still stored
        title = gettext("Undo of: %(job)s", job=_describe(undone, names)) if undone else _describe(job, names)
        views.append(JobView(job, title, JOB_STATES()[job.state]))
    return views


async def find_view(tx: Reading, kind: str, side: bytes | str | None) -> JobView | None:
    """Find the job whose state a change is about. None: the change is another one, or the job was deleted."""
    if kind != BulkJobChanged.kind or side is None:
        return None
    job = await rows.find(tx, find_job_id(side))
    return (await load_views(tx, [job]))[0] if job else None


def make_entry(change: PreviewedChange | HeldEntry, actor_id: str | None = None) -> LedgerEntry:
    """Make the entry of the audit log that a previewed change would write."""
    before, after = (None if bytes(side) == b"null" else bytes(side).decode() for side in (change.Before, change.After))
    return LedgerEntry(change.Kind, actor_id, None, False, change.PlayerId, change.UserId, before, after, "", None)


def find_job_id(side: bytes | str | None) -> str:
    """Return the id of the job that one side of a change is about; empty if there is none."""
    return _decode_side(side).JobId if side else ""


def describe_progress(view: JobView) -> str:
    """Return the title of a job with the number of players whom it has changed; of all, if they are not all."""
    job = view.job
    if job.done == job.players:
        return count_players(view)
    return ngettext(
        "%(act)s: %(done)s of %(num)s player",
        "%(act)s: %(done)s of %(num)s players",
        job.players,
        act=view.title,
        done=format_number(job.done),
    )


def count_players(view: JobView) -> str:
    """Return the title of a job with the number of its players, as its start button has it."""
    return ngettext("%(act)s: %(num)s player", "%(act)s: %(num)s players", view.job.players, act=view.title)


def list_facts(view: JobView) -> list[Fact]:
    """List what an approver must know about a job: act, players, the sum of its items, and the reason."""
    job, details = view.job, bulk_jobs.read_details(view.job)
    facts = [Fact(gettext("Act"), view.title), Fact(gettext("Players"), format_number(job.players))]
    if job.act in {GIVE, TAKE}:
        facts.append(Fact(gettext("Quantity in all"), format_number((details.quantity or 0) * job.players)))
    return [*facts, Fact(gettext("Reason of the job"), job.reason or gettext("none"))]


async def list_facts_of_approval(request: Request, operation: str, path: str) -> list[Fact]:
    """List the facts of the job whose start a call approves or denies. Other calls have none."""
    approval_id = lookup.parse_guid(path.split("/")[-2]) if operation in {"approve", "deny"} else None
    if approval_id is None:
        return []
    store = request.services.keeper.store
    held = approvals.read_preview(await approvals.find(store, approval_id))
    found = [await find_view(store, each.Kind, bytes(each.After)) for each in held]
    return [fact for view in found if view for fact in list_facts(view)]


def _describe(job: BulkJob, names: Mapping[str, str]) -> str:
    details = bulk_jobs.read_details(job)
    thing = f"{format_number(details.quantity or 0)} {TIMES_SIGN} {names.get(details.item_id or '') or details.item_id}"
    if job.act == GIVE:
        return gettext("Give %(thing)s", thing=thing)
    if job.act == TAKE:
        return gettext("Take %(thing)s", thing=thing)
    if job.act == "set_variable":
        name = names.get(details.variable_id or "") or details.variable_id
        return gettext("Set %(name)s to %(value)s", name=name, value=msgspec.json.encode(details.value).decode())
    if job.act == UNDO:
        return gettext("Undo of another job")
    length = formats.describe_duration(_list_lengths(details))
    title = (
        gettext("Ban %(duration)s", duration=length)
        if job.act == "ban_player"
        else gettext("Mute %(duration)s", duration=length)
    )
    return title[:1].upper() + title[1:]


def _list_lengths(details: JobDetails) -> dict[str, object]:
    """Return how long a ban or mute lasts, as the field of a single one."""
    if details.until is not None:
        return {"until": format_instant(details.until)}
    return {"duration": details.days or 0} if details.minutes is None else {"minutes": details.minutes}
