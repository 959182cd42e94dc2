"""What an open page of a player asks every few seconds: whether the player has changed, and who changed it."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.console.frame import pages
from gamekeeper.console.frame.labels import name_actor, name_kind
from gamekeeper.console.frame.menu import CHANGES, NOTES, PLAYERS, QUERY
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.audit import history
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchPlayer
from gamekeeper.game.world import commands
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit import history as rows
from gamekeeper.store.audit.history import NEVER, OF_PLAYER, OF_USER, HistoryChange, HistoryFilter
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import presence

# newest changes of the player, and of its account, that an open page follows until a game server has applied them
FOLLOWED_CHANGES = 20
MOST_LETTERS = 50_000  # of the values of these changes; the changes before are not followed


class PlayerVersion(NamedTuple):
    text: str  # changes with everything that the page shows
    newest: HistoryChange | None  # the newest change that the viewer may see


async def show(request: Request) -> Response:
    """Answer with the version of a player's page, and one sentence about its newest change."""
    try:
        found = await request.services.keeper.store.read(lambda tx: _load(tx, request))
    except NoSuchPlayer:
        return pages.answer_json({"version": "", "text": gettext("This player was deleted.")})
    return pages.answer_json({"version": found.text, "text": _describe(request, found.newest)})


async def _load(tx: Reading, request: Request) -> PlayerVersion:
    owner = await lookup.find_owner(tx, request.params[0])
    return await load_version(tx, request, owner.player_id, owner.user_id)


async def load_version(tx: Reading, request: Request, player_id: str, user_id: str | None) -> PlayerVersion:
    """Load the version. The changes of the account are part of it if the viewer may see accounts."""
    rights = request.caller.permissions
    wanted = HistoryFilter(
        within=OF_PLAYER,
        whose=player_id,
        accounts=rights >= QUERY,
        me=request.caller.account_id,
        notes=rights >= NOTES,
    )
    most = FOLLOWED_CHANGES if rights >= CHANGES else 1  # the others see no history
    found = await rows.read_page(tx, wanted, NEVER, most, most, MOST_LETTERS)
    if user_id and wanted.accounts:
        of_user = wanted._replace(within=OF_USER, whose=user_id)
        found += await rows.read_page(tx, of_user, NEVER, most, most, MOST_LETTERS)
    seen = history.hide_unseen(found, wanted)
    newest = max(seen, key=lambda each: each.seq, default=None)
    server = await presence.find_server_of(tx, player_id)
    delivered = await _summarise_deliveries(tx, seen) if rights >= CHANGES else ""
    return PlayerVersion(f"{newest.seq if newest else 0} {delivered} {server or ''}", newest)


async def _summarise_deliveries(tx: Reading, found: Sequence[HistoryChange]) -> str:
    """Return a checksum of how far game servers have got with these changes.

    Only stored cursors count: each process knows newer ones of its own, so the versions of two processes would differ.
    """
    states = await commands.load_delivery_states(tx, found)
    texts = [f"{seq} {each.server} {each.state}" for seq in sorted(states) for each in states[seq]]
    return f"{zlib.crc32(chr(10).join(texts).encode()):08x}"


def _describe(request: Request, newest: HistoryChange | None) -> str:
    if newest is None or not request.caller.permissions >= CHANGES:
        return gettext("Updated just now.")
    kind, name = name_kind(newest.kind), name_actor(newest)
    return gettext("Changed just now by %(name)s: %(kind)s.", name=name, kind=kind)


PAGES = (page_route("/players/[lookupKey]/version", show, PLAYERS),)
