"""What follows a form that registers an account or sets a password: the role, the account's page, and the password.

The role is given by a second call with an idempotency key of its own, so a repeated form takes effect once.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from gamekeeper.console import api_calls, pages
from gamekeeper.console.api_calls import ApiCall
from gamekeeper.console.api_keys import Fact
from gamekeeper.console.change_fields import LABELS
from gamekeeper.console.differences import Difference
from gamekeeper.console.password import GENERATED
from gamekeeper.console.refusals import UNSURE, RoleNotGiven, explain_retry
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game import lookup
from gamekeeper.game.approval_refusals import ApprovalRequired
from gamekeeper.game.refusals import Refusal
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.powers import Powers

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


def find_generated(fields: Mapping[str, str]) -> str:
    """Return the generated password that a form has set; empty: it was typed, or there is none."""
    return next((value for name, value in fields.items() if name.startswith(GENERATED)), "")


def show_password(request: Request, title: str, password: str, back: str) -> Response:
    """Show a generated password in the answer to the form itself: a redirect would need it in an address."""
    return pages.render(request, "password_set.html", title=title, password=password, back=back)


def _find_role(request: Request, call: ApiCall, fields: Mapping[str, str]) -> str:
    is_new = api_calls.find_operation(request, call.method, call.path)[0].name == REGISTER
    return fields.get(ROLE, "") if is_new else ""


def _read_name(call: ApiCall) -> str:
    return str((call.body or {}).get("username", ""))
