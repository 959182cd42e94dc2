"""Titles and buttons of the confirmation dialogs. Both name the action and its player or account."""

from collections.abc import Mapping, Sequence
from functools import cache

from gamekeeper.console.audit import undo
from gamekeeper.console.frame import api_calls, differences, formats
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.differences import TIMES_SIGN, Names
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.routes import Dialog
from gamekeeper.console.frame.texts import PerLanguage, gettext, translate
from gamekeeper.game.access import api_keys
from gamekeeper.game.accounts.notes import find_subject
from gamekeeper.game.audit import approvals
from gamekeeper.game.core import lookup
from gamekeeper.ground import rooms
from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.server.request import Request
from gamekeeper.store.accounts import mails, notes
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players
from gamekeeper.store.world import catalogue

UNDO = "undo_change"
# fields of a request's body that hold an id → kind of the catalogue entry with that id
IN_BODY = {"itemid": "items", "spellid": "spells", "classid": "classes"}
BOOLEANS = PerLanguage(lambda: {"true": gettext("yes"), "false": gettext("no")})
MOST_SHOWN = 60  # characters of a variable's value that a button shows
BOARDS = "/api/keeper/v1/boards"
ROLES, INVITATIONS, KEYS = "/api/keeper/v1/roles", "/api/keeper/v1/invitations", "/api/keeper/v1/keys"
VARIABLES, SIGNALS = "/api/v1/variables", "/api/keeper/v1/signals"
NOTED = ("/api/keeper/v1/notes", "/api/keeper/v1/tags")


@cache
def _list_dialogs() -> list[Dialog]:
    """List the dialogs of all operations that a form of the console sends, except undo_change (undo.py)."""
    return rooms.collect("console", "DIALOGS")


def find_dialog(request: Request, call: ApiCall) -> Dialog:
    """Find the dialog for a call. It has no texts if no form of the console sends the operation."""
    operation = api_calls.find_operation(request, call.method, call.path)[0].name
    sent = {(name.lower(), value) for name, value in (call.body or {}).items() if isinstance(value, str | bool)}
    fits = (each for each in _list_dialogs() if each.operation == operation and (not each.sent or each.sent in sent))
    return next(fits, Dialog(operation))


async def describe(request: Request, call: ApiCall, entries: Sequence[LedgerEntry]) -> Dialog:
    """Return the texts of the dialog for a call whose dry run succeeded with these entries, in the page's language."""
    route, params = api_calls.find_operation(request, call.method, call.path)
    if route.name == UNDO:
        return Dialog(UNDO, *await undo.describe_undo(request, int(params[0]), entries))
    found = find_dialog(request, call)
    if not found.title:
        text = gettext("Run %(method)s %(path)s", method=call.method, path=call.path)
        return found._replace(title=text, button=text)
    facts = await request.services.keeper.store.read(lambda tx: load_facts(tx, found, route, params, call.body or {}))
    title, button = (translate(text) % facts for text in (found.title, found.button or found.title))
    return found._replace(title=title, button=button)


async def load_facts(
    tx: Reading, dialog: Dialog, route: Operation, params: Sequence[str], body: Mapping[str, object]
) -> dict[str, str]:
    """Load what the placeholders stand for: the name of the player or account, and the values of the form."""
    sent = {name.lower(): str(value) for name, value in body.items()}
    facts = {
        "name": await _find_noted(tx, params, sent)
        if route.path.startswith(NOTED)
        else await _find_name(tx, route, params),
        "board": params[0] if route.path.startswith(BOARDS) and params else "",
        "role": params[0] if route.path.startswith(ROLES) and params else "",
        "new_name": sent.get("name", ""),
        "username": sent.get("username", ""),
        "email": sent.get("new", sent.get("email", "")),
        "level": _group(sent.get("level", "")),
        "value": _shorten(BOOLEANS().get(sent.get("value", "").lower(), _group(sent.get("value", "")))),
        "duration": formats.describe_duration(sent) if "%(duration)s" in dialog.button else "",
    }
    wanted = {kind: sent[field] for field, kind in IN_BODY.items() if field in sent}
    if route.name == "set_variable":
        wanted["variables"] = params[1]
    if route.name == "set_global_variable":
        wanted["servervariables"] = params[0]
    names = {kind: await _find_catalogue_name(tx, kind, each) for kind, each in wanted.items()}
    item = names.get("items", "")
    return facts | {
        "slot": _name_slot(sent, "container", "slot"),
        "to_slot": _name_slot(sent, "tocontainer", "toslot"),
        "item": item,
        "place": sent.get("place", ""),
        "items": f"{_group(sent.get('quantity', '1'))} {TIMES_SIGN} {item}",
        "spell": names.get("spells", ""),
        "class_name": names.get("classes", ""),
        "variable": names.get("variables") or names.get("servervariables", ""),
    }


async def _find_noted(tx: Reading, params: Sequence[str], sent: Mapping[str, str]) -> str:
    """Return the name of the player or account that a note or a tag is about."""
    if params:
        note = await notes.find(tx, params[0])
        return (note.player or note.user) if note else ""
    subject = await find_subject(tx, sent.get("player"), sent.get("user"))
    if subject.player_id:
        return next((each.name for each in await players.read_summaries(tx, {subject.player_id})), "")
    return (await lookup.find_user(tx, subject.user_id)).name


async def _find_name(tx: Reading, route: Operation, params: Sequence[str]) -> str:
    if not params or route.path.startswith((ROLES, INVITATIONS, VARIABLES, BOARDS, SIGNALS)):
        return ""
    if route.path.startswith(KEYS):
        return (await api_keys.find(tx, params[0])).name
    if route.path.startswith(("/api/v1/players/", "/api/keeper/v1/players/", "/api/v1/chat/direct/")):
        player_id = await lookup.find_player_id(tx, params[0])
        return next((each.name for each in await players.read_summaries(tx, {player_id})), "")
    if route.name == "retry_mail":
        mail = await mails.find_outbox_mail(tx, params[0])
        return mail.name if mail else ""
    if route.name in {"approve", "deny"}:
        return (await approvals.find(tx, params[0])).actor or ""
    return (await lookup.find_user(tx, params[0])).name


async def _find_catalogue_name(tx: Reading, kind: str, text: str) -> str:
    """Return the name of a catalogue entry, or its id if the catalogue has no name for it."""
    wanted = lookup.parse_guid(text) or text
    entry = (await catalogue.find_by_ids(tx, kind, [wanted])).get(wanted)
    return entry.name if entry and entry.name else wanted


def _name_slot(sent: Mapping[str, str], container: str, slot: str) -> str:
    """Name a slot of a form, such as "bank slot 3"."""
    if container not in sent:
        return ""
    return differences.name_spot((sent[container], int(sent[slot])), Names({}))


def _group(text: str) -> str:
    """Write a number with separators; leave every other text as it is."""
    return format_number(int(text)) if len(text) <= MOST_SHOWN and text.removeprefix("-").isdecimal() else text


def _shorten(text: str) -> str:
    """Shorten a long value of a variable for the button of a dialog."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
