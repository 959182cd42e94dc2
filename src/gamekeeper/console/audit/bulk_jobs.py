"""Bulk jobs: the list with the form for a new one, and one job with its preview, progress, results and undo."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET

from gamekeeper.console.audit import bulk_titles
from gamekeeper.console.frame import api_calls, differences, formats, list_page, menu, sessions
from gamekeeper.console.frame import pages as console_pages
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.differences import Difference
from gamekeeper.console.frame.list_page import BeforeMark
from gamekeeper.console.frame.menu import BULK, GAME, PLAYERS
from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.console.frame.routes import form_route, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext, ngettext
from gamekeeper.console.players import items
from gamekeeper.console.players import players as console_players
from gamekeeper.game.audit import bulk_jobs
from gamekeeper.game.audit.bulk_jobs import MOST_PLAYERS
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import REQUEST_PREFIX
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.game.core.refusals import MissingField, Refusal, TooManyLongReads
from gamekeeper.game.core.undo import find_undone
from gamekeeper.http.audit import bulk_shapes
from gamekeeper.http.audit.bulk_jobs import LARGE_BODY
from gamekeeper.http.audit.bulk_runner import ACTS
from gamekeeper.http.server import errors, queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import api_keys
from gamekeeper.store.audit import bulk_jobs as rows
from gamekeeper.store.audit.bulk_jobs import BulkJob, JobUndos
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.world import catalogue

DECIDE = "approvals.decide"
PAGE, OPERATIONS = "/console/bulk", "/api/keeper/v1/bulk"
JOBS_PER_PAGE, TARGETS_PER_PAGE, PREVIEWED_PLAYERS = 20, 50, 5
UNKNOWN_LINES = 5  # lines that are not a player and are named above the results
MOST_CHECKED = 1_000  # a job for more players is tried on a sample of them
SAMPLE = 100  # players of a larger job that are tried
JOB_ID = re.compile(rf"{REQUEST_PREFIX}([0-9a-f-]{{36}})", re.ASCII)
ACT_TITLES = PerLanguage[Mapping[str, str]](
    lambda: {
        "give_item": gettext("Give an item"),
        "take_item": gettext("Take an item"),
        "set_variable": gettext("Set a variable"),
        "ban_player": gettext("Ban"),
        "mute_player": gettext("Mute"),
    }
)
TARGET_STATES = PerLanguage[Mapping[str, str]](
    lambda: {
        rows.DONE: gettext("Done"),
        rows.WAITING: gettext("Waiting"),
        rows.REFUSED: gettext("Refused"),
        rows.HELD: gettext("Waits for approval"),
        rows.NOT_FOUND: gettext("Not found"),
    }
)
_decode_job = msgspec.json.Decoder(bulk_shapes.BulkJob).decode
_decode_preview = msgspec.json.Decoder(bulk_shapes.BulkPreview).decode


class AfterNumber(msgspec.Struct, frozen=True):
    after: bulk_shapes.TargetsAfter = 0


# each player's id, name, problem and differences; and counts of the refusals that the job would get
JobPreview = tuple[Sequence[tuple[str, str, str, Sequence[Difference]]], bulk_shapes.BulkCheck | None]
NO_PREVIEW: JobPreview = (), None


async def show(request: Request) -> Response:
    """Show the jobs, and the form for the act in the query. `item` in the query selects an item."""
    return await _render_list(request, request.query)


async def create(request: Request, raw: bytes) -> Response:
    """Create a job of the form's players, and show it. Nothing is changed before it is started."""
    fields = sessions.verify_form(request, raw)
    try:
        if not fields.get("reason", "").strip():
            raise MissingField(field="reason")
        body = await _make_body(request, fields)
        call = ApiCall("POST", OPERATIONS, body, reason=fields["reason"], key=fields.get("key", ""))
        made = _decode_job((await api_calls.send(request, call)).content)
    except Refusal as refusal:
        return await _render_list(request, fields, refusal)
    return console_pages.redirect(f"{PAGE}/{made.Id}")


async def show_job(request: Request) -> Response:
    """Show a job to accounts that may run jobs, and to those that decide on held ones."""
    if DECIDE not in request.caller.permissions:
        request.caller.require(menu.BULK)
    return await _render_job(request)


async def act(request: Request, raw: bytes) -> Response:
    """Start, pause, cancel or undo a job, and show it, or the job that undoes it."""
    fields, (job_id, what) = sessions.verify_form(request, raw), request.params
    if what not in {"start", "pause", "cancel", "undo"}:
        raise NoSuchPage
    call = ApiCall("POST", f"{OPERATIONS}/{job_id}/{what}", key=fields.get("key", ""), reason=fields.get("reason", ""))
    try:
        if what == "undo" and not call.reason.strip():
            raise MissingField(field="reason")
        answer = await api_calls.send(request, call)
    except Refusal as refusal:
        return await _render_job(request, refusal)
    if answer.held is not None:
        return console_pages.redirect(f"{PAGE}/{job_id}?{urlencode({'held': answer.held})}")
    return console_pages.redirect(f"{PAGE}/{_decode_job(answer.content).Id}")


async def export(request: Request) -> Response:
    """Download the results of a job as a table."""
    job_id, query = request.params[0], {"format": "csv", "limit": str(MOST_PLAYERS)}
    try:
        return await api_calls.send(request, ApiCall("GET", f"{OPERATIONS}/{job_id}/targets", query=query))
    except Exception as error:  # noqa: BLE001 - the page of every error links back to the job
        return console_pages.render_refusal(request, errors.to_refusal(error, request.id), back=f"{PAGE}/{job_id}")


def find_run(told: HistoryChange) -> str:
    """Return the id of the job that made a change; empty if none did."""
    found = JOB_ID.fullmatch(told.request_id)
    return found[1] if found else ""


async def _render_list(request: Request, given: Mapping[str, str], refused: Refusal | None = None) -> Response:
    store = request.services.keeper.store
    page = await bulk_jobs.load_page(store, queries.decode(BeforeMark, request.query).before, JOBS_PER_PAGE)
    allowed = [name for name in ACT_TITLES() if {ACTS[name].permission} <= request.caller.permissions]
    chosen = given.get("act", "") if given.get("act", "") in allowed else (allowed or [""])[0]
    kind = "variables" if chosen == "set_variable" else "items"
    wanted = lookup.parse_guid(given.get("item", "")) or lookup.parse_guid(given.get("entry", ""))
    entry = (await catalogue.find_by_ids(store, kind, [wanted])).get(wanted) if wanted else None
    conditions = console_players.read_conditions(given)
    return console_pages.render(
        request,
        "audit/bulk_jobs.html",
        refused,
        jobs=await bulk_titles.load_views(store, page.jobs),
        acts=[(name, ACT_TITLES()[name]) for name in allowed],
        chosen_act=chosen,
        kind=kind,
        entry=entry,
        given=given,
        conditions=console_players.add_prefix(conditions),
        described=await console_players.describe_conditions(request, conditions) if conditions else [],
        most=MOST_PLAYERS,
        durations=formats.DURATIONS(),
        key=new_guid(),
        **list_page.link_by_time(request, page.next),
    )


async def _render_job(request: Request, refused: Refusal | None = None) -> Response:
    job_id = lookup.parse_guid(request.params[0])
    if job_id is None:
        raise NoSuchPage
    store, state = request.services.keeper.store, request.query.get("state", "")
    after = queries.decode(AfterNumber, request.query).after
    job = await bulk_jobs.find(store, job_id)
    shown = state if state in TARGET_STATES() else None
    page = await bulk_jobs.load_targets(store, job_id, after, TARGETS_PER_PAGE, shown)
    (view,) = await bulk_titles.load_views(store, [job])
    unknown = await bulk_jobs.load_targets(store, job_id, 0, UNKNOWN_LINES, rows.NOT_FOUND) if job.not_found else None
    undone = await rows.find(store, job.undoes) if job.undoes else None
    # undone changes of a running job are not counted: it still makes changes
    undos = await rows.count_undone(store, job_id) if job.state != rows.RUNNING else JobUndos()
    undoing = await rows.find(store, undos.by) if undos.by else None
    numbers = {each.seq for each in page.targets if each.seq is not None} if undos.undone else set[int]()
    is_mine = job.creator_id == request.caller.account_id and not await api_keys.is_any_key(store, job.token_id)
    # the players are tried once, not again for each page of the results
    can_try = job.state in {rows.PREVIEWED, rows.PAUSED} and is_mine and not after and shown is None
    preview, check = await _preview(request, job) if can_try else NO_PREVIEW
    return console_pages.render(
        request,
        "audit/bulk_job.html",
        refused,
        view=view,
        job=job,
        undone=(await bulk_titles.load_views(store, [undone]))[0].title if undone else "",
        is_mine=is_mine,
        can_run=request.caller.permissions >= menu.BULK,
        preview=preview,
        not_previewed=job.remaining - len(preview),
        unknown=[each.given or "" for each in unknown.targets] if unknown else [],
        check=check,
        expected=sum(each.Players for each in check.Refusals) if check else 0,
        targets=[(each, TARGET_STATES()[each.state]) for each in page.targets],
        states=TARGET_STATES(),
        shown=shown or "",
        after=after,
        next=page.next,
        held=lookup.parse_guid(request.query.get("held", "")) or "",
        job_request=REQUEST_PREFIX + job.id,
        start_label=bulk_titles.count_players(view),
        undos=undos,
        undoing=(await bulk_titles.load_views(store, [undoing]))[0] if undoing else None,
        undone_targets=await find_undone(store, numbers) if numbers else {},
        undo_label=ngettext("Undo for %(num)s player", "Undo for %(num)s players", undos.open),
        key=new_guid(),
    )


async def _preview(request: Request, job: BulkJob) -> JobPreview:
    """Try the players of a job, and show the next ones. A viewer who may not make its changes sees no preview."""
    checked = job.remaining if job.remaining <= MOST_CHECKED else SAMPLE
    query = {"limit": str(PREVIEWED_PLAYERS), "check": str(checked)}
    try:
        answer = await api_calls.send(request, ApiCall("GET", f"{OPERATIONS}/{job.id}/preview", query=query))
    except TooManyLongReads:
        del query["check"]
        answer = await api_calls.send(request, ApiCall("GET", f"{OPERATIONS}/{job.id}/preview", query=query))
    except Refusal:
        return NO_PREVIEW
    preview, lines = _decode_preview(answer.content), list[tuple[str, str, str, Sequence[Difference]]]()
    for each in preview.Players:
        logged = [bulk_titles.make_entry(change) for change in each.Changes]
        told = await differences.list_differences(
            request.services.keeper, logged, sees_accounts="users.query" in request.caller.permissions, is_preview=True
        )
        lines.append((each.PlayerId, each.Player or each.PlayerId, each.Message or "", [*chain(*told)]))
    return lines, preview.Check


async def _make_body(request: Request, fields: Mapping[str, str]) -> dict[str, object]:
    """Make the body of a new job. Empty lines are left out. The operation checks the values, which are texts here."""
    players = [each for line in fields.get("players", "").splitlines() for each in (line.strip(),) if each]
    given: dict[str, Any] = {name: text.strip() or UNSET for name, text in fields.items()}
    job = bulk_shapes.NewBulkJob(given.get("act", ""), players, Online=bool(fields.get("online")))
    job.Quantity, job.Value, job.Minutes = (given.get(name, UNSET) for name in ("quantity", "value", "minutes"))
    if fields.get("overflow"):
        job.BankOverflow = True
    if conditions := console_players.read_conditions(fields):
        job.Filter = msgspec.convert(console_players.make_body(conditions), bulk_shapes.JobFilter)
    entry = fields.get("entry", "").strip()
    if entry and job.Act == "set_variable":
        job.VariableId = entry
    elif entry:
        job.ItemId = await items.find_id(request.services.keeper.store, entry)
    return msgspec.to_builtins(job)


formats.FILTERS["run_of"] = find_run


PAGES = (
    page_route("/bulk", show, BULK)
    .in_menu("Bulk jobs", GAME, 30, "bulk")
    .with_help(
        "Give or take an item, set a variable, ban or mute many players at once. Select them in a list or paste "
        "their names, check the preview, start the job, and undo it with one button.",
        "bulk",
    ),
    form_route("/bulk", create, BULK, body_limit=LARGE_BODY),
    page_route("/bulk/[job]", show_job, PLAYERS).with_help(
        "A job with its progress and the result for each player. Pause, resume, cancel or undo it.", "bulk"
    ),
    page_route("/bulk/[job]/file", export, BULK),
    form_route("/bulk/[job]/[bulkAct]", act, BULK),
)
