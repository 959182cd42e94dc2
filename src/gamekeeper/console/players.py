"""The page that lists players: all of them, or those that match a filter."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from gamekeeper.console import lists, pages, player_filters, saved_views
from gamekeeper.game import lookup
from gamekeeper.game.players import Player
from gamekeeper.game.search import ONLINE_PLAYERS, PLAYERS
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import player_filters as filter_rows
from gamekeeper.store import users
from gamekeeper.store.players import RecordRow, StoredPlayer
from gamekeeper.store.search import PART_LETTERS


class PlayerRow(NamedTuple):
    """A player in a list, with its database record."""

    player: Player
    record: StoredPlayer


async def show(request: Request) -> Response:
    if to := lists.find_jump(request):
        return pages.redirect(to)
    request = await player_filters.normalize(request)
    form = await player_filters.make_form(request)
    if player_filters.is_filtered(request):
        found = await player_filters.load(request)
        records, beside = found.page.records, {"part": found.part, "walked": found.walked, "heads": found.heads}
        held = await _count_held(request, records)
    else:
        online = request.query.get("online") == player_filters.YES
        records, beside = await lists.search_list(request, ONLINE_PLAYERS if online else PLAYERS)
        seen = lists.make_column(request, "seen", lists.ASCENDING)._replace(direction="")
        beside |= {"walked": None, "heads": {**cast("dict[str, object]", beside["heads"]), "seen": seen}}
        held = {}
    characters = read_players(request, records)
    owners = await _find_owner_names(request, characters)
    shown = {"characters": characters, "owners": owners, "filters": form, "held": held, "sizes": player_filters.SIZES}
    short = 0 < len(lookup.fold(request.query.get("search", ""))) < PART_LETTERS
    views = await saved_views.load(request, "players")
    return pages.render(request, "players.html", views=views, **shown, **beside | {"short": short})


async def _count_held(request: Request, records: Sequence[RecordRow]) -> dict[str, int]:
    """Count the item of the filter that each of the listed players has."""
    item = request.query.get("itemid", "")
    ids = [each.player.id for each in read_players(request, records)]
    return await filter_rows.read_held(request.services.keeper.store, item, ids) if item else {}


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
