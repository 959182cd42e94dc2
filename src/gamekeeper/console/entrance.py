"""Signing in and out."""

from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console import pages, sessions
from gamekeeper.console.tokens import WINDOW, WINDOWS, live
from gamekeeper.game import tokens
from gamekeeper.game.refusals import BadField, InvalidGrant, LogInRefusal, TooManyRequests
from gamekeeper.http import mail_cursor
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

SIGN_IN, SIGN_OUT, OWN_PASSWORD = "/console/sign-in", "/console/sign-out", "/console/me/password"
WRONG = "The name or the password is wrong. Type both again."
TWICE = "Your browser sends more than one cookie {name}, and one is not ours. Delete this site's cookies, then sign in."

HERE, SESSIONS, ALL = "", "sessions", "all"  # what ends when one signs out
LAPSED, UNSENT = "lapsed", "unsent"  # it ended by itself: before a page was asked for, before a form was sent
PASSWORD, PERHAPS = "password", "perhaps"  # by a change of one's own password; by that, or by itself before it


class Notice(NamedTuple):
    words: str
    kind: str = ""


ENDED = {
    SESSIONS: Notice(
        "You are signed out everywhere: all console sessions of the account have ended. Its programs go on.", "good"
    ),
    ALL: Notice(
        "You are signed out everywhere, and all tokens of the account have ended: its programs must log in again.",
        "good",
    ),
    LAPSED: Notice("You were signed out. Sign in to go on where you were."),
    PASSWORD: Notice(
        "Your password is changed, and all sessions and tokens of your account have ended. Sign in with the new one.",
        "good",
    ),
    PERHAPS: Notice(
        "You were signed out. If your password was changed a moment ago, sign in with the new one; else with the old.",
        "bad",
    ),
    UNSENT: Notice("You were signed out; nothing was done of what you have just sent. Sign in and do it again.", "bad"),
}


async def show(request: Request) -> Response:
    to, twice = pages.local(request.query.get("next", "")), sessions.doubled(request)
    ended = ENDED.get(request.query.get("ended", ""))  # what one comes from
    notices = [*([ended] if ended else []), *([Notice(TWICE.format(name=twice), "bad")] if twice else [])]
    return pages.render(request, "sign_in.html", to=to, name="", notices=notices)


async def sign_in(request: Request, raw: bytes) -> Response:
    sessions.require_same_origin(request)
    fields = sessions.fields(raw)
    name, to = fields.get("name", "").strip(), pages.local(fields.get("next", ""))
    try:
        cookie = await sessions.sign_in(request, name, fields.get("password", ""))
    except (LogInRefusal, TooManyRequests) as refusal:
        notice = Notice(WRONG if isinstance(refusal, InvalidGrant) else refusal.message, "bad")
        page = pages.render(request, "sign_in.html", to=to, name=name, notices=[notice])
        return pages.with_refusal(page, refusal)
    return pages.redirect(to, cookie)


async def ask(request: Request) -> Response:
    """What ends when one signs out everywhere, counted first."""
    page = await live(request.services.keeper.store, request.caller.account_id, mail_cursor.START, WINDOW * WINDOWS)
    opened = sum(each.idle_ms is not None for each in page.tokens)
    return pages.render(
        request, "sign_out.html", sessions=opened, programs=len(page.tokens) - opened, more=page.next is not None
    )


async def sign_out(request: Request, raw: bytes) -> Response:
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
    request.services.callers.clear_cache()
    to = f"{SIGN_IN}?ended={ends}" if ends else SIGN_IN
    return pages.redirect(to, sessions.delete_cookie(request))


def to_sign_in(request: Request) -> Response:
    """And from there back to where one was."""
    ended = _ended(request)
    query = {"next": pages.place(request)} | ({"ended": ended} if ended else {})
    return pages.redirect(f"{SIGN_IN}?{urlencode(query)}")


def _ended(request: Request) -> str:
    """Who only wanted to sign out here has what they wanted."""
    if request.method == "GET":
        return LAPSED if sessions.remembered(request) else ""
    if request.route.path == OWN_PASSWORD:  # it may be the second time that it is sent: the first ended the session
        return PERHAPS
    leaves = request.route.path == SIGN_OUT and sessions.fields(request.raw_body).get("ends", HERE) == HERE
    return LAPSED if leaves else UNSENT
