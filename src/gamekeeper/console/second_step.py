"""The second step of a sign-in: a code, or a passkey, of an account with a second factor."""

from gamekeeper.console import pages, passkeys, sessions
from gamekeeper.console.server_texts import describe_refusal
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game import tickets
from gamekeeper.game.own_factor_refusals import TicketExpired
from gamekeeper.game.refusals import InvalidGrant, LogInRefusal, Refusal, TooManyRequests
from gamekeeper.game.second_factor_refusals import WrongOtp
from gamekeeper.game.tokens import FirstStep
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

WRONG = PerLanguage(lambda: gettext("The code is wrong, or was used already. Type the next code, or a recovery code."))
CHANGED = PerLanguage(lambda: gettext("The password was changed meanwhile. Sign in again."))


async def show(request: Request, step: FirstStep, to: str) -> Response:
    """Show the form for the second factor after a right first step."""
    ticket, state = await tickets.make(request.services.keeper, tickets.SIGN_IN, *step)
    return await _render(request, ticket, state, to)


async def sign_in(request: Request, raw: bytes) -> Response:
    sessions.require_same_origin(request)
    fields, keeper = sessions.parse_form(raw), request.services.keeper
    to, state = pages.keep_console_path(fields.get("next", "")), fields.get("state", "")
    try:
        ticket = await tickets.read(keeper, tickets.SIGN_IN, state)
    except TicketExpired as refusal:
        return _start_over(request, refusal, to)
    try:
        use = passkeys.read_factor(request, ticket, fields.get("code", ""), fields.get("passkey", ""))
        cookie = await sessions.finish_sign_in(request, FirstStep(ticket.user_id, ticket.value, ticket.by), use)
    except (WrongOtp, TooManyRequests) as refusal:
        problem = WRONG() if isinstance(refusal, WrongOtp) else describe_refusal(refusal)
        return pages.with_refusal(await _render(request, ticket, state, to, problem), refusal)
    except LogInRefusal as refusal:
        return _start_over(request, refusal, to)
    return pages.redirect(to, cookie)


def _start_over(request: Request, refusal: Refusal, to: str) -> Response:
    problem = CHANGED() if isinstance(refusal, InvalidGrant) else describe_refusal(refusal)
    page = pages.render_sign_in(request, "sign_in.html", to, name="", notices=[(problem, "bad")])
    return pages.with_refusal(page, refusal)


async def _render(request: Request, ticket: tickets.Ticket, state: str, to: str, problem: str = "") -> Response:
    options = await passkeys.make_check_options(request, ticket)
    return pages.render_sign_in(request, "second_step.html", to, state=state, options=options, problem=problem)
