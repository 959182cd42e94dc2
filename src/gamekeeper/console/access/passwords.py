"""New passwords, typed twice or generated, and the page where callers change their own password."""

import hmac
from collections.abc import Mapping
from functools import partial

from gamekeeper.console.frame import api_calls, pages, sessions
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.menu import OWN
from gamekeeper.console.frame.refusals import UnusablePassword
from gamekeeper.console.frame.routes import form_route, page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.access import credentials, passwords
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import Refusal, TooManyGuesses, WrongPassword
from gamekeeper.http.server.dispatcher import require_permissions
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

# prefixes of the form fields for a new password, its repetition, and a generated password
TYPED, AGAIN, GENERATED = "password.", "again.", "generated."
NEW, CURRENT = "new", "current"
NAMES = ("username", "email")  # body fields with the name and the email of an account to create


def choose(request: Request, fields: Mapping[str, str], name: str, owner: tuple[str, ...]) -> str:
    """Return the new password of a form: the generated one if it is ticked, else the one that was typed twice."""
    typed = fields.get(TYPED + name, "")
    chosen = fields.get(GENERATED + name) or typed
    if not chosen:
        raise UnusablePassword(problem=gettext("Type the new password twice, or tick the generated one."))
    if chosen is typed and not hmac.compare_digest(typed.encode(), fields.get(AGAIN + name, "").encode()):
        problem = gettext("The two new passwords are not the same. Type the new password twice.")
        raise UnusablePassword(problem=problem)
    return require_usable(request, chosen, owner)


def require_usable(request: Request, password: str, owner: tuple[str, ...]) -> str:
    problem = passwords.find_problem(password, request.services.keeper.settings, owner)
    if problem:
        raise UnusablePassword(problem=problem)
    return password


async def find_owner(request: Request, call: ApiCall) -> tuple[str, ...]:
    """Return name and email of the account whose password a call sets. Requires permission for the call."""
    body, (route, params) = call.body or {}, api_calls.find_operation(request, call.method, call.path)
    # check the permissions before looking up the account: the lookup reveals whether it exists
    require_permissions(request.caller, route)
    if not params:
        return tuple(str(body.get(name, "")) for name in NAMES)
    user = await lookup.find_user(request.services.keeper.store, params[0])
    return user.name, user.email


async def show(request: Request, refusal: Refusal | None = None) -> Response:
    return pages.render(
        request,
        "access/password.html",
        refusal,
        problem=gettext("The current password is wrong. Type it again.") if isinstance(refusal, WrongPassword) else "",
        **list_choices(request),
    )


async def change(request: Request, raw: bytes) -> Response:
    """Change the caller's own password. This ends all sessions and tokens of the account."""
    fields, keeper, me = sessions.verify_form(request, raw), request.services.keeper, request.caller.account_id
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
        return await show(request, refusal)
    request.services.callers.clear_cache()
    return pages.redirect("/console/sign-in?ended=password", sessions.delete_cookie(request))


def list_choices(request: Request, generated: str | None = None) -> dict[str, object]:
    """Return the values for the `new_password` macro. An empty `generated` offers no generated password."""
    settings = request.services.keeper.settings
    made = passwords.generate(settings) if generated is None else generated
    return {"least": settings.min_password_length, "generated": made}


PAGES = (
    page_route("/me/password", show, before_set_up=True).in_menu("Change my password", OWN, 20),
    form_route("/me/password", change, before_set_up=True),
)
