"""All characters or those who are online, or those of them that a search finds."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.console import lists, pages
from gamekeeper.game.players import Player
from gamekeeper.game.search import ONLINE_PLAYERS, PLAYERS
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import users
from gamekeeper.store.players import StoredPlayer


class Character(NamedTuple):
    """A row of a list."""

    player: Player
    record: StoredPlayer


async def show(request: Request) -> Response:
    choice = lists.choice(request, "online", {"yes": "online only"})
    records, beside = await lists.searched(request, ONLINE_PLAYERS if choice.chosen else PLAYERS)
    characters = read(request, records)
    owners = await _owners(request, characters)
    return pages.render(request, "characters.html", characters=characters, owners=owners, choice=choice, **beside)


def read(request: Request, records: Iterable[StoredPlayer]) -> list[Character]:
    spelling = request.services.keeper.changes.codec
    return [Character(spelling.decode_player(each.document, each.last_online), each) for each in records]


async def _owners(request: Request, characters: Iterable[Character]) -> dict[str, str]:
    """The names of their accounts by id, for those who may see accounts."""
    if "users.query" not in request.caller.permissions:
        return {}
    found = await users.read_by_ids(request.services.keeper.store, {each.player.user_id for each in characters})
    return {each.id: each.name for each in found}
