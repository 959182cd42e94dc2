"""API keys that lose permissions when their owner is demoted, suspended or banned, for the dialogs of these acts."""

import msgspec
from msgspec import Struct

from gamekeeper.console.api_keys import Fact
from gamekeeper.console.texts import gettext
from gamekeeper.game import key_losses
from gamekeeper.game.account_effects import UserBanned
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.http.wire.api_keys import WeakenedKey
from gamekeeper.store import users
from gamekeeper.store.engine import Reading

DEMOTIONS = frozenset({"change_user_roles", "change_powers"})
SUSPENSION, BANS = "suspend_user", frozenset({"ban_user", "ban_player"})


class _Answer(Struct):
    """The part of an answer that names the weakened keys."""

    WeakenedKeys: list[WeakenedKey]


_decode = msgspec.json.Decoder(_Answer).decode


async def list_facts(request: Request, operation: str, tried: Response) -> list[Fact]:
    """List the keys that an operation weakens, from the answer to its dry run; other operations have none.

    The answer to a ban is fixed by the spec and names no keys, so they are read here, for callers with users.query.
    """
    if operation in DEMOTIONS:
        return [
            _make_fact(each.Name, gettext("loses %(names)s", names=", ".join(each.Lost)))
            for each in _decode(tried.content).WeakenedKeys
        ]
    if operation == SUSPENSION:
        return [_make_fact(each.Name, gettext("stops working")) for each in _decode(tried.content).WeakenedKeys]
    if operation in BANS and "users.query" in request.caller.permissions:
        banned = {each.user_id for each in tried.entries if each.kind == UserBanned.kind and each.user_id}
        names = await request.services.keeper.store.read(lambda tx: _read_names(tx, banned))
        return [_make_fact(each, gettext("stops working")) for each in names]
    return []


async def _read_names(tx: Reading, user_ids: set[str]) -> list[str]:
    owners = await users.read_by_ids(tx, user_ids)
    return [each.key.name for owner in owners for each in await key_losses.find_of_ban(tx, owner)]


def _make_fact(name: str, text: str) -> Fact:
    return Fact(gettext("API key %(name)s", name=name), text)
