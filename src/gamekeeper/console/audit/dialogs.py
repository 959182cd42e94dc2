"""Titles and buttons of the confirmation dialogs. Both name the action and its player or account."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console.audit import undo
from gamekeeper.console.frame import api_calls, differences, formats
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.differences import TIMES_SIGN, Names
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.console.frame.texts import translate as _
from gamekeeper.game.access import api_keys
from gamekeeper.game.accounts.notes import find_subject
from gamekeeper.game.audit import approvals
from gamekeeper.game.core import lookup
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
TIMED = frozenset({"ban_player", "mute_player", "ban_user", "mute_user"})  # operations with a duration in days
TOLD = TIMED | {"kick_player", "kick_user"}  # operations with a reason that the player is shown
# operations that are recorded in the security log and not in the audit log
SECURED = frozenset(
    {"revoke_token", "revoke_tokens", "end_sessions", "create_key", "rotate_key", "change_key", "revoke_key"}
)


class Dialog(NamedTuple):
    """Texts of a dialog. Those in DIALOGS have placeholders; `load_facts` loads the values to fill in."""

    title: str
    button: str


def _same(text: str) -> Dialog:
    return Dialog(text, text)


# operation → texts; has every operation that a form of the console sends, except undo_change (undo.py)
DIALOGS = PerLanguage[Mapping[str, Dialog]](
    lambda: {
        "give_item": Dialog(_("Give %(item)s to %(name)s"), _("Give %(items)s to %(name)s")),
        "take_item": Dialog(_("Take %(item)s from %(name)s"), _("Take %(items)s from %(name)s")),
        "take_from_slot": Dialog(_("Take %(item)s from %(name)s"), _("Take %(items)s from %(name)s, %(slot)s")),
        "set_slot": Dialog(_("Set %(slot)s of %(name)s"), _("Set %(slot)s of %(name)s to %(items)s")),
        "move_slot": Dialog(
            _("Move %(item)s of %(name)s"), _("Move %(item)s of %(name)s from %(slot)s to %(to_slot)s")
        ),
        "equip_slot": Dialog(_("Equip %(item)s of %(name)s"), _("Equip %(item)s of %(name)s as %(place)s")),
        "unequip_slot": _same(_("Unequip %(item)s of %(name)s")),
        "teach_spell": _same(_("Teach %(spell)s to %(name)s")),
        "forget_spell": _same(_("Remove %(spell)s from %(name)s")),
        "set_variable": Dialog(_("Set %(variable)s of %(name)s"), _("Set %(variable)s of %(name)s to %(value)s")),
        "set_global_variable": Dialog(
            _("Set %(variable)s of the server"), _("Set %(variable)s of the server to %(value)s")
        ),
        "rename_player": Dialog(_("Rename %(name)s"), _("Rename %(name)s to %(new_name)s")),
        "set_level": Dialog(_("Set the level of %(name)s"), _("Set %(name)s to level %(level)s")),
        "set_class": Dialog(_("Set the class of %(name)s"), _("Set the class of %(name)s to %(class_name)s")),
        "delete_player": _same(_("Delete %(name)s")),
        "ban_player": Dialog(_("Ban the account of %(name)s"), _("Ban the account of %(name)s %(duration)s")),
        "unban_player": _same(_("End the ban of the account of %(name)s")),
        "mute_player": Dialog(_("Mute the account of %(name)s"), _("Mute the account of %(name)s %(duration)s")),
        "unmute_player": _same(_("End the mute of the account of %(name)s")),
        "send_direct_chat": _same(_("Send a message to %(name)s")),
        "kick_player": _same(_("Kick the account of %(name)s out of the game")),
        "ban_user": Dialog(_("Ban %(name)s"), _("Ban %(name)s %(duration)s")),
        "unban_user": _same(_("End the ban of %(name)s")),
        "mute_user": Dialog(_("Mute %(name)s"), _("Mute %(name)s %(duration)s")),
        "unmute_user": _same(_("End the mute of %(name)s")),
        "kick_user": _same(_("Kick %(name)s out of the game")),
        "register_user": _same(_("Register the account %(username)s")),
        "rename_user": Dialog(_("Rename %(name)s"), _("Rename %(name)s to %(new_name)s")),
        "manage_email": Dialog(_("Change the email of %(name)s"), _("Change the email of %(name)s to %(email)s")),
        "manage_password": _same(_("Set a new password for %(name)s")),
        "request_password_reset": _same(_("Send a password reset mail to %(name)s")),
        "change_powers": _same(_("Change the permissions of %(name)s")),
        "change_user_roles": _same(_("Change the roles of %(name)s")),
        "create_role": _same(_("Create the role %(new_name)s")),
        "save_role": _same(_("Edit the role %(role)s")),
        "delete_role": _same(_("Delete the role %(role)s")),
        "end_sessions": _same(_("End all console sessions of %(name)s")),
        "invite": _same(_("Invite %(email)s")),
        "withdraw_invitation": _same(_("Withdraw the invitation")),
        "suspend_user": _same(_("Suspend %(name)s")),
        "resume_user": _same(_("End the suspension of %(name)s")),
        "reset_second_factors": _same(_("Reset the second factor of %(name)s")),
        "delete_user": _same(_("Erase %(name)s")),
        "revoke_token": _same(_("Revoke token of %(name)s")),
        "revoke_tokens": _same(_("Revoke all tokens of %(name)s")),
        "create_key": _same(_("Create the API key %(new_name)s")),
        "rotate_key": _same(_("Rotate the API key %(name)s")),
        "change_key": _same(_("Change the API key %(name)s")),
        "revoke_key": _same(_("Revoke the API key %(name)s")),
        "approve": _same(_("Approve the change of %(name)s")),
        "deny": _same(_("Deny the change of %(name)s")),
        "add_note": _same(_("Add a note about %(name)s")),
        "delete_note": _same(_("Delete the note about %(name)s")),
        "set_tags": _same(_("Set the tags of %(name)s")),
        "create_board": _same(_("Create the board %(new_name)s")),
        "save_board": _same(_("Save the board %(board)s")),
        "delete_board": _same(_("Delete the board %(board)s with all its seasons")),
        "start_season": _same(_("Start a season of the board %(board)s")),
        "save_season": _same(_("Change the season of the board %(board)s")),
        "hide_user": _same(_("Hide %(name)s from all boards")),
        "acknowledge_signal": _same(_("Acknowledge the signal")),
        "retry_mail": _same(_("Send the mail to %(name)s again")),
    }
)

# value of suspended in the body of change_key → texts
KEY_SUSPENSIONS = PerLanguage[Mapping[object, Dialog]](
    lambda: {
        "true": _same(_("Suspend the API key %(name)s")),
        "false": _same(_("Let the API key %(name)s work again")),
    }
)


def asks_told(request: Request, call: ApiCall) -> bool:
    """Tell whether a call takes a reason that the player is shown."""
    return api_calls.find_operation(request, call.method, call.path)[0].name in TOLD


def is_in_security_log(request: Request, call: ApiCall) -> bool:
    return api_calls.find_operation(request, call.method, call.path)[0].name in SECURED


async def describe(request: Request, call: ApiCall, entries: Sequence[LedgerEntry]) -> Dialog:
    """Return the texts of the dialog for a call whose dry run succeeded with these entries."""
    route, params = api_calls.find_operation(request, call.method, call.path)
    if route.name == UNDO:
        return Dialog(*await undo.describe_undo(request, int(params[0]), entries))
    texts = DIALOGS().get(route.name)
    if route.name == "change_key":
        texts = KEY_SUSPENSIONS().get((call.body or {}).get("suspended"), texts)
    if route.name == "hide_user" and False in (call.body or {}).values():
        texts = _same(_("Show %(name)s on boards again"))
    if texts is None:  # an operation that no form of the console sends
        return _same(gettext("Run %(method)s %(path)s", method=call.method, path=call.path))
    facts = await request.services.keeper.store.read(lambda tx: load_facts(tx, route, params, call.body or {}))
    return Dialog(*(text % facts for text in texts))


async def load_facts(
    tx: Reading, route: Operation, params: Sequence[str], body: Mapping[str, object]
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
        "duration": formats.describe_duration(sent) if route.name in TIMED else "",
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
