"""Signing in and out."""

from urllib.parse import quote

from gamekeeper.console import pages, sessions
from gamekeeper.game import tokens
from gamekeeper.game.refusals import LogInRefusal, TooManyRequests
from gamekeeper.http import errors
from gamekeeper.http.request import Request

SIGN_IN = "/console/sign-in"
TWICE = "Your browser sends more than one cookie {name}, and one is not ours. Delete this site's cookies, then sign in."


async def show(request: Request) -> bytes:
    to = pages.local(request.query.get("next", ""))
    twice = sessions.doubled(request)
    problem = TWICE.format(name=twice) if twice else ""
    return pages.render(request, "sign_in.html", to=to, name="", problem=problem)


async def sign_in(request: Request, raw: bytes) -> bytes:
    sessions.require_same_origin(request)
    fields = sessions.fields(raw)
    name, to = fields.get("name", "").strip(), pages.local(fields.get("next", ""))
    try:
        await sessions.sign_in(request, name, fields.get("password", ""))
    except (LogInRefusal, TooManyRequests) as refusal:
        request.status = errors.status(type(refusal))
        request.answer_headers += errors.headers(refusal)
        return pages.render(request, "sign_in.html", to=to, name=name, problem=refusal.message)
    return pages.redirect(request, to)


async def sign_out(request: Request, raw: bytes) -> bytes:
    """Here, or everywhere: with all tokens of the account."""
    fields = sessions.own_fields(request, raw)
    me = request.caller
    if fields.get("everywhere") == "yes":
        await request.change(lambda tx: tokens.revoke_all(tx, me.account_id), lambda _: b"")
    else:
        await request.change(lambda tx: tokens.revoke_one(tx, me.account_id, me.token_id), lambda _: b"")
    request.callers.forget()
    sessions.forget(request)
    return pages.redirect(request, SIGN_IN)


def to_sign_in(request: Request) -> bytes:
    to = pages.asked(request) if request.method == "GET" else sessions.PATH
    return pages.redirect(request, f"{SIGN_IN}?next={quote(pages.local(to), safe='')}")
