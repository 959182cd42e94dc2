"""The page that lists players: all or only online ones, filtered by a search text."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.console import lists, pages
from gamekeeper.console.texts import gettext
from gamekeeper.game.players import Player
from gamekeeper.game.search import ONLINE_PLAYERS, PLAYERS
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import users
from gamekeeper.store.players import RecordRow, StoredPlayer


class PlayerRow(NamedTuple):
    """A player in a list, with its database record."""

    player: Player
    record: StoredPlayer


async def show(request: Request) -> Response:
    choice = lists.read_filter(request, "online", {"yes": gettext("online only")})
    records, beside = await lists.search_list(request, ONLINE_PLAYERS if choice.chosen else PLAYERS)
    characters = read_players(request, records)
    owners = await _find_owner_names(request, characters)
    return pages.render(request, "players.html", characters=characters, owners=owners, choice=choice, **beside)


def read_players(request: Request, rows: Iterable[RecordRow]) -> list[PlayerRow]:
    spelling = request.services.keeper.changes.codec
    records = [StoredPlayer(*row) for row in rows]
    return [PlayerRow(spelling.decode_player(each.document, each.last_online), each) for each in records]


async def _find_owner_names(request: Request, characters: Iterable[PlayerRow]) -> dict[str, str]:
    """Map account ids to account names; empty if the viewer may not see accounts."""
    if "users.query" not in request.caller.permissions:
        return {}
    found = await users.read_by_ids(request.services.keeper.store, {each.player.user_id for each in characters})
    return {each.id: each.name for each in found}
