"""All characters, or those that a search finds."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.console import lists, pages
from gamekeeper.game.players import Player
from gamekeeper.game.search import PLAYERS
from gamekeeper.http.request import Request
from gamekeeper.store.players import Record


class Character(NamedTuple):
    """A row of a list."""

    player: Player
    record: Record


async def show(request: Request) -> bytes:
    records, beside = await lists.searched(request, PLAYERS)
    return pages.render(request, "characters.html", characters=read(request, records), **beside)


def read(request: Request, records: Iterable[Record]) -> list[Character]:
    spelling = request.keeper.changes.spelling
    return [Character(spelling.read_player(each.document, each.last_online), each) for each in records]
