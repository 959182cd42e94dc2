"""The acts of bulk jobs: which operation each calls for a player, and how a job becomes its requests."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import UNSET

from gamekeeper.game.bulk_jobs import UNDO, JobDetails
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.refusals import BadField
from gamekeeper.game.steps import REQUEST_PREFIX, Step
from gamekeeper.http import dry_runs, wire
from gamekeeper.http.instants import format_instant, parse_instant
from gamekeeper.http.operation import Route
from gamekeeper.http.request import Request
from gamekeeper.http.response import JSON
from gamekeeper.http.services import Services
from gamekeeper.http.wire.bulk import NewBulkJob
from gamekeeper.store.bulk_jobs import BulkJob, WaitingTarget

SET = "set_variable"


class Act(NamedTuple):
    path: str  # of the operation, with {} for the player or the number of the change
    fields: tuple[str, ...]  # fields of a new job that it needs
    permission: str | None  # None: that depends on the change
    make_body: Callable[[JobDetails, BulkJob], object]


def _give(details: JobDetails, _: BulkJob) -> object:
    return wire.items.GiveItem(details.item_id or "", details.quantity or 0, details.bank_overflow)


def _take(details: JobDetails, _: BulkJob) -> object:
    return wire.items.TakeItem(details.item_id or "", details.quantity or 0)


def _set(details: JobDetails, _: BulkJob) -> object:
    return wire.variables.SetVariable(0 if details.value is None else details.value)


def _punish(details: JobDetails, job: BulkJob) -> object:
    minutes = UNSET if details.minutes is None else details.minutes
    until = UNSET if details.until is None else format_instant(details.until)
    return wire.moderation.Penalty(details.days or 0, job.reason, minutes=minutes, until=until)


def _send_nothing(_: JobDetails, __: BulkJob) -> object:
    return None


ACTS: Mapping[str, Act] = {
    "give_item": Act("/api/v1/players/{}/items/give", ("ItemId", "Quantity"), "items.give", _give),
    "take_item": Act("/api/v1/players/{}/items/take", ("ItemId", "Quantity"), "items.take", _take),
    SET: Act("/api/v1/players/{}/variables/", ("VariableId", "Value"), "variables.write", _set),
    "ban_player": Act("/api/v1/players/{}/admin/ban", (), "moderation.ban", _punish),
    "mute_player": Act("/api/v1/players/{}/admin/mute", (), "moderation.mute", _punish),
    UNDO: Act("/api/keeper/v1/changes/{}/undo", (), None, _send_nothing),
}
LENGTHS = ("Days", "Minutes", "Until")  # ways to say how long a ban or mute lasts
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "give_item": ("BankOverflow",),
    "ban_player": LENGTHS,
    "mute_player": LENGTHS,
}
ACT_FIELDS = ("ItemId", "Quantity", "BankOverflow", "VariableId", "Value", *LENGTHS)


def read_details(body: NewBulkJob) -> JobDetails:
    """Check that a new job has the fields of its act, and no others."""
    needed, optional = ACTS[body.Act].fields, OPTIONAL.get(body.Act, ())
    for name in ACT_FIELDS:
        is_given = getattr(body, name) is not UNSET
        if name in needed and not is_given:
            raise BadField(field=name, problem=f"is missing: {body.Act} needs it")
        if is_given and name not in (*needed, *optional):
            raise BadField(field=name, problem=f"does not belong to {body.Act}")
    lengths = [name for name in LENGTHS if getattr(body, name) is not UNSET]
    if optional is LENGTHS and not lengths:
        raise BadField(field="Days", problem=f"is missing: {body.Act} needs one of Days, Minutes and Until")
    if len(lengths) > 1:
        raise BadField(field=lengths[-1], problem="cannot be combined: send one of Days, Minutes and Until")
    return JobDetails(
        body.ItemId or None,
        body.Quantity or None,
        body.BankOverflow is True,
        body.VariableId or None,
        None if body.Value is UNSET else body.Value,
        None if body.Days is UNSET else body.Days,
        None if body.Minutes is UNSET else body.Minutes,
        None if body.Until is UNSET else parse_instant(body.Until),
    )


def find_route(services: Services, job: BulkJob) -> Route:
    """Find the operation that a job calls for each player."""
    path = ACTS[job.act].path.format(1 if job.act == UNDO else ZERO_GUID)
    return services.router.find("POST", (path + (ZERO_GUID if job.act == SET else "")).encode())[0]


class TargetRequest(NamedTuple):
    """A request for one player, which has been read as far as its route."""

    request: Request
    route: Route
    params: tuple[str, ...]


def make_request(
    services: Services, job: BulkJob, details: JobDetails, target: WaitingTarget, step: Step | None
) -> TargetRequest:
    """Make the request for one player; without a step it is a dry run."""
    act = ACTS[job.act]
    path = act.path.format(target.undoes if job.act == UNDO else target.player_id)
    path += (details.variable_id or "") if job.act == SET else ""
    body = act.make_body(details, job)
    headers = {b"content-type": JSON} | ({b"x-reason": job.reason.encode()} if job.reason else {})
    request = Request(
        services=services,
        id=make_request_id(job.id),
        method="POST",
        raw_path=path.encode(),
        raw_query=b"" if step else dry_runs.make_dry_run("").encode(),
        headers=headers,
        scope={"headers": ()},
        receive=_receive_nothing,
        raw_body=b"" if body is None else wire.encode(body),
        step=step,
    )
    return TargetRequest(request, *services.router.find("POST", request.raw_path))


def make_request_id(job_id: str) -> str:
    return REQUEST_PREFIX + job_id


async def _receive_nothing() -> dict[str, object]:
    return {"type": "http.disconnect"}
