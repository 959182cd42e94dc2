"""The pages to sign in to the console and to sign out.

Accounts with a second factor have a second step: a code, or a passkey.
"""

from typing import NamedTuple

from gamekeeper.console.access import second_factors
from gamekeeper.console.access.tokens import MAX_SCANS, SCAN_SIZE, find_active
from gamekeeper.console.frame import list_page, pages, routes, sessions
from gamekeeper.console.frame.menu import OWN
from gamekeeper.console.frame.pages import SIGN_IN
from gamekeeper.console.frame.texts import PerLanguage, describe_refusal, gettext
from gamekeeper.game.access import credentials, tokens
from gamekeeper.game.access.console_refusals import TicketExpired
from gamekeeper.game.access.refusals import WrongOtp
from gamekeeper.game.access.tokens import FirstStep
from gamekeeper.game.core.refusals import BadField, InvalidGrant, LogInRefusal, Refusal, TooManyRequests
from gamekeeper.http.contract.operation import READ, WRITE
from gamekeeper.http.server import query_values
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response


async def show_second_step(request: Request, step: FirstStep, to: str) -> Response:
    """Show the form for the second factor after a right first step."""
    ticket, state = await credentials.make_ticket(request.services.keeper, credentials.SIGN_IN, *step)
    return await _render_second_step(request, ticket, state, to)


async def sign_in_with_factor(request: Request, raw: bytes) -> Response:
    sessions.require_same_origin(request)
    fields, keeper = sessions.parse_form(raw), request.services.keeper
    to, state = pages.keep_console_path(fields.get("next", "")), fields.get("state", "")
    try:
        ticket = await credentials.read_ticket(keeper, credentials.SIGN_IN, state)
    except TicketExpired as refusal:
        return refuse(request, refusal, to)
    try:
        use = second_factors.read_factor(request, ticket, fields.get("code", ""), fields.get("passkey", ""))
        cookie = await sessions.finish_sign_in(request, FirstStep(ticket.user_id, ticket.value, ticket.by), use)
    except (WrongOtp, TooManyRequests) as refusal:
        return await _render_second_step(request, ticket, state, to, refusal)
    except LogInRefusal as refusal:
        return refuse(request, refusal, to, gettext("The password was changed meanwhile. Sign in again."))
    return pages.redirect(to, cookie)


def refuse(request: Request, refusal: Refusal, to: str, wrong: str = "", name: str = "") -> Response:
    """Show the start of the sign-in again. `wrong`: what a wrong name or password means here."""
    text = wrong if wrong and isinstance(refusal, InvalidGrant) else describe_refusal(refusal)
    notices = [Notice(text, "bad")]
    return pages.render_sign_in(request, "access/sign_in.html", to, refusal, name=name, notices=notices)


async def _render_second_step(
    request: Request, ticket: credentials.Ticket, state: str, to: str, refusal: Refusal | None = None
) -> Response:
    return pages.render_sign_in(
        request,
        "access/second_step.html",
        to,
        refusal,
        state=state,
        options=await second_factors.make_check_options(request, ticket),
        problem=gettext("The code is wrong, or was used already. Type the next code, or a recovery code.")
        if isinstance(refusal, WrongOtp)
        else "",
    )


ALL_SESSIONS, ALL_TOKENS = "sessions", "all"  # what a sign-out ends, beside THIS_SESSION
INVITED = "invited"  # no session ended: the account was just made


class Notice(NamedTuple):
    text: str
    kind: str = ""


END_NOTICES = PerLanguage(
    lambda: {
        ALL_SESSIONS: Notice(
            gettext("You are signed out everywhere. All console sessions ended; programs keep their tokens."),
            "good",
        ),
        ALL_TOKENS: Notice(
            gettext("You are signed out everywhere. All tokens are revoked: programs must log in again."),
            "good",
        ),
        INVITED: Notice(
            gettext("Your account is ready. Sign in with the name and the password that you chose."), "good"
        ),
        routes.EXPIRED: Notice(gettext("Your session has expired. Sign in to return to the page.")),
        routes.PASSWORD_CHANGED: Notice(
            gettext("Your password is changed. All sessions and tokens ended. Sign in with the new password."),
            "good",
        ),
        routes.PASSWORD_MAYBE_CHANGED: Notice(
            gettext(
                "You were signed out. If your password was just changed, use the new one; otherwise use the old one."
            ),
            "bad",
        ),
        routes.EXPIRED_BEFORE_FORM: Notice(
            gettext("Your session has expired, so your last action was not carried out. Sign in and repeat it."), "bad"
        ),
    }
)


async def show(request: Request) -> Response:
    to, twice = pages.keep_console_path(request.query.get("next", "")), sessions.find_duplicate_cookie(request)
    ended = END_NOTICES().get(request.query.get("ended", ""))  # notice that says why the previous session ended
    notices = [ended] if ended else []
    if twice:
        text = gettext(
            "Your browser sent more than one cookie %(name)s, and one is not from this console. "
            "Delete the cookies of this site, then sign in.",
            name=twice,
        )
        notices.append(Notice(text, "bad"))
    return pages.render(request, "access/sign_in.html", to=to, name="", notices=notices)


async def sign_in(request: Request, raw: bytes) -> Response:
    sessions.require_same_origin(request)
    fields = sessions.parse_form(raw)
    name, to = fields.get("name", "").strip(), pages.keep_console_path(fields.get("next", ""))
    try:
        cookie = await sessions.sign_in(request, name, fields.get("password", ""))
        if isinstance(cookie, FirstStep):
            return await show_second_step(request, cookie, to)
    except (LogInRefusal, TooManyRequests) as refusal:
        return refuse(request, refusal, to, gettext("The name or the password is wrong. Type both again."), name)
    return pages.redirect(to, cookie)


async def confirm_sign_out(request: Request) -> Response:
    """Show the page "Sign out everywhere" with the numbers of sessions and program tokens that this can end."""
    page = await find_active(
        request.services.keeper.store, request.caller.account_id, query_values.START, SCAN_SIZE * MAX_SCANS
    )
    opened = sum(each.idle_ms is not None for each in page.tokens)
    return pages.render(
        request, "access/sign_out.html", sessions=opened, programs=len(page.tokens) - opened, more=page.next is not None
    )


async def sign_out(request: Request, raw: bytes) -> Response:
    """End this session, all sessions of the account, or all its tokens, including those of programs."""
    ends = sessions.verify_form(request, raw).get("ends", routes.THIS_SESSION)
    me = request.caller
    if ends == ALL_TOKENS:
        await request.change(lambda tx: tokens.revoke_all(tx, me.account_id), lambda _: b"")
    elif ends == ALL_SESSIONS:
        await request.change(lambda tx: tokens.revoke_sessions(tx, me.account_id), lambda _: b"")
    elif ends == routes.THIS_SESSION:
        await request.change(lambda tx: tokens.revoke_one(tx, me.account_id, me.token_id), lambda _: b"")
    else:
        raise BadField(
            field="ends",
            problem=gettext("must be %(choices)s", choices=list_page.join_choices([ALL_SESSIONS, ALL_TOKENS])),
        )
    request.services.callers.clear_cache()
    to = f"{SIGN_IN}?ended={ends}" if ends else SIGN_IN
    return pages.redirect(to, sessions.delete_cookie(request))


PAGES = (
    routes.open_route("GET", "/sign-in", READ, show),
    routes.open_route("POST", "/sign-in", WRITE, sign_in, body=bytes),
    routes.open_route("POST", "/sign-in/second", WRITE, sign_in_with_factor, body=bytes),
    routes.page_route("/sign-out", confirm_sign_out, before_set_up=True).in_menu("Sign out everywhere", OWN, 40),
    routes.form_route("/sign-out", sign_out, before_set_up=True),
)
