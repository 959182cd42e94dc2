"""The page of online players: of all game servers, or of one, with pages before and after a name."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.list_page import PAGE_SIZE, SearchQuery
from gamekeeper.console.frame.menu import GAME, PLAYERS
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.console.players.players import read_players
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.lists.search import ONLINE_PLAYERS
from gamekeeper.http.server import queries
from gamekeeper.http.server.admission import SharedQuery
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players, presence
from gamekeeper.store.players.players import RecordRow
from gamekeeper.store.players.presence import GameServerRow

MAX_SERVERS = 200  # game servers shown on the page
MAX_SCANNED = 2_000  # players of one game server that a page counts or searches, to limit the query time
SHARED_SECONDS = 1.0  # all viewers share player counts that are at most this old


class GameServers(SharedQuery[list[GameServerRow]]):
    """The game servers with their player counts, for all viewers."""

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(lambda: presence.read_servers(keeper.store, MAX_SCANNED, MAX_SERVERS), SHARED_SECONDS)


SHARED = (GameServers,)


class NamePosition(NamedTuple):
    """Where a page of a game server's players starts: after a folded name, or backwards before it."""

    name: str
    is_backward: bool = False


class ServerRoster(NamedTuple):
    """A page of a game server's players, sorted by name. Other pages start before `before` or after `after`."""

    ids: list[str]
    before: str = ""
    after: str = ""
    is_incomplete: bool = False  # the search stopped after MAX_SCANNED names, before the page was full


START = NamePosition("")


async def show(request: Request) -> Response:
    server = request.query.get("server", "")
    records, beside = await (
        _list_server(request, server) if server else list_page.search_list(request, ONLINE_PLAYERS)
    )
    found = read_players(request, records)
    servers = await presence.find_servers_of(request.services.keeper.store, [each.player.id for each in found])
    return pages.render(
        request,
        "players/online.html",
        servers=await pages.get_shared(request, GameServers).get(),
        most=MAX_SCANNED,
        server=server,
        # each player with its game server; empty if the player has just gone offline
        characters=[(each, servers.get(each.player.id, "")) for each in found],
        **beside,
    )


async def _list_server(request: Request, server: str) -> tuple[Sequence[RecordRow], dict[str, object]]:
    sought, position = queries.decode(SearchQuery, request.query).search, _read_position(request)

    async def read(tx: Reading) -> tuple[ServerRoster, list[RecordRow]]:
        is_name = lookup.is_nameable(server)
        roster = await _scan_names(tx, server, lookup.fold(sought), position) if is_name else ServerRoster([])
        records = await players.read_records_of_ids(tx, roster.ids)
        return roster, [records[each] for each in roster.ids]

    roster, records = await request.services.keeper.store.read(read)
    to = partial(list_page.build_url, request)
    before = to(before=roster.before, after="") if roster.before else ""
    after = to(before="", after=roster.after) if roster.after else ""
    beside: dict[str, object] = {
        "start": to(before="", after="") if position != START else "",
        "before": before,
        "after": after,
        "further": ((position.is_backward and before) or after) if roster.is_incomplete else "",
        "sought": sought,
        "short": False,
        "kept": list_page.keep_query(request, "server"),
        "heads": {},
    }
    return records, beside


def _read_position(request: Request) -> NamePosition:
    for name in ("before", "after"):
        fold = request.query.get(name, "")
        # PostgreSQL rejects NUL in a text. U+0001 is allowed: the suffix of a duplicate folded name starts with it
        if "\x00" in fold:
            raise BadField(field=name, problem=gettext("must come from a link on this page"))
        if fold:
            return NamePosition(fold, is_backward=name == "before")
    return START


async def _scan_names(tx: Reading, server: str, sought: str, position: NamePosition) -> ServerRoster:
    """Load a page of players whose name contains `sought`. At most MAX_SCANNED names are searched.

    If a page before a name reaches the start of the list, the first page is loaded instead, so that it is full.
    """
    most = MAX_SCANNED if sought else PAGE_SIZE
    ahead = await (presence.read_before_name if position.is_backward else presence.read_after_name)(
        tx, server, position.name, most + 1
    )
    seen, more = ahead[:most], len(ahead) > most
    found = [each for each in seen if sought in lookup.strip_clash(each.fold)]
    shown, stopped = found[:PAGE_SIZE], more and len(found) < PAGE_SIZE
    end = shown[-1].fold if len(found) > PAGE_SIZE else seen[-1].fold if more else ""
    if position.is_backward and not end:
        return await _scan_names(tx, server, sought, START)
    ids, begin = [each.player_id for each in shown], seen[0].fold if seen and position != START else ""
    return (
        ServerRoster(ids[::-1], end, begin, stopped) if position.is_backward else ServerRoster(ids, begin, end, stopped)
    )


PAGES = (
    page_route("/online", show, PLAYERS)
    .in_menu("Online", GAME, 40, "online")
    .with_help(
        "Players in the game now, and the game servers that report them. A server whose lease ends is treated as "
        "stopped.",
        "link",
    ),
)
