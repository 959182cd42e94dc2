"""Signing in and out."""

from urllib.parse import quote

from gamekeeper.console import marks, pages, sessions
from gamekeeper.console.tokens import WINDOW, WINDOWS, live
from gamekeeper.game import tokens
from gamekeeper.game.refusals import BadField, LogInRefusal, TooManyRequests
from gamekeeper.http import errors
from gamekeeper.http.request import Request

SIGN_IN = "/console/sign-in"
TWICE = "Your browser sends more than one cookie {name}, and one is not ours. Delete this site's cookies, then sign in."

HERE, SESSIONS, ALL = "", "sessions", "all"  # what ends when one signs out
ENDED = {
    SESSIONS: "You are signed out everywhere: all console sessions of the account have ended. Its programs go on.",
    ALL: "You are signed out everywhere, and all tokens of the account have ended: its programs must log in again.",
}


async def show(request: Request) -> bytes:
    to = pages.local(request.query.get("next", ""))
    twice = sessions.doubled(request)
    problem = TWICE.format(name=twice) if twice else ""
    return pages.render(request, "sign_in.html", to=to, name="", problem=problem, ended=_ended(request))


async def sign_in(request: Request, raw: bytes) -> bytes:
    sessions.require_same_origin(request)
    fields = sessions.fields(raw)
    name, to = fields.get("name", "").strip(), pages.local(fields.get("next", ""))
    try:
        await sessions.sign_in(request, name, fields.get("password", ""))
    except (LogInRefusal, TooManyRequests) as refusal:
        request.status = errors.status(type(refusal))
        request.answer_headers += errors.headers(refusal)
        return pages.render(request, "sign_in.html", to=to, name=name, problem=refusal.message, ended="")
    return pages.redirect(request, to)


async def ask(request: Request) -> bytes:
    """What ends when one signs out everywhere, counted first."""
    page = await live(request.keeper.store, request.caller.account_id, marks.START, WINDOW * WINDOWS)
    opened = sum(each.idle_ms is not None for each in page.tokens)
    return pages.render(
        request, "sign_out.html", sessions=opened, programs=len(page.tokens) - opened, more=page.next is not None
    )


async def sign_out(request: Request, raw: bytes) -> bytes:
    """Here; or everywhere, and if that is wanted with what programs have."""
    ends = sessions.own_fields(request, raw).get("ends", HERE)
    me = request.caller
    if ends == ALL:
        await request.change(lambda tx: tokens.revoke_all(tx, me.account_id), lambda _: b"")
    elif ends == SESSIONS:
        await request.change(lambda tx: tokens.revoke_sessions(tx, me.account_id), lambda _: b"")
    elif ends == HERE:
        await request.change(lambda tx: tokens.revoke_one(tx, me.account_id, me.token_id), lambda _: b"")
    else:
        raise BadField(field="ends", problem=f"must be {SESSIONS} or {ALL}")
    request.callers.forget()
    sessions.forget(request)
    return pages.redirect(request, f"{SIGN_IN}?ended={ends}" if ends else SIGN_IN)


def to_sign_in(request: Request) -> bytes:
    to = pages.asked(request) if request.method == "GET" else sessions.PATH
    return pages.redirect(request, f"{SIGN_IN}?next={quote(pages.local(to), safe='')}")


def _ended(request: Request) -> str:
    """What one has just done on the way here."""
    return ENDED.get(request.query.get("ended", ""), "")
