"""The dialog that erases an account: it lists what will be deleted, and the account's name must be typed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console.frame import api_calls
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.refusals import NameNotTyped
from gamekeeper.console.frame.routes import Dialog
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.accounts.erasures import MAX_COUNTED
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchUser
from gamekeeper.game.players.changes import PlayerDeleted
from gamekeeper.http.accounts import accounts
from gamekeeper.http.server.request import Request
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players

TYPED = "typed"  # form field for the account's name, which is typed to confirm the erasure
DIALOGS = (Dialog("delete_user", "Erase %(name)s"),)


class Erasure(NamedTuple):
    name: str  # name of the account
    email: str
    players: Sequence[Sequence[object]]  # deleted with it: name, level, and counts of what each owns
    changes: str  # number of changes in the audit log whose personal data will be erased


def is_erasure(request: Request, call: ApiCall) -> bool:
    return api_calls.find_operation(request, call.method, call.path)[0].handler is accounts.delete_user


async def summarise(request: Request, call: ApiCall, entries: Sequence[LedgerEntry]) -> Erasure:
    """Sum up the dry run of an erasure; `entries` are its changes, which contain no names."""

    async def read(tx: Reading) -> Erasure:
        user = await lookup.find_user_record(tx, _get_lookup_key(request, call))
        deleted = [each for each in entries if each.kind == PlayerDeleted.kind]
        ids = {each.player_id or "" for each in deleted}
        names = {each.id: each.name for each in await players.read_summaries(tx, ids)}
        known = {*ids, *await ledger.find_deleted_of_user(tx, user.id)}
        changes = await ledger.count_about(tx, user.id, known, MAX_COUNTED)
        count = (
            gettext("%(count)s or more", count=format_number(changes))
            if changes == MAX_COUNTED
            else format_number(changes)
        )
        lost = [_count_owned(request, names.get(each.player_id or "", ""), each) for each in deleted]
        return Erasure(user.name, user.email, lost, count)

    return await request.services.keeper.store.read(read)


async def require_name(request: Request, call: ApiCall, fields: Mapping[str, str]) -> None:
    """Reject an erasure without the typed name of the account. A replay needs no name: the account is already gone."""
    try:
        name = await find_name(request, call)
    except NoSuchUser:
        return
    if name and fields.get(TYPED, "").strip() != name.strip():
        raise NameNotTyped(name=name)


async def find_name(request: Request, call: ApiCall) -> str:
    """Return the name that must be typed to confirm an erasure; empty for every other operation."""
    if not is_erasure(request, call):
        return ""
    return (await lookup.find_user_record(request.services.keeper.store, _get_lookup_key(request, call))).name


async def find_online(request: Request, call: ApiCall) -> list[tuple[str, str]]:
    """Return ids and names of the players who are online, and so keep the account or the player from being deleted."""
    route, params = api_calls.find_operation(request, call.method, call.path)

    async def read(tx: Reading) -> list[tuple[str, str]]:
        if route.handler is accounts.delete_user:
            user = await lookup.find_user_record(tx, params[0])
            records = await players.read_records_of_user(tx, user.id)
        elif route.name == "delete_player":
            records = [await lookup.find_player_record(tx, params[0])]
        else:
            records = []
        online = [codec.decode_player(each.document, each.last_online) for each in records if each.online]
        return [(each.id, each.name) for each in online]

    codec = request.services.keeper.changes.codec
    return await request.services.keeper.store.read(read)


def _get_lookup_key(request: Request, call: ApiCall) -> str:
    return api_calls.find_operation(request, call.method, call.path)[1][0]


def _count_owned(request: Request, name: str, entry: LedgerEntry) -> Sequence[object]:
    owned = request.services.keeper.changes.codec.decode_side(entry.before or "{}")
    counts = (len(each) for each in (owned.slots, owned.bags, owned.spells, owned.variables))
    return name, owned.player.get("level"), *counts
