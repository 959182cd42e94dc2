"""The dialog for erasing a person: whom it is about, what will be deleted, and the account's name to be typed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gamekeeper.console import inside
from gamekeeper.console.inside import Call
from gamekeeper.console.refusals import NameNotTyped
from gamekeeper.game import lookup
from gamekeeper.game.effects import PlayerDeleted
from gamekeeper.game.erasures import MOST_COUNTED
from gamekeeper.game.refusals import NoSuchUser
from gamekeeper.http import users
from gamekeeper.http.request import Request
from gamekeeper.store import ledger, players
from gamekeeper.store.engine import Reading
from gamekeeper.store.ledger import LedgerEntry

TYPED = "typed"  # the form's field for the account's name


class Lost(NamedTuple):
    """A player that is deleted with the account, and how much of each kind it holds."""

    name: str
    level: object
    items: int
    bags: int
    spells: int
    variables: int


class Erasure(NamedTuple):
    name: str  # the account's
    email: str
    players: Sequence[Lost]
    changes: str  # how many are blanked


def is_erasure(request: Request, call: Call) -> bool:
    return inside.find(request, call.method, call.path)[0].handler is users.delete


async def summarise(request: Request, call: Call, entries: Sequence[LedgerEntry]) -> Erasure:
    """Sum up the dry run of an erasure; `entries` are its changes, which name nobody."""

    async def read(tx: Reading) -> Erasure:
        user = await lookup.find_user_record(tx, _key(request, call))
        deleted = [each for each in entries if each.kind == PlayerDeleted.kind]
        ids = {each.player_id or "" for each in deleted}
        names = {each.id: each.name for each in await players.read_summaries(tx, ids)}
        known = {*ids, *await ledger.find_deleted_of_user(tx, user.id)}
        changes = await ledger.count_about(tx, user.id, known, MOST_COUNTED)
        more = " or more" if changes == MOST_COUNTED else ""
        lost = [_lost(request, names.get(each.player_id or "", ""), each) for each in deleted]
        return Erasure(user.name, user.email, lost, f"{changes:,}{more}")

    return await request.services.keeper.store.read(read)


async def require_name(request: Request, call: Call, fields: Mapping[str, str]) -> None:
    """Reject a confirmation without the account's name; one that was erased already is left to the replay."""
    if not is_erasure(request, call):
        return
    try:
        user = await lookup.find_user_record(request.services.keeper.store, _key(request, call))
    except NoSuchUser:
        return
    if fields.get(TYPED, "").strip() != user.name.strip():
        raise NameNotTyped(name=user.name)


async def find_name(request: Request, call: Call) -> str:
    """The name that the confirmation of an erasure asks for; empty for every other operation."""
    if not is_erasure(request, call):
        return ""
    return (await lookup.find_user_record(request.services.keeper.store, _key(request, call))).name


def _key(request: Request, call: Call) -> str:
    return inside.find(request, call.method, call.path)[1][0]


def _lost(request: Request, name: str, entry: LedgerEntry) -> Lost:
    held = request.services.keeper.changes.codec.decode_side(entry.before or "{}")
    counts = (len(each) for each in (held.slots, held.bags, held.spells, held.variables))
    return Lost(name, held.player.get("level"), *counts)
