"""What an open page of a player asks every few seconds: whether the player has changed, and who changed it."""

from typing import NamedTuple

from gamekeeper.console import changes, note_lines, pages
from gamekeeper.console.kinds import name_kind
from gamekeeper.console.menu import CHANGES, QUERY
from gamekeeper.console.texts import gettext
from gamekeeper.game import history, lookup
from gamekeeper.game.refusals import NoSuchPlayer
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import history as rows
from gamekeeper.store import presence
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER, OF_PLAYER, OF_USER, HistoryChange, HistoryFilter


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
        notes=note_lines.NEEDED in rights,
    )
    found = await rows.read_page(tx, wanted, NEVER, 1, 1)
    if user_id and wanted.accounts:
        found += await rows.read_page(tx, wanted._replace(within=OF_USER, whose=user_id), NEVER, 1, 1)
    newest = max(history.hide_unseen(found, wanted), key=lambda each: each.seq, default=None)
    server = await presence.find_server_of(tx, player_id)
    return PlayerVersion(f"{newest.seq if newest else 0} {server or ''}", newest)


def _describe(request: Request, newest: HistoryChange | None) -> str:
    if newest is None or not request.caller.permissions >= CHANGES:
        return gettext("Updated just now.")
    kind, name = name_kind(newest.kind), changes.name_actor(newest)
    return gettext("Changed just now by %(name)s: %(kind)s.", name=name, kind=kind)
