"""Approvals: list changes that wait for a second person, approve or deny them."""

import base64
from collections.abc import Collection, Sequence
from functools import partial
from itertools import chain
from typing import cast
from urllib.parse import unquote

import msgspec

from gamekeeper.game.access.refusals import PermissionMissing
from gamekeeper.game.audit import approval_gate, approvals, bulk_jobs
from gamekeeper.game.audit.refusals import (
    ApprovalDecided,
    ApprovalExpired,
    KeyCannotDecide,
    MadeKeyOfRequest,
    NoSuchApproval,
    OwnApproval,
    RequesterLostAccess,
)
from gamekeeper.game.core.change import Step
from gamekeeper.game.core.refusals import ChangedMeanwhile, PowerMissing, Refusal, RoleMissing
from gamekeeper.game.core.request import ApproverKey, Consent
from gamekeeper.game.core.writes import Intent
from gamekeeper.http.access.role_shapes import Invite
from gamekeeper.http.audit import history_shapes
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import MOST_AT_ONCE, OF_ONE_OWNER, Group, Route, needs
from gamekeeper.http.contract.path_parameters import declare_id
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server import bodies, dispatcher, queries
from gamekeeper.http.server.caller import load_requester
from gamekeeper.http.server.paging import encode_pieces, join_pieces
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request, unseal
from gamekeeper.http.server.response import Response, make_change_response
from gamekeeper.store.audit import bulk_jobs as bulk_rows
from gamekeeper.store.audit.approvals import DONE, WAITING, Approval
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading

SEES_EMAILS = "users.query"  # permission
INVITATIONS = "/api/keeper/v1/invitations"
DECIDE = needs("approvals.decide")
GROUP = Group("Approvals", "Changes that wait for a second person.", place=340, permissions=DECIDE)
GROUPS = (GROUP,)
DECISIONS = (NoSuchApproval, OwnApproval, MadeKeyOfRequest, KeyCannotDecide, ApprovalDecided, ApprovalExpired)


declare_id("approvalId", "The approval's id.", examples.MAIL_ID, "approval_id")


@GROUP.operation(
    "GET /api/keeper/v1/approvals",
    answer=history_shapes.Approvals,
    rows=MOST_AT_ONCE,
    gated=True,
)
async def list_approvals(request: Request, query: history_shapes.ApprovalsQuery) -> bytes:
    """List changes that need an approval, newest first."""
    store = request.services.keeper.store

    async def read() -> bytes:
        page = await approvals.load_page(store, query.state or None, query.before, query.limit)
        following = str(MailCursor(*page.next)) if page.next else None
        shown = [make_approval(each, request.caller.permissions) for each in page.approvals]
        return shapes.encode(history_shapes.Approvals(shown, following))

    return await request.run_through_gate(read)


@GROUP.operation(
    "GET /api/keeper/v1/approvals/[approvalId]",
    answer=history_shapes.ApprovalDetails,
    rows=OF_ONE_OWNER,
    refusals=(NoSuchApproval,),
)
async def get_approval(request: Request, approval_id: str) -> bytes:
    """Get a change that needs an approval, with what it would change."""
    found = await approvals.find(request.services.keeper.store, approval_id)
    shown = make_approval(found, request.caller.permissions)
    told = hide_emails(found.preview, request.caller.permissions)
    preview = msgspec.json.decode(told, type=list[approvals.PreviewedChange])
    start = shapes.encode(make_record(history_shapes.ApprovalDetails, shown, Preview=[])).removesuffix(b"[]}")
    pieces = chain((start,), encode_pieces(preview, shapes.encode), (b"}",))
    return await join_pieces(request, len(preview) + len(found.key_makers), pieces)


@GROUP.operation(
    "POST /api/keeper/v1/approvals/[approvalId]/approve",
    answer=history_shapes.Approved,
    refusals=(*DECISIONS, RequesterLostAccess, ChangedMeanwhile),
)
async def approve(request: Request, approval_id: str) -> Response:
    """Approve a change of another account, and carry it out if its preview still holds."""
    _require_person(request)
    store, intent = request.services.keeper.store, request.make_intent()
    if (replayed := await request.services.keeper.changes.replay(intent)) is not None:
        return make_change_response(replayed, request.route.path)
    found = await approvals.find(store, approval_id)
    approvals.require_other(found, request.caller.account_id)
    if found.state != WAITING and (replayed := await request.services.keeper.changes.replay(intent)) is not None:
        return make_change_response(replayed, request.route.path)  # a parallel request has just approved it
    approvals.require_waiting(found.id, found.state)
    done = await _carry_out(request, found, intent)
    request.services.callers.clear_cache()  # the change may have changed permissions
    seen = request.caller.permissions
    content = _encode_approved(done.content, seen, found.id, found.state if request.dry_run else DONE)
    entries = hide_entry_emails(done.entries, seen)
    return Response(content, entries=entries, state_fingerprint=done.state_fingerprint)


@GROUP.operation("POST /api/keeper/v1/approvals/[approvalId]/deny", answer=history_shapes.Approval, refusals=DECISIONS)
async def deny(request: Request, approval_id: str) -> Response:
    """Deny a change of another account. Its `X-Reason` is shown to those who see the approval."""
    _require_person(request)
    me, reason = request.caller, request.make_intent().reason
    return await request.change(
        partial(approval_gate.deny, approval_id=approval_id, account_id=me.account_id, reason=reason),
        lambda denied: make_approval(denied._replace(decider=me.name), me.permissions),
    )


def find_invited(approval: Approval, permissions: Collection[str]) -> str | None:
    """Find the address to which the mail of a waiting invitation would go. It is masked without `users.query`.

    The preview does not have it, because the audit log of an invitation does not.
    """
    # the router takes a path in any letter case, with percent-encoded letters and with a slash at its end
    path = unquote(approval.path).partition("?")[0].rstrip("/").lower()
    if approval.state != WAITING or (approval.method, path) != ("POST", INVITATIONS):
        return None
    try:
        email = bodies.decode(base64.b64decode(approval.body), approval.content_type, Invite).email
    except Refusal:  # stored by another version, which reads bodies in another way
        return None
    return email if SEES_EMAILS in permissions else mask_email(email)


def hide_emails(given: bytes | str, permissions: Collection[str]) -> str:
    """Mask the addresses in the JSON text of a held change, or of its answer, without `users.query`."""
    text = given if isinstance(given, str) else given.decode()
    if SEES_EMAILS in permissions or 'email"' not in text.lower():
        return text
    return msgspec.json.encode(_mask_fields(msgspec.json.decode(text))).decode()


def hide_entry_emails(entries: Sequence[LedgerEntry], permissions: Collection[str]) -> list[LedgerEntry]:
    """Mask the addresses in the changes of an approved request, without `users.query`."""
    return [
        each._replace(
            before=each.before and hide_emails(each.before, permissions),
            after=each.after and hide_emails(each.after, permissions),
        )
        for each in entries
    ]


def _mask_fields(value: object, name: str = "") -> object:
    match value:
        case dict():
            return {field: _mask_fields(each, field) for field, each in cast("dict[str, object]", value).items()}
        case list():
            return [_mask_fields(each) for each in cast("list[object]", value)]
        case str() if name.lower() == "email" and "@" in value:
            return mask_email(value)
        case _:
            return value


def mask_email(email: str) -> str:
    """Mask an email address: keep its first letter and its domain."""
    local, _, domain = email.rpartition("@")
    return f"{local[:1]}…@{domain}"


def make_approval(row: Approval, permissions: Collection[str]) -> history_shapes.Approval:
    """Make the record of an approval for a caller with these permissions."""
    return make_record(
        *(history_shapes.Approval, row),
        RequesterId=row.actor_id,
        Requester=row.actor,
        DeciderId=row.decided_by,
        KeyId=None if row.key_name is None else row.token_id,
        Key=row.key_name,
        KeyMakers=[history_shapes.KeyMaker(each.id, each.name) for each in row.key_makers],
        Email=find_invited(row, permissions),
    )


def _require_person(request: Request) -> None:
    """Refuse API keys: the person who created or rotated one knows its secret, also if its owner is another account."""
    if request.caller.key is not None:
        raise KeyCannotDecide


async def _carry_out(request: Request, found: Approval, intent: Intent) -> Response:
    """Run the held request as its requester. `intent`: that of the approver."""
    store, approver_key = request.services.keeper.store, None
    route, params = request.services.router.find(found.method, found.path.encode("latin-1"))
    if intent.key:
        seen = request.caller.permissions
        answer = partial(_encode_approved, permissions=seen, approval_id=found.id, state=DONE)
        scope_id = intent.scope_id or request.caller.account_id
        approver_key = ApproverKey(scope_id, intent.key, intent.fingerprint, answer)
    me = request.caller
    check = partial(_check_requester, found=found, route=route)
    consent = Consent(found.id, found.scope_id, me.account_id, me.token_id, intent.reason, check, approver_key)
    held = await bulk_rows.find_held(store, [found.id])
    run = partial(_make_request, request, found, consent, bulk_jobs.make_approved_step(held[0]) if held else None)
    caller = await load_requester(store, found.actor_id, found.token_id)
    try:
        if request.dry_run:
            await check(store)  # else the transaction of the change checks it
        try:
            return await dispatcher.call_as(run(dry_run=request.dry_run), caller, route, params)
        except ChangedMeanwhile:
            # show what would change now: the approver can look at it, and approve again
            tried = await dispatcher.call_as(run(dry_run=True), caller, route, params)
            await approvals.renew_preview(store, found.id, tried.state_fingerprint, tried.entries)
            raise
    except (PermissionMissing, PowerMissing, RoleMissing):
        raise RequesterLostAccess from None  # it is the requester who lacks a permission, not the caller


def _encode_approved(answer: bytes, permissions: Collection[str], approval_id: str, state: str) -> bytes:
    told = hide_emails(answer, permissions)
    return shapes.encode(history_shapes.Approved(approval_id, state, told))


def _make_request(request: Request, found: Approval, consent: Consent, step: Step | None, *, dry_run: bool) -> Request:
    """Make the held request again, with the consent of the approver. `step`: of the bulk job that asked for it."""
    path = found.path.encode("latin-1")
    body = unseal(request.services.keeper.key_file, path, base64.b64decode(found.body))
    headers = {b"content-type": found.content_type.encode(), b"idempotency-key": (found.key or "").encode()}
    headers[b"x-reason"] = (found.reason or "").encode()
    headers[b"user-agent"] = request.headers.get(b"user-agent", b"")
    return Request(
        services=request.services,
        id=request.id,
        method=found.method,
        raw_path=path,
        raw_query=(queries.make_dry_run(found.query) if dry_run else found.query).encode("latin-1"),
        headers={name: value for name, value in headers.items() if value},
        scope={"headers": (), "client": (request.address, 0)},
        receive=request.receive,
        # the console has shown a preview of its own
        expected=None if dry_run else request.expected or found.state_fingerprint,
        raw_body=body,
        consent=None if dry_run else consent,
        step=None if dry_run else step,
    )


async def _check_requester(tx: Reading, found: Approval, route: Route) -> None:
    dispatcher.require_permissions(await load_requester(tx, found.actor_id, found.token_id), route)
