"""Titles and buttons of the confirmation dialogs. Both name the action and its player or account."""

import re
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
from gamekeeper.store.world import catalogue

UNDO = "undo_change"
# fields of a request's body or parameters of its path that hold an id → kind of the catalogue entry with that id
CATALOGUE_IDS = {
    "itemid": "items",
    "spellid": "spells",
    "classid": "classes",
    "variableid": "variables",
    "servervariableid": "servervariables",
}
PARAMETER = re.compile(r"\[(\w+)\]")  # in the path of an operation
BOOLEANS = PerLanguage(lambda: {"true": gettext("yes"), "false": gettext("no")})
MOST_SHOWN = 60  # characters of a variable's value that a button shows


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
    """Load what the placeholders stand for: the name of the player or account, and values of the path and the form."""
    given = dict(zip(PARAMETER.findall(route.path), params, strict=True))
    sent = {name.lower(): str(value) for name, value in body.items()}
    facts = given | {
        "name": await _find_name(tx, route, given, sent),
        "new_name": sent.get("name", ""),
        "username": sent.get("username", ""),
        "email": sent.get("new", sent.get("email", "")),
        "level": _group(sent.get("level", "")),
        "value": _shorten(BOOLEANS().get(sent.get("value", "").lower(), _group(sent.get("value", "")))),
        "duration": formats.describe_duration(sent) if "%(duration)s" in dialog.button else "",
    }
    ids = sent | {name.lower(): value for name, value in given.items()}
    wanted = {kind: ids[field] for field, kind in CATALOGUE_IDS.items() if field in ids}
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


async def _find_name(tx: Reading, route: Operation, given: Mapping[str, str], sent: Mapping[str, str]) -> str:
    """Return the name of what the parameters of the path stand for, or of whom a note or a tag is about."""
    name: str | None = ""
    match given:
        case {"noteId": note_id}:
            note = await notes.find(tx, note_id)
            name = note and (note.player or note.user)
        case {"keyId": key_id}:
            name = (await api_keys.find(tx, key_id)).name
        case {"mailId": mail_id}:
            mail = await mails.find_outbox_mail(tx, mail_id)
            name = mail and mail.name
        case {"approvalId": approval_id}:
            name = (await approvals.find(tx, approval_id)).actor
        case {"lookupKey": key} if "/users/" not in route.path:
            name = await differences.find_subject_name(tx, await lookup.find_player_id(tx, key), None)
        case {"lookupKey": key} | {"username": key}:
            name = (await lookup.find_user(tx, key)).name
        case _ if sent.keys() & {"player", "user"}:
            subject = await find_subject(tx, sent.get("player"), sent.get("user"))
            name = await differences.find_subject_name(tx, subject.player_id, subject.user_id)
        case _:
            pass
    return name or ""


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
