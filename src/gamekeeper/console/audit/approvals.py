"""The page of approvals: changes that wait for a second person, with their preview, and decided ones."""

import base64
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.audit import bulk_titles, dialogs
from gamekeeper.console.audit.bulk_titles import JobView
from gamekeeper.console.frame import differences, list_page, pages
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.differences import Difference
from gamekeeper.console.frame.labels import name_kind
from gamekeeper.console.frame.list_page import BeforeMark
from gamekeeper.console.frame.menu import APPROVALS, SUPPORT
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.audit import approvals
from gamekeeper.http.audit.approvals import SEES_EMAILS, find_invited, hide_emails, mask_email
from gamekeeper.http.server import queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit.approvals import DENIED, DONE, EXPIRED, WAITING, Approval
from gamekeeper.store.core.ledger import LedgerEntry

APPROVALS_PER_PAGE = 20
STATES = PerLanguage[Mapping[str, str]](
    lambda: {
        WAITING: gettext("Waiting"),
        DONE: gettext("Approved"),
        DENIED: gettext("Denied"),
        EXPIRED: gettext("Expired"),
    }
)


class ApprovalView(NamedTuple):
    """An approval with what it would change. `facts`: what else a decision needs, such as who gets an invitation."""

    approval: Approval
    title: str
    changes: Sequence[Sequence[Difference]]
    facts: Sequence[Fact]
    job: JobView | None  # the bulk job that would start


async def show(request: Request) -> Response:
    mark = queries.decode(BeforeMark, request.query).before
    page = await approvals.load_page(request.services.keeper.store, None, mark, APPROVALS_PER_PAGE, whole=True)
    return pages.render(
        request,
        "audit/approvals.html",
        entries=[await _make_entry(request, each) for each in page.approvals],
        states=STATES(),
        rules=request.services.keeper.settings.approvals,
        **list_page.link_by_time(request, page.next),
    )


async def _make_entry(request: Request, approval: Approval) -> ApprovalView:
    seen, store = request.caller.permissions, request.services.keeper.store
    held = approvals.read_preview(approval._replace(preview=hide_emails(approval.preview, seen)))
    logged = [bulk_titles.make_entry(each, approval.actor_id) for each in held]
    found = await differences.list_differences(
        request.services.keeper, logged, sees_accounts="users.query" in seen, is_preview=True
    )
    job = await bulk_titles.find_view(store, logged[0].kind, logged[0].after) if logged else None
    email = find_invited(approval, seen)  # address to which the mail of an invitation would go
    facts = bulk_titles.list_facts(job) if job else []
    if email is not None:
        facts = [Fact(gettext("The mail goes to"), email)]
    title = bulk_titles.count_players(job) if job else await _find_title(request, approval, logged, email)
    return ApprovalView(approval, title, found, facts, job)


async def _find_title(request: Request, approval: Approval, logged: Sequence[LedgerEntry], email: str | None) -> str:
    """Return what a request does, such as a gift to Bob; once its body was removed, the kind of change."""
    body = _read_body(approval) if email is None else {"email": email}
    if body and SEES_EMAILS not in request.caller.permissions:
        body = {name: mask_email(of) if isinstance(of, str) and "@" in of else of for name, of in body.items()}
    if body is not None:
        return (await dialogs.describe(request, ApiCall(approval.method, approval.path, body), logged)).button
    return name_kind(logged[0].kind) if logged else f"{approval.method} {approval.path}"


def _read_body(approval: Approval) -> Mapping[str, object] | None:
    """Return the fields of a waiting request; None for a form, and for a request that was decided."""
    if approval.state != WAITING:
        return None
    try:
        return msgspec.json.decode(base64.b64decode(approval.body) or b"{}", type=dict[str, object])
    except msgspec.DecodeError:
        return None


DIALOGS = (
    Dialog("approve", "Approve the change of %(name)s"),
    Dialog("deny", "Deny the change of %(name)s"),
)
PAGES = (
    page_route("/approvals", show, APPROVALS)
    .in_menu("Approvals", SUPPORT, 50, "approvals")
    .with_help("Changes that wait for a second person. You cannot approve your own.", "approvals"),
)
