"""Changing something, in two steps: what will change, then whether it shall, and why.

A form names an operation of the API and what to send; both steps run that operation, the first as a dry run. What the
first step found must still be so in the second, in its transaction, or the first step is shown again.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from gamekeeper.console import changes, differences, erasing, inside, pages, password, sessions
from gamekeeper.console.erasing import Erasure
from gamekeeper.console.inside import Call
from gamekeeper.console.refusals import NameNotTyped, UnusablePassword, again
from gamekeeper.game.changes import fingerprint_state
from gamekeeper.game.effects import PlayerCreated, PlayerDeleted
from gamekeeper.game.history import find_undone
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import ChangedMeanwhile, ItemMovedOn, MissingField, Refusal
from gamekeeper.http import errors
from gamekeeper.http.request import Request
from gamekeeper.http.response import Answer
from gamekeeper.store import history, players, users
from gamekeeper.store.history import ALL, BY_ACTOR, NEVER, HistoryChange, HistoryFilter
from gamekeeper.store.ledger import LedgerEntry

BODY = "body."  # before the name of a body's field; a password is chosen in the second step
REASON = BODY + "reason"  # what whoever is banned, muted or kicked is told
LATEST = 2_000  # changes, among which those of a request are looked for, right after it
OF_ONE = 50
OURS = re.compile(r"[0-9a-f]{24,}", re.ASCII)  # the id of a request, as asgi.py makes it
UNDO = re.compile(r"/api/keeper/v1/changes/(\d+)/undo", re.ASCII)
ALREADY = "already"  # in place of the id of a request that was not the first to do it
UNWRITTEN = "unwritten"  # and of one of which the ledger keeps nothing
COMES_TO = {PlayerDeleted.kind: "deletes {} with all it holds", PlayerCreated.kind: "brings {} back"}  # as an undo
FORCED = {"force": "true"}  # an undo although another player may have gained the item
NO_LINE = fingerprint_state(())  # of what leaves no line in the ledger, where a reason would be kept


class Form(NamedTuple):
    """What came with a form, checked to be ours."""

    call: Call
    back: str
    asks: tuple[str, ...]  # the passwords that the second step asks for
    confirmed: bool
    fields: Mapping[str, str]


async def act(request: Request, raw: bytes) -> Answer:
    form = read(request, raw)
    if not form.confirmed:
        return await _preview(request, form)
    try:
        return await _confirm(request, form)
    except Exception as error:  # noqa: BLE001 - the form shows every failure, and keeps its key
        return _refused(request, form, errors.refusal_of(error, request.id))


async def _confirm(request: Request, form: Form) -> Answer:
    try:
        await erasing.require_name(request, form.call, form.fields)
        answer = await inside.call(request, await _with_passwords(request, form))
    except (ChangedMeanwhile, NameNotTyped, UnusablePassword) as refusal:
        return pages.with_refusal(await _preview(request, form, refusal), refusal)
    if pages.wants_json(request):
        return await _outcome(request)
    by = ALREADY if answer.replayed else request.id if answer.entries else UNWRITTEN
    return pages.redirect(_with(_spot(form), done=by))


async def done(request: Request) -> Answer:
    """What a request changed, with a way back where there is one."""
    request_id = request.params[0]
    told = await _of_request(request, request_id) if OURS.fullmatch(request_id) else []
    undone = await find_undone(request.services.keeper.store, [each.seq for each in told])
    found = await changes.entries(request, told, undone)
    return pages.render(request, "done.html", entries=found, by=request_id, already=ALREADY, unwritten=UNWRITTEN)


async def _of_request(request: Request, request_id: str) -> list[HistoryChange]:
    """One's own; what was done over the game link is not among an account's changes, but among everybody's."""
    me, store = request.caller, request.services.keeper.store
    wanted = HistoryFilter(
        within=BY_ACTOR, whose=me.account_id, request_id=request_id, accounts="users.query" in me.rights
    )
    found = await history.read_page(store, wanted, NEVER, LATEST, OF_ONE)
    if not found and "game.link" in me.rights:
        told = await history.read_page(store, wanted._replace(within=ALL, whose=None), NEVER, LATEST, OF_ONE)
        found = [each for each in told if each.actor_id == me.account_id]
    return found[::-1]


def read(request: Request, raw: bytes) -> Form:
    fields = sessions.own_fields(request, raw)
    confirmed = fields.get("confirmed") == "yes"
    require(fields, "method", "path")
    if confirmed:
        require_confirmation(fields)
    asks = tuple(each for each in fields.get("ask", "").split(",") if each)
    body: dict[str, object] = {
        name.removeprefix(BODY): value for name, value in fields.items() if name.startswith(BODY) and value
    }
    body |= {name: hash_for_wire(new_guid()) for name in asks}  # a dry run takes any password
    call = Call(
        method=fields["method"],
        path=fields["path"],
        body=body,
        query=FORCED if fields.get("force") == "yes" else {},
        reason=fields.get("reason", "").strip(),
        key=fields.get("key", "") if confirmed else "",
        dry_run=not confirmed,
        expected=fields.get("seen") if confirmed else None,
    )
    return Form(call, pages.local(fields.get("back", "")), asks, confirmed, fields)


async def _with_passwords(request: Request, form: Form) -> Call:
    if not form.asks:
        return form.call
    whose = await password.owner_of(request, form.call)
    chosen = {name: hash_for_wire(password.choose(request, form.fields, name, whose)) for name in form.asks}
    return form.call._replace(body={**(form.call.body or {}), **chosen})


def require_confirmation(fields: Mapping[str, str]) -> None:
    """Nobody is asked why where it would be kept nowhere; should there be a line after all, nothing is done."""
    require(fields, "key", "seen", *([] if fields.get("seen") == NO_LINE else ["reason"]))


def require(fields: Mapping[str, str], *names: str) -> None:
    for each in names:
        if not fields.get(each, "").strip():
            raise MissingField(field=each)


async def _preview(request: Request, form: Form, refusal: Refusal | None = None) -> Answer:
    trial = form.call._replace(dry_run=True, expected=None, key="")
    try:
        tried = await inside.call(request, trial)
    except ItemMovedOn as moved:
        if pages.wants_json(request):
            raise
        form, refusal = form._replace(call=form.call._replace(query=FORCED)), moved
        tried = await inside.call(request, trial._replace(query=FORCED))
    lines = await differences.of_request(request.services.keeper, tried.entries, dry_run=True)
    if pages.wants_json(request):
        found = [[line._asdict() for line in each] for each in lines]
        return pages.answer({"changes": found, "seen": tried.seen})
    stale = isinstance(refusal, ChangedMeanwhile)
    problem = f"{refusal.message} This is what would happen now:" if stale else refusal.message if refusal else ""
    asked = partial(_asked, request, form, tried.entries, key=new_guid(), seen=tried.seen, problem=problem)
    if erasing.is_erasure(request, form.call):
        return asked(changes=None, erasure=await erasing.summarise(request, form.call, tried.entries))
    return asked(changes=list(zip(await _whose(request, tried.entries), lines, strict=True)))


async def _whose(request: Request, entries: Sequence[LedgerEntry]) -> list[str]:
    """The name of whom each is about, where there is one; an account's only for those who may see accounts."""
    store, sees = request.services.keeper.store, "users.query" in request.caller.rights
    characters = await players.read_summaries(store, {each.player_id for each in entries if each.player_id})
    accounts = await users.read_by_ids(store, {each.user_id for each in entries if each.user_id and sees})
    names = {each.id: each.name for each in (*characters, *accounts)}
    return [names.get(each.player_id or each.user_id or "", "") for each in entries]


def _refused(request: Request, form: Form, refusal: Refusal) -> Answer:
    """What can be sent again stays there with its key: then it is not done twice, whatever became of it."""
    problem = again(refusal)
    if pages.wants_json(request) or not problem:
        return pages.refused(request, refusal)
    # another generated password would not be set: the key is good for the one that was sent
    sent = next((form.fields.get(password.GENERATED + name, "") for name in form.asks), "")
    asked = partial(_asked, request, form, (), generated=sent)
    page = asked(key=form.call.key, seen=form.call.expected, problem=problem, changes=None)
    return pages.with_refusal(page, refusal)


def _asked(
    request: Request,
    form: Form,
    entries: Sequence[LedgerEntry],
    *,
    generated: str | None = None,
    erasure: Erasure | None = None,
    **more: object,
) -> Answer:
    """Whether it shall be done, and why; `entries`: what the ledger would say, as far as that is known."""
    return pages.render(
        request,
        "preview.html",
        title=_title(request, form.call, entries),
        deletes=any(each.kind == PlayerDeleted.kind for each in entries),
        call=form.call,
        force=form.call.query == FORCED,
        sent={name: value for name, value in form.fields.items() if name.startswith(BODY)},
        asks=form.asks,
        back=_spot(form),
        about=form.fields.get("about", ""),  # which one is meant, as the page had it
        no_line=NO_LINE,
        typed=form.fields.get(erasing.TYPED, "") if erasing.is_erasure(request, form.call) else None,
        erasure=erasure,
        reason=form.call.reason or form.fields.get(REASON, "").strip(),  # nobody types the same twice
        **password.choices(request, generated),
        **more,
    )


def _title(request: Request, call: Call, entries: Sequence[LedgerEntry]) -> str:
    """What is done; of an undo that makes a character go or come, just that: nobody sees it among its many lines."""
    read = request.services.keeper.changes.codec.decode_side
    for each in entries:
        if each.undoes and each.kind in COMES_TO:
            name = read(each.before or each.after or "{}").player.get("name")
            return f"Undo change {each.undoes}: this {COMES_TO[each.kind].format(name)}"
    route, _ = inside.find(request, call.method, call.path)
    return summary(route.handler.__doc__)


async def _outcome(request: Request) -> Answer:
    told = await _of_request(request, request.id)
    lines = await differences.lines(request.services.keeper, [(each.before, each.after) for each in told])
    found = [[line._asdict() for line in each] for each in lines]
    return pages.answer({"request": request.id, "numbers": [each.seq for each in told], "changes": found})


def summary(doc: str | None) -> str:
    return (doc or "").partition("\n")[0].rstrip(".")


def _spot(form: Form) -> str:
    """Where the browser goes back to, with the part of the page that the form was in: no page jumps to its top."""
    undone = UNDO.fullmatch(form.call.path)
    return f"{form.back}#change-{undone[1]}" if undone and "#" not in form.back else form.back


def _with(place: str, **query: str) -> str:
    whole, sign, part = place.partition("#")
    path, _, old = whole.partition("?")
    kept = [(name, value) for name, value in parse_qsl(old, keep_blank_values=True) if name not in query]
    return f"{path}?{urlencode([*kept, *query.items()])}{sign}{part}"
