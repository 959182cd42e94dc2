"""Forms of actions: the call of the API that a form describes, and the fields that a confirmation needs."""

from collections.abc import Mapping
from typing import NamedTuple

from gamekeeper.console import pages, sessions
from gamekeeper.console.api_calls import ApiCall
from gamekeeper.game.changes import fingerprint_state
from gamekeeper.game.lookup import new_guid
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import MissingField
from gamekeeper.http.instants import format_instant, parse_typed_time
from gamekeeper.http.request import Request

BODY = "body."  # prefix of the form fields that become the body of the call
# Each of these follows BODY in the name of a form field, and says what its value is:
LINES = "lines."  # lines of text, each an entry of a list; an empty value is left out
FLAG = "flag."  # a boolean: "true" or "false"
TEXT = "text."  # a text that is sent even if it is empty; other empty values are left out
TIME = "time."  # a time in UTC, as browsers send it
LIST = "["  # in the name of a form field: it is an entry of a list
REASON = BODY + "reason"  # the reason that a banned, muted or kicked player is shown
FORCE = {"force": "true"}  # query of an undo that returns a player's item although another player may have it now
# fingerprint of a dry run that changes nothing: no reason is required, as the audit log would not store it
NO_CHANGES = fingerprint_state(())


class ActionForm(NamedTuple):
    """A form that was sent from a page of this session."""

    call: ApiCall
    back: str  # path of the page that the form was on
    asks: tuple[str, ...]  # body fields for new passwords, which the dialog asks for
    confirmed: bool
    fields: Mapping[str, str]


def read_form(request: Request, raw: bytes) -> ActionForm:
    fields = sessions.verify_form(request, raw)
    confirmed = fields.get("confirmed") == "yes"
    require(fields, "method", "path")
    if confirmed:
        require_confirmation(fields)
    asks = tuple(each for each in fields.get("ask", "").split(",") if each)
    body = _read_body(fields)
    body |= {name: hash_for_wire(new_guid()) for name in asks}  # a dry run accepts any password
    call = ApiCall(
        method=fields["method"],
        path=fields["path"],
        body=body,
        query=FORCE if fields.get("force") == "yes" else {},
        reason=fields.get("reason", "").strip(),
        key=fields.get("key", "") if confirmed else "",
        dry_run=not confirmed,
        expected=fields.get("seen") if confirmed else None,
    )
    return ActionForm(call, pages.keep_console_path(fields.get("back", "")), asks, confirmed, fields)


def _read_body(fields: Mapping[str, str]) -> dict[str, object]:
    """Read the body of the call. `give[]=x` and `give[x]=yes` add x to the list `give`; an empty value adds nothing."""
    body: dict[str, object] = {}
    lists: dict[str, list[str]] = {}
    for field, value in fields.items():
        name, bracket, entry = field.removeprefix(BODY).partition(LIST)
        if not field.startswith(BODY):
            continue
        if bracket:
            lists.setdefault(name, []).extend([entry.removesuffix("]") or value] if value else [])
        elif name.startswith(LINES) and value.strip():
            lists[name.removeprefix(LINES)] = [each.strip() for each in value.splitlines() if each.strip()]
        elif name.startswith(TIME) and value:
            body[name.removeprefix(TIME)] = _read_time(value)
        elif name.startswith(FLAG):
            body[name.removeprefix(FLAG)] = value == "true"
        elif name.startswith(TEXT):
            body[name.removeprefix(TEXT)] = value.replace("\r\n", "\n")
        elif value and not name.startswith(LINES):
            body[name] = value
    return body | lists


def _read_time(text: str) -> str:
    """Add what an API time has and a typed one lacks. The operation refuses a text that is no time."""
    try:
        return format_instant(parse_typed_time(text))
    except (ValueError, OverflowError):
        return text


def require_confirmation(fields: Mapping[str, str]) -> None:
    """Require a reason, unless the preview had no changes. Should the call change something then, it is rejected."""
    require(fields, "key", "seen", *([] if fields.get("seen") == NO_CHANGES else ["reason"]))


def require(fields: Mapping[str, str], *names: str) -> None:
    for each in names:
        if not fields.get(each, "").strip():
            raise MissingField(field=each)
