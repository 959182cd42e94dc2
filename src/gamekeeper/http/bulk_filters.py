"""The players of a bulk job that a filter selects: collected once, when the job is created."""

from functools import partial

from msgspec import UNSET

from gamekeeper.game import lookup, player_filters
from gamekeeper.game.bulk_refusals import FilterTooWide, TooManyPlayers
from gamekeeper.game.bulk_targets import MOST_PLAYERS
from gamekeeper.game.player_filters import PageWanted
from gamekeeper.game.player_walks import PlayerFilter
from gamekeeper.game.ranges import require_order
from gamekeeper.game.refusals import BadField
from gamekeeper.http.instants import parse_instant
from gamekeeper.http.player_filters import ACCOUNTS
from gamekeeper.http.request import Request
from gamekeeper.http.wire.bulk import JobFilter
from gamekeeper.store.search import PART_LETTERS

MAX_COMPARED = 100_000  # players that are compared with one filter: one to two seconds, in steps
STEP_PLAYERS = 2000  # matches that one step finds at most


async def collect(request: Request, body: JobFilter) -> list[str]:
    """Find the ids of all players that match now. Each step is a short read of its own."""
    wanted = _read_filter(request, body)
    found, compared, page = dict[str, None](), 0, PageWanted(STEP_PLAYERS)
    while True:
        read = partial(player_filters.find, wanted=wanted, page=page)
        step = await request.run_through_gate(partial(request.services.keeper.store.read, read))
        found |= dict.fromkeys(step.ids)
        compared += step.searched
        if len(found) > MOST_PLAYERS:
            raise TooManyPlayers(most=MOST_PLAYERS)
        if wanted.search and step.total is None:
            raise BadField(field="Search", problem="matches too many names to find them all: it needs more letters")
        if step.next is None:
            return list(found)
        if compared >= MAX_COMPARED:
            raise FilterTooWide(most=MAX_COMPARED)
        page = page._replace(cursor=step.next)


def _read_filter(request: Request, body: JobFilter) -> PlayerFilter:
    if body.Banned is not UNSET:
        request.caller.require(ACCOUNTS)
    seen_from, seen_to = (parse_instant(each) if each else None for each in (body.SeenFrom, body.SeenTo))
    require_order("SeenFrom", seen_from, seen_to)
    require_order("LevelFrom", body.LevelFrom or None, body.LevelTo or None)
    wanted = PlayerFilter(
        *(body.ClassId or None, body.MapId or None, body.LevelFrom or None, body.LevelTo or None),
        *(seen_from, seen_to),
        None if body.Banned is UNSET else body.Banned,
        None if body.Online is UNSET else body.Online,
        *(body.ItemId or None, body.Search or ""),
    )
    if wanted == PlayerFilter():
        raise BadField(field="Filter", problem="needs a condition")
    if body.Search is not UNSET and len(lookup.fold(body.Search)) < PART_LETTERS:
        raise BadField(field="Search", problem="needs at least 3 letters")
    return wanted
