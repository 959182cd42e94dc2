"""Change something in two steps: a dialog shows what will change, then the operation runs with a reason.

A form names an operation of the API and its body. Both steps call that operation, the first as a dry run. The second
step fails if the data changed since the first; then the dialog is shown again.
"""

import re
from collections.abc import Sequence
from functools import partial
from urllib.parse import parse_qsl, urlencode

from gamekeeper.console.access import api_keys, passwords
from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.accounts import erasures, registrations
from gamekeeper.console.accounts.erasures import Erasure
from gamekeeper.console.audit import bulk_titles, change_lines, dialogs
from gamekeeper.console.audit import history as console_history
from gamekeeper.console.frame import api_calls, differences, labels, pages
from gamekeeper.console.frame.api_calls import BODY, FORCE, NO_CHANGES, REASON, ActionForm, ApiCall, read_form
from gamekeeper.console.frame.differences import Difference
from gamekeeper.console.frame.refusals import NameNotTyped, UnusablePassword, explain_retry
from gamekeeper.console.frame.routes import Dialog, form_route, page_route
from gamekeeper.console.frame.texts import describe_refusal, gettext
from gamekeeper.console.players import items, players
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.audit.history import NOTE_KINDS, find_undone_changes
from gamekeeper.game.audit.refusals import ApprovalRequired
from gamekeeper.game.core.lookup import new_guid
from gamekeeper.game.core.refusals import ChangedMeanwhile, Malformed, PlayerOnline, Refusal
from gamekeeper.game.players.changes import PlayerDeleted
from gamekeeper.game.players.refusals import ItemMovedOn, SlotChanged
from gamekeeper.game.world import commands
from gamekeeper.http.server import errors
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import APPROVAL_HEADER, Response
from gamekeeper.store.accounts import users
from gamekeeper.store.audit import history
from gamekeeper.store.audit.history import ALL, BY_ACTOR, NEVER, HistoryChange, HistoryFilter
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.players import players as stored_players

NEWEST_CHANGES = 2_000  # how many of the newest changes are searched for those of a request that has just run
REQUEST_CHANGES = 50  # how many changes of one request are shown
REQUEST_ID = re.compile(r"[0-9a-f]{24,}", re.ASCII)  # form of the request ids that asgi.py makes
UNDO = re.compile(r"/api/keeper/v1/changes/(\d+)/undo", re.ASCII)
REPLAYED = "already"  # in place of the request id: the call was a repetition, so it changed nothing
UNRECORDED = "unwritten"  # in place of the request id: the call succeeded without a change in the audit log
IN_SECURITY_LOG = "security"  # in place of the request id: as before, but the security log has it


async def act(request: Request, raw: bytes) -> Response:
    """Show the dialog for a form, or run the operation if the form comes from that dialog."""
    try:
        return await _act(request, raw)
    except Malformed as refusal:
        raise labels.use_label(refusal) from None


async def _act(request: Request, raw: bytes) -> Response:
    form = read_form(request, raw)
    form = form._replace(call=await items.replace_names(request, form.call))
    try:
        return await (_confirm(request, form) if form.confirmed else _preview(request, form))
    except PlayerOnline as refusal:
        return pages.render_refusal(request, refusal, form.back, await erasures.find_online(request, form.call))
    except SlotChanged as refusal:
        return pages.render_refusal(request, await items.explain_changed_slot(request, form.call, refusal), form.back)
    except Exception as error:
        if not form.confirmed:
            raise
        # the dialog shows every failure, and keeps its idempotency key
        return _refuse(request, form, errors.to_refusal(error, request.id))


async def _confirm(request: Request, form: ActionForm) -> Response:
    try:
        await erasures.require_name(request, form.call, form.fields)
        answer = await api_calls.send(request, await _add_passwords(request, form))
    except (ChangedMeanwhile, NameNotTyped, UnusablePassword) as refusal:
        return pages.with_refusal(await _preview(request, form, refusal), refusal)
    if answer.held is not None:
        raise ApprovalRequired(answer.held)
    await registrations.give_role(request, form.call, form.fields)
    if pages.wants_json(request):
        return await _answer_outcome(request)
    if api_keys.is_issued_by(request, form.call):
        return api_keys.show_issued(request, answer, _find_return_path(form))
    unlogged = IN_SECURITY_LOG if dialogs.find_dialog(request, form.call).secured else UNRECORDED
    by = REPLAYED if answer.replayed else request.id if answer.entries else unlogged
    back = _add_query(await registrations.find_page(request, form.call) or _find_return_path(form), done=by)
    generated = [value for name, value in form.fields.items() if name.startswith(passwords.GENERATED)]
    if not form.asks or not generated or not generated[0]:
        return pages.redirect(back)
    # shown in the answer to the form itself: a redirect would need the password in an address
    title = form.fields.get("title", "")
    return pages.render(request, "accounts/password_set.html", title=title, password=generated[0], back=back)


async def show_done(request: Request) -> Response:
    """Show what a request changed, with a button to undo it where that is possible."""
    request_id = request.params[0]
    found = await _find_changes(request, request_id) if REQUEST_ID.fullmatch(request_id) else []
    undone = await find_undone_changes(request.services.keeper.store, found)
    keeper = request.services.keeper
    states = await commands.load_delivery_states(keeper.store, found, keeper.feed.cursors.find)
    entries = await console_history.load_entries(request, found, undone, states, is_done=True)
    return pages.render(
        request,
        "audit/done.html",
        entries=entries,
        pending=[seq for seq, each in states.items() if any(one.state in change_lines.PENDING for one in each)],
        by=request_id,
        replayed=REPLAYED,
        unrecorded=UNRECORDED,
        secured=IN_SECURITY_LOG,
    )


async def _find_changes(request: Request, request_id: str) -> list[HistoryChange]:
    """Find the caller's own changes of a request.

    An account's list of changes lacks those that it made over the game link: these are searched among all changes.
    """
    me, store = request.caller, request.services.keeper.store
    wanted = HistoryFilter(
        within=BY_ACTOR, whose=me.account_id, request_id=request_id, accounts="users.query" in me.permissions
    )
    found = await history.read_page(store, wanted, NEVER, NEWEST_CHANGES, REQUEST_CHANGES)
    if not found and "game.link" in me.permissions:
        everyones = wanted._replace(within=ALL, whose=None)
        listed = await history.read_page(store, everyones, NEVER, NEWEST_CHANGES, REQUEST_CHANGES)
        found = [each for each in listed if each.actor_id == me.account_id]
    return found[::-1]


async def _add_passwords(request: Request, form: ActionForm) -> ApiCall:
    if not form.asks:
        return form.call
    owner = await passwords.find_owner(request, form.call)
    chosen = {name: hash_for_wire(passwords.choose(request, form.fields, name, owner)) for name in form.asks}
    return form.call._replace(body={**(form.call.body or {}), **chosen})


async def _preview(request: Request, form: ActionForm, refusal: Refusal | None = None) -> Response:
    """Run the call as a dry run and show the dialog; `refusal` is why an earlier confirmation failed."""
    trial = form.call._replace(dry_run=True, expected=None, key="")
    try:
        tried = await api_calls.send(request, trial)
    except ItemMovedOn as moved:
        if pages.wants_json(request):
            raise
        form, refusal = form._replace(call=form.call._replace(query=FORCE)), moved
        tried = await api_calls.send(request, trial._replace(query=FORCE))
    found = await differences.list_differences(
        request.services.keeper, tried.entries, sees_accounts=_sees_accounts(request), is_preview=True
    )
    found = [
        change_lines.list_note_lines(entry) if entry.kind in NOTE_KINDS else each
        for entry, each in zip(tried.entries, found, strict=True)
    ]
    dialog = await dialogs.describe(request, form.call, tried.entries)
    if pages.wants_json(request):
        return pages.answer_json({"changes": _to_json(found), "seen": tried.state_fingerprint, "button": dialog.button})
    problem = describe_refusal(refusal) if refusal else ""
    if isinstance(refusal, ChangedMeanwhile):
        problem = gettext("%(problem)s The table shows what would change now.", problem=problem)
    show = partial(
        _render,
        request,
        form,
        dialog,
        key=new_guid(),
        seen=tried.state_fingerprint,
        problem=problem,
        needs_approval=APPROVAL_HEADER in tried.headers,
    )
    deletes = any(each.kind == PlayerDeleted.kind for each in tried.entries)
    if erasures.is_erasure(request, form.call):
        return show(changes=None, erasure=await erasures.summarise(request, form.call, tried.entries), is_danger=True)
    names, facts = await _find_names(request, tried.entries), await _list_facts(request, form, tried)
    found = registrations.hide_flags(form.fields, found)
    return show(changes=_merge_tables(names, found), facts=facts, is_danger=deletes)


def _merge_tables(
    names: Sequence[str], found: Sequence[Sequence[Difference]]
) -> list[tuple[str, Sequence[Difference]]]:
    """Show differences once that follow each other and are the same, such as those of an account and its player."""
    tables: list[tuple[str, Sequence[Difference]]] = []
    for name, lines in zip(names, found, strict=True):
        if tables and tables[-1][1] == lines:
            heading = gettext("%(names)s, %(name)s", names=tables[-1][0], name=name)
            tables[-1] = (heading if tables[-1][0] and name else tables[-1][0] or name, lines)
        else:
            tables.append((name, lines))
    return tables


async def _list_facts(request: Request, form: ActionForm, tried: Response) -> list[Fact]:
    """List what a dialog shows besides the changes, such as a key, other players or a held bulk job."""
    call, operation = form.call, api_calls.find_operation(request, form.call.method, form.call.path)[0].name
    facts = [
        *await api_keys.list_facts(request, operation, call, tried),
        *await players.list_other_players(request, call),
    ]
    role = registrations.list_facts(request, call, form.fields)
    facts += await api_keys.list_weakened_keys(request, operation, tried)
    facts += await bulk_titles.list_facts_of_approval(request, operation, call.path)
    return [*facts, *await items.list_worn_items(request, tried.entries), *role]


async def _find_names(request: Request, entries: Sequence[LedgerEntry]) -> list[str]:
    """Find the name of each entry's player or account.

    An account is shown as "Account Rosamund", because its name alone looks like that of a player. A player is shown
    as "Player Peregrin" only if there are also accounts. Callers without users.query see no names of accounts.
    """
    store, sees_accounts = request.services.keeper.store, _sees_accounts(request)
    named_players = await stored_players.read_summaries(store, {each.player_id for each in entries if each.player_id})
    accounts = await users.read_by_ids(store, {each.user_id for each in entries if each.user_id and sees_accounts})
    names = {each.id: each.name for each in (*named_players, *accounts)}
    are_all_players = all(each.player_id for each in entries)
    found: list[str] = []
    for each in entries:
        name = names.get(each.player_id or each.user_id or "", "")
        if name and not each.player_id:
            name = gettext("Account %(name)s", name=name)
        elif name and not are_all_players:
            name = gettext("Player %(name)s", name=name)
        found.append(name)
    return found


def _refuse(request: Request, form: ActionForm, refusal: Refusal) -> Response:
    """Show the dialog again if a repeated call can succeed. Its idempotency key stays: the call takes effect once."""
    problem, refusal = explain_retry(refusal), labels.use_label(refusal)
    if pages.wants_json(request) or not problem:
        return pages.render_refusal(request, refusal)
    # offer the generated password that was sent: with another one, the same idempotency key would be rejected
    sent = next((form.fields.get(passwords.GENERATED + name, "") for name in form.asks), "")
    page = _render(
        request,
        form,
        # the texts that the form sent: the database may be down, so new ones cannot be made
        dialogs.find_dialog(request, form.call)._replace(
            title=form.fields.get("title", ""), button=form.fields.get("button", "")
        ),
        generated=sent,
        key=form.call.key,
        seen=form.call.expected,
        problem=problem,
        changes=None,
        is_danger=form.fields.get("danger") == "yes",
    )
    return pages.with_refusal(page, refusal)


def _render(
    request: Request,
    form: ActionForm,
    dialog: Dialog,
    *,
    key: str,
    seen: str | None,
    is_danger: bool,
    generated: str | None = None,
    needs_approval: bool = False,
    erasure: Erasure | None = None,
    facts: Sequence[Fact] = (),
    **context: object,
) -> Response:
    call, back = form.call, _find_return_path(form)
    about = form.fields.get("about", "")  # details that only the page with the form knows, such as the kind of a token
    hidden = {"method": call.method, "path": call.path, "back": back, "key": key, "seen": seen}
    hidden |= {"title": dialog.title, "button": dialog.button, "confirmed": "yes"}
    flags, more = {"danger": is_danger, "force": call.query == FORCE}, {"about": about, "ask": ",".join(form.asks)}
    hidden |= {name: "yes" for name, is_set in flags.items() if is_set}
    hidden |= {name: value for name, value in form.fields.items() if name.startswith((BODY, registrations.ROLE))}
    hidden |= {name: text for name, text in more.items() if text}
    return pages.render(
        request,
        "audit/preview.html",
        title=dialog.title,
        button=dialog.button,
        hidden=hidden,
        asks_told=dialog.told and REASON not in form.fields,
        secured=dialog.secured,
        asks=form.asks,
        back=back,
        about=about,
        asks_reason=seen != NO_CHANGES,
        typed=form.fields.get(erasures.TYPED, "") if erasures.is_erasure(request, call) else None,
        is_danger=is_danger,
        erasure=erasure,
        facts=facts,
        needs_approval=needs_approval,
        reason=call.reason or form.fields.get(REASON, "").strip(),
        **passwords.list_choices(request, generated),
        **context,
    )


async def _answer_outcome(request: Request) -> Response:
    """Answer a script of the console with the changes that its request made, as JSON."""
    made = await _find_changes(request, request.id)
    found = await differences.list_differences(request.services.keeper, made, sees_accounts=_sees_accounts(request))
    return pages.answer_json(
        {"request": request.id, "numbers": [each.seq for each in made], "changes": _to_json(found)}
    )


def _to_json(changes: Sequence[Sequence[Difference]]) -> list[list[dict[str, str]]]:
    return [[difference._asdict() for difference in each] for each in changes]


def _sees_accounts(request: Request) -> bool:
    return "users.query" in request.caller.permissions


def _find_return_path(form: ActionForm) -> str:
    """Return the path of the page that the form was on. An undo returns to its change, so the page does not jump."""
    undone = UNDO.fullmatch(form.call.path)
    return f"{form.back}#change-{undone[1]}" if undone and "#" not in form.back else form.back


def _add_query(path: str, **query: str) -> str:
    address, sign, fragment = path.partition("#")
    address, _, old = address.partition("?")
    kept = [(name, value) for name, value in parse_qsl(old, keep_blank_values=True) if name not in query]
    return f"{address}?{urlencode([*kept, *query.items()])}{sign}{fragment}"


PAGES = (
    form_route("/act", act),
    page_route("/done/[requestId]", show_done),
)
