"""Who is online: on all game servers, or on one."""

from collections.abc import Sequence
from functools import partial

from gamekeeper.console import lists, live, pages, pulse
from gamekeeper.console.characters import Character, read
from gamekeeper.game import lookup
from gamekeeper.game.search import ONLINE_PLAYERS
from gamekeeper.http import paging, search
from gamekeeper.http.paging import Page
from gamekeeper.http.request import Request
from gamekeeper.store import players, presence
from gamekeeper.store.engine import Reading
from gamekeeper.store.players import Record


async def show(request: Request) -> bytes:
    server = request.query.get("server", "")
    if server:
        records, beside = await _on_one(request, server)
    else:
        records, beside = await lists.searched(request, ONLINE_PLAYERS)
    return pages.render(
        request,
        "online.html",
        servers=await live.of(request).pulse.servers(),
        most=pulse.LOOKED_AT,
        server=server,
        characters=await _placed(request, records),
        **beside,
    )


async def _on_one(request: Request, server: str) -> tuple[Sequence[Record], dict[str, object]]:
    page = paging.from_query(request.query, request.keeper.settings.max_page_size, lists.SIZE)
    sought = search.text(request)
    look = partial(_found, server=server, sought=lookup.fold(sought), page=page)
    looked_at, total, records = await request.keeper.store.read(look)
    part = lists.part(request, page, total, len(records))._replace(ceiling=looked_at == pulse.LOOKED_AT)
    kept = lists.kept(request, "server")
    return records, {"part": part, "heads": {}, "sought": sought, "short": False, "kept": kept}


async def _found(tx: Reading, *, server: str, sought: str, page: Page) -> tuple[int, int, list[Record]]:
    """Those on one server by name, out of as many as are looked at."""
    there = await presence.some_of_server(tx, server, pulse.LOOKED_AT) if lookup.nameable(server) else []
    found = sorted(each for each in there if sought in each.fold.partition("\x01")[0])
    ids = [each.player_id for each in found[page.offset : page.offset + page.limit]]
    records = {record.id: record for record in await players.records_of_ids(tx, ids)}
    return len(there), len(found), [records[each] for each in ids]


async def _placed(request: Request, records: Sequence[Record]) -> list[tuple[Character, str]]:
    """With the server that each is on; nothing for one who has left since."""
    servers = await presence.servers_of(request.keeper.store, [each.id for each in records])
    return [(each, servers.get(each.record.id, "")) for each in read(request, records)]
