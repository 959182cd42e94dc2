"""New passwords: typed twice or generated, and the change of one's own, which asks for the current one."""

import hmac
from collections.abc import Mapping
from functools import partial

from gamekeeper.console import inside, pages, sessions
from gamekeeper.console.inside import Call
from gamekeeper.console.refusals import UnusablePassword
from gamekeeper.game import accounts, credentials, lookup, new_passwords
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import Refusal, TooManyGuesses, WrongPassword
from gamekeeper.http.dispatcher import require
from gamekeeper.http.request import Request
from gamekeeper.http.response import Answer

TYPED, AGAIN, GENERATED = "password.", "again.", "generated."  # before a field's name
NEW, CURRENT = "new", "current"
MISSING = "Type the new password twice, or tick the generated one."
DIFFERENT = "The two new passwords are not the same. Type the new password twice."
WRONG_CURRENT = "The current password is wrong. Type it again."
NAMES = ("username", "email")  # fields of a body that say whose password it is


def choose(request: Request, fields: Mapping[str, str], name: str, whose: tuple[str, ...]) -> str:
    """The password that a form has chosen: the generated one if it is ticked, else what was typed twice."""
    typed = fields.get(TYPED + name, "")
    chosen = fields.get(GENERATED + name) or typed
    if not chosen:
        raise UnusablePassword(problem=MISSING)
    if chosen is typed and not hmac.compare_digest(typed.encode(), fields.get(AGAIN + name, "").encode()):
        raise UnusablePassword(problem=DIFFERENT)
    return require_usable(request, chosen, whose)


def require_usable(request: Request, password: str, whose: tuple[str, ...]) -> str:
    problem = new_passwords.find_problem(password, request.services.keeper.settings, whose)
    if problem:
        raise UnusablePassword(problem=problem)
    return password


async def owner_of(request: Request, call: Call) -> tuple[str, ...]:
    """Name and email of the account whose password an operation sets; the caller must be allowed to run it."""
    body, (route, params) = call.body or {}, inside.find(request, call.method, call.path)
    require(request.caller, route)  # before the look-up, which would tell whether the account exists
    if not params:
        return tuple(str(body.get(name, "")) for name in NAMES)
    user = await lookup.find_user(request.services.keeper.store, params[0])
    return user.name, user.email


async def show(request: Request) -> Answer:
    return _render(request, "")


async def change(request: Request, raw: bytes) -> Answer:
    """Ends every session and token of the account, this session too."""
    fields, keeper, me = sessions.own_fields(request, raw), request.services.keeper, request.caller.account_id
    user = await lookup.find_user(keeper.store, me)
    try:
        chosen = choose(request, fields, NEW, (user.name, user.email))
        proven = await credentials.check_password(
            keeper, user, hash_for_wire(fields.get(CURRENT, "")), me, request.address
        )
        stored = await keeper.passwords.hash_password(hash_for_wire(chosen))
        decide = partial(accounts.change_password, key=me, password=stored, proven=proven)
        await request.change(decide, lambda _: b"")
    except (UnusablePassword, WrongPassword, TooManyGuesses) as refusal:
        return _refused(request, refusal)
    request.services.callers.forget()
    return pages.redirect("/console/sign-in?ended=password", sessions.delete_cookie(request))


def _refused(request: Request, refusal: Refusal) -> Answer:
    problem = WRONG_CURRENT if isinstance(refusal, WrongPassword) else refusal.message
    return pages.with_refusal(_render(request, problem), refusal)


def _render(request: Request, problem: str) -> Answer:
    return pages.render(request, "password.html", problem=problem, **choices(request))


def choices(request: Request, generated: str | None = None) -> dict[str, object]:
    """What the `new_password` macro shows: the rule, and a generated password; empty: none is offered."""
    settings = request.services.keeper.settings
    made = new_passwords.generate(settings) if generated is None else generated
    return {"least": settings.min_password_length, "generated": made}
