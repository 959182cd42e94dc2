from collections.abc import Sequence

from gamekeeper.game import lookup
from gamekeeper.http import paging, spelling, wire
from gamekeeper.http.paging import Page
from gamekeeper.http.request import Request
from gamekeeper.store import players, presence
from gamekeeper.store.engine import Reading
from gamekeeper.store.players import Record

Found = tuple[int, Sequence[bytes]]


async def by_name(request: Request) -> bytes:
    """Characters by name, page by page."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, records = await _by_name(request, page)
    return wire.paged(total, page.number, page.size, records)


async def by_rank(request: Request) -> bytes:
    """Characters by level and experience, the best first."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    ascending = paging.ascending(request.query)

    async def look(tx: Reading) -> Found:
        ranked = players.records_by_rank_ascending if ascending else players.records_by_rank
        return await players.count(tx), _spelt(await ranked(tx, page.limit, page.offset))

    total, records = await request.keeper.store.read(look)
    return wire.paged(total, page.number, page.size, records)


async def online(request: Request) -> bytes:
    """Characters that are online, page by page."""
    page = paging.from_query(request.query, request.keeper.settings.max_page_size)
    total, records = await _online(request, page)
    return wire.paged(total, page.number, page.size, records)


async def legacy_online(request: Request, body: wire.LegacyPage) -> bytes:
    """Characters that are online, in the old envelope."""
    page = paging.from_body(body, request.keeper.settings.max_page_size)
    total, records = await _online(request, page)
    return wire.legacy(total, page.number, records)


async def legacy_by_name(request: Request, body: wire.LegacyPage) -> bytes:
    """Characters by name, in the old envelope."""
    page = paging.from_body(body, request.keeper.settings.max_page_size)
    total, records = await _by_name(request, page)
    return wire.legacy(total, page.number, records)


async def online_count(request: Request) -> bytes:
    """How many characters are online."""
    return wire.encode(wire.OnlineCount(await presence.count(request.keeper.store)))


async def show(request: Request) -> bytes:
    """One character, by name or id."""
    return spelling.player_record(await lookup.player_record(request.keeper.store, request.params[0]))


async def _by_name(request: Request, page: Page) -> Found:
    async def look(tx: Reading) -> Found:
        return await players.count(tx), _spelt(await players.records_by_name(tx, page.limit, page.offset))

    return await request.keeper.store.read(look)


async def _online(request: Request, page: Page) -> Found:
    async def look(tx: Reading) -> Found:
        return await presence.count(tx), _spelt(await presence.records(tx, page.limit, page.offset))

    return await request.keeper.store.read(look)


def _spelt(records: Sequence[Record]) -> list[bytes]:
    return [spelling.player_record(record) for record in records]
