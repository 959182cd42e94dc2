"""New accounts: those that staff register, and the page behind the link of an invitation.

After a form that registers an account or sets a password come the role, the account's page, and the password. The role
is given by a second call with an idempotency key of its own, so a repeated form takes effect once. Invited people
choose a name and a password.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import quote

from gamekeeper.console.access import passwords
from gamekeeper.console.access.api_keys import Fact
from gamekeeper.console.frame import api_calls, pages, sessions
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.differences import Difference
from gamekeeper.console.frame.labels import LABELS
from gamekeeper.console.frame.refusals import UNSURE, RoleNotGiven, UnusablePassword, explain_retry
from gamekeeper.console.frame.routes import Dialog, open_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.access.refusals import InvitationVoid
from gamekeeper.game.accounts import accounts
from gamekeeper.game.audit.refusals import ApprovalRequired
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField, EmailTaken, Refusal, ReservedName, UsernameTaken
from gamekeeper.game.core.writes import Intent
from gamekeeper.http.contract.operation import READ, WRITE
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import invitations as rows

ROLE = "then.role"  # form field with the role that a new account gets
REGISTER = "register_user"
FLAG_LABELS = PerLanguage(lambda: frozenset(LABELS()[each] for each in Powers._fields))


def list_facts(request: Request, call: ApiCall, fields: Mapping[str, str]) -> list[Fact]:
    """Describe the role that a new account gets, for its dialog."""
    return [Fact(gettext("Role"), fields[ROLE])] if _find_role(request, call, fields) else []


def hide_flags(fields: Mapping[str, str], found: Sequence[Sequence[Difference]]) -> list[list[Difference]]:
    """Leave out the permissions that a new account with a role does not get directly: its role may give them."""
    hidden = FLAG_LABELS() if fields.get(ROLE) else frozenset[str]()
    return [[each for each in lines if each.what not in hidden] for lines in found]


async def give_role(request: Request, call: ApiCall, fields: Mapping[str, str]) -> None:
    """Give a new account the role that the form names."""
    role = _find_role(request, call, fields)
    if not role:
        return
    path = f"/api/keeper/v1/users/{quote(_read_name(call), safe='')}/roles"
    giving = ApiCall("POST", path, {"give": [role]}, reason=call.reason, key=f"{call.key}-role")
    try:
        answer = await api_calls.send(request, giving)
    except Refusal as refusal:
        if isinstance(refusal, UNSURE) or explain_retry(refusal):
            raise  # the form can be sent again
        raise RoleNotGiven(name=_read_name(call), role=role, problem=refusal.message) from refusal
    if answer.held is not None:
        raise ApprovalRequired(answer.held)


async def find_page(request: Request, call: ApiCall) -> str:
    """Return the path of the page of the account that a call registered; empty: it was another call."""
    if api_calls.find_operation(request, call.method, call.path)[0].name != REGISTER:
        return ""
    user = await lookup.find_user(request.services.keeper.store, _read_name(call))
    return f"/console/accounts/{user.id}"


def _find_role(request: Request, call: ApiCall, fields: Mapping[str, str]) -> str:
    is_new = api_calls.find_operation(request, call.method, call.path)[0].name == REGISTER
    return fields.get(ROLE, "") if is_new else ""


def _read_name(call: ApiCall) -> str:
    return str((call.body or {}).get("username", ""))


NEW = "new"  # name of the password's form fields


async def show_invitation(request: Request) -> Response:
    return await _render_invitation(request, request.query.get("code", ""))


async def accept_invitation(request: Request, raw: bytes) -> Response:
    """Make the account. The secret of the link stands in for the CSRF token: other sites do not know it."""
    sessions.require_same_origin(request)
    fields, keeper = sessions.parse_form(raw), request.services.keeper
    code, name = fields.get("code", ""), fields.get("name", "").strip()
    found = await rows.find_by_secret(keeper.store, code)
    if found is None:
        return await _render_invitation(request, code, name)
    try:
        chosen = passwords.choose(request, fields, NEW, (name, found.email))
        stored = await keeper.passwords.hash_password(hash_for_wire(chosen))
        decide = partial(accounts.accept_invitation, secret=code, name=name, password=stored, settings=keeper.settings)
        # the change is the inviter's: the roles are theirs to give
        intent = Intent(request_id=request.id, actor_id=found.inviter_id, reason=accounts.ACCEPTED.format(found.id))
        await keeper.changes.apply(intent, decide, lambda _: b"")
    except (UnusablePassword, BadField, ReservedName, UsernameTaken, EmailTaken, InvitationVoid) as refusal:
        return await _render_invitation(request, code, name, refusal)
    return pages.redirect("/console/sign-in?ended=invited")


async def _render_invitation(request: Request, code: str, name: str = "", refusal: Refusal | None = None) -> Response:
    found = await rows.find_by_secret(request.services.keeper.store, code)
    refusal = refusal or (None if found else InvitationVoid())
    return pages.render(
        request,
        "accounts/invitation.html",
        refusal,
        invitation=found,
        code=code,
        name=name,
        **passwords.list_choices(request),
    )


DIALOGS = (
    Dialog("register_user", "Register the account %(username)s"),
    Dialog("invite", "Invite %(email)s"),
    Dialog("withdraw_invitation", "Withdraw the invitation"),
)
PAGES = (
    open_route("GET", "/invitation", READ, show_invitation),
    open_route("POST", "/invitation", WRITE, accept_invitation, body=bytes),
)
