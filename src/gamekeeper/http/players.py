from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import msgspec

from gamekeeper.game import accounts, lookup, player_edits
from gamekeeper.game import refusals as no
from gamekeeper.game.changes import Decision
from gamekeeper.game.list_definitions import NAMES, ONLINE, RANK, ListDefinition
from gamekeeper.game.search import ONLINE_PLAYERS, PLAYERS
from gamekeeper.http import paging, player_records, samples, search, wire
from gamekeeper.http.operation import READ, READ_PLAYERS, REVALIDATED, WRITE, Group, needs
from gamekeeper.http.paging import PageRange
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.settings import MOST_PAGE_ROWS
from gamekeeper.store.players import RecordRow, StoredPlayer

GROUP = Group("Players", "Players: lists, rankings, who is online, and changes.")


@GROUP.operation(
    "GET /api/v1/players",
    name="list_players",
    number=1,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.players.PlayersQuery,
    answer=wire.lists.Paged[wire.players.PlayerRecord],
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads),
    example_answer=wire.lists.Paged(48, 0, 5, 1, [samples.RECORD]),
)
async def list_players(request: Request, query: wire.players.PlayersQuery) -> bytes:
    """List players, sorted by name or level, in pages; with `search`, only matching ones."""
    return await search.encode_page(request, query, PLAYERS, player_records.encode_records)


@GROUP.operation(
    "GET /api/v1/players/rank",
    name="list_ranking",
    number=2,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.players.RankQuery,
    answer=wire.lists.Paged[wire.players.PlayerRecord],
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_answer=wire.lists.Paged(48, 0, 5, 1, [samples.RECORD]),
)
async def list_ranking(request: Request, query: wire.players.RankQuery) -> bytes:
    """List players by level and experience, highest first, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    descending = query.sortDirection == "Descending"
    total, rows = await request.services.keeper.lists.load_page(RANK, page.offset, page.limit, descending=descending)
    return wire.lists.encode_paged(total, page.number, page.size, player_records.encode_records(rows))


@GROUP.operation(
    "GET /api/v1/players/online",
    name="list_online_players",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.players.PlayersQuery,
    answer=wire.lists.Paged[wire.players.PlayerRecord],
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads),
    example_answer=wire.lists.Paged(48, 0, 5, 1, [samples.RECORD]),
)
async def list_online(request: Request, query: wire.players.PlayersQuery) -> bytes:
    """List players who are online, in pages; with `search`, only matching ones."""
    return await search.encode_page(request, query, ONLINE_PLAYERS, player_records.encode_records)


@GROUP.operation(
    "POST /api/v1/players/online",
    name="list_online_players_legacy",
    number=3,
    permissions=READ_PLAYERS,
    access=READ,
    body=wire.lists.LegacyPage,
    answer=wire.lists.Legacy[wire.players.PlayerRecord],
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_body=wire.lists.LegacyPage(),
    example_answer=wire.lists.Legacy(48, 0, 1, [samples.RECORD]),
)
async def list_online_legacy(request: Request, body: wire.lists.LegacyPage) -> bytes:
    """List players who are online, in the legacy format."""
    page = paging.read_legacy(request, body)
    return await _encode_legacy(request, ONLINE, page)


@GROUP.operation(
    "POST /api/v1/players",
    name="list_players_legacy",
    number=19,
    permissions=READ_PLAYERS,
    access=READ,
    body=wire.lists.LegacyPage,
    answer=wire.lists.Legacy[wire.players.PlayerRecord],
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_body=wire.lists.LegacyPage(),
    example_answer=wire.lists.Legacy(48, 0, 1, [samples.RECORD]),
    successor="/api/v1/players",
)
async def list_players_legacy(request: Request, body: wire.lists.LegacyPage) -> bytes:
    """List players by name, in the legacy format."""
    page = paging.read_legacy(request, body)
    return await _encode_legacy(request, NAMES, page)


@GROUP.operation(
    "GET /api/v1/players/online/count",
    name="count_online_players",
    number=4,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.players.OnlineCount,
    refusals=(),
    example_answer=wire.players.OnlineCount(12),
)
async def count_online(request: Request) -> bytes:
    """Count the players who are online."""
    return wire.encode(wire.players.OnlineCount(await request.services.keeper.lists.count(ONLINE)))


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]",
    name="get_player",
    number=5,
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    answer=wire.players.PlayerRecord,
    refusals=(),
    example_answer=samples.RECORD,
)
async def get_player(request: Request) -> bytes:
    """Get a player by name or id."""
    found = await lookup.find_player_record(request.services.keeper.store, request.params[0])
    return player_records.encode_record(found)


@GROUP.operation(
    "GET /api/v1/players/[lookupKey]/rank",
    name="get_rank",
    permissions=READ_PLAYERS,
    access=READ,
    cache=REVALIDATED,
    query=wire.players.AroundQuery,
    answer=wire.players.Rank,
    rows=101,
    refusals=(),
    example_answer=msgspec.Raw(samples.RANK),
)
async def get_rank(request: Request, query: wire.players.AroundQuery) -> bytes:
    """Get a player's rank, with the players just above and below."""
    return player_records.encode_rank(await request.services.keeper.lists.find_rank(request.params[0], query.around))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/name",
    name="rename_player",
    permissions=needs("players.rename"),
    access=WRITE,
    body=wire.players.Rename,
    answer=wire.players.PlayerRecord,
    refusals=(no.ReservedName, no.NameTaken),
    example_body=wire.players.Rename("Aldwynne"),
    example_answer=samples.RECORD,
)
async def rename(request: Request, body: wire.players.Rename) -> Response:
    """Rename a player."""
    name = accounts.require_name(body.name, "name", request.services.keeper.settings)
    return await _change(request, partial(player_edits.rename, name=name))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/level",
    name="set_level",
    permissions=needs("players.progress"),
    access=WRITE,
    body=wire.players.SetLevel,
    answer=wire.players.PlayerRecord,
    refusals=(),
    example_body=wire.players.SetLevel(49),
    example_answer=samples.RECORD,
)
async def set_level(request: Request, body: wire.players.SetLevel) -> Response:
    """Set a player's level; the experience is set to 0."""
    level = player_edits.require_level(body.level, request.services.keeper.settings)
    return await _change(request, partial(player_edits.set_level, level=level))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/class",
    name="set_class",
    permissions=needs("players.progress"),
    access=WRITE,
    body=wire.players.SetClass,
    answer=wire.players.PlayerRecord,
    refusals=(no.NoSuchClass,),
    example_body=wire.players.SetClass(samples.WARDEN),
    example_answer=samples.RECORD,
)
async def set_class(request: Request, body: wire.players.SetClass) -> Response:
    """Set a player's class."""
    return await _change(request, partial(player_edits.set_class, class_id=body.classid))


@GROUP.operation(
    "DELETE /api/v1/players/[lookupKey]",
    name="delete_player",
    permissions=needs("players.delete"),
    access=WRITE,
    answer=wire.players.PlayerRecord,
    refusals=(no.PlayerOnline,),
    example_answer=samples.RECORD,
)
async def delete(request: Request) -> Response:
    """Delete a player who is not online, with all items, spells and variables."""
    return await _change(request, player_edits.delete)


async def _change(request: Request, decide: Callable[..., Coroutine[Any, Any, Decision[StoredPlayer]]]) -> Response:
    chosen = partial(decide, key=request.params[0], codec=request.services.keeper.changes.codec)
    return await request.change(chosen, player_records.encode_record)


async def _encode_legacy(request: Request, listing: ListDefinition[RecordRow], page: PageRange) -> bytes:
    total, rows = await request.services.keeper.lists.load_page(listing, page.offset, page.limit)
    return wire.lists.encode_legacy(total, page.number, player_records.encode_records(rows))
