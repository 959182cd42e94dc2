"""Other players of the account that a ban or mute from a player's page hits, for the dialogs of these acts."""

from gamekeeper.console import api_calls
from gamekeeper.console.api_calls import ApiCall
from gamekeeper.console.api_keys import Fact
from gamekeeper.console.texts import gettext, ngettext
from gamekeeper.game import lookup
from gamekeeper.http.request import Request
from gamekeeper.store import players
from gamekeeper.store.engine import Reading

ACTS = frozenset({"ban_player", "mute_player"})
MOST_NAMED = 5


async def list_facts(request: Request, call: ApiCall) -> list[Fact]:
    """Name the other players of the account, for callers with users.query; other operations have none."""
    route, params = api_calls.find_operation(request, call.method, call.path)
    if route.name not in ACTS or "users.query" not in request.caller.permissions:
        return []
    text = await request.services.keeper.store.read(lambda tx: _list_names(tx, params[0]))
    return [Fact(gettext("Also hits"), text)] if text else []


async def _list_names(tx: Reading, key: str) -> str:
    owner = await lookup.find_owner(tx, key)
    names, count = await players.read_other_names(tx, owner.user_id, owner.player_id, MOST_NAMED)
    if count > len(names):
        listed = ", ".join(names)
        return ngettext(
            "%(names)s and %(num)s more of this account",
            "%(names)s and %(num)s more of this account",
            count - len(names),
            names=listed,
        )
    if len(names) > 1:
        first = ", ".join(names[:-1])
        return gettext("%(names)s and %(name)s of this account", names=first, name=names[-1])
    return gettext("%(name)s of this account", name=names[0]) if names else ""
