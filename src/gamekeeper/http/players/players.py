"""Players: lists, rankings, who is online, and changes.

A player record is sent as the stored document, with the fields that follow it appended.
"""

from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from gamekeeper.game.core import lookup, values
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.lists.list_index import NAMES, ONLINE, RANK, ListDefinition
from gamekeeper.game.lists.ordered_lists import Ranking
from gamekeeper.game.lists.search import ONLINE_PLAYERS, PLAYERS
from gamekeeper.game.players import player_edits
from gamekeeper.ground.instants import DAY_MS, MILLISECONDS, MINUTES, SECONDS, encode_date
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import READ, READ_PLAYERS, REVALIDATED, Group, needs
from gamekeeper.http.players import documents, player_shapes
from gamekeeper.http.players.player_shapes import encode_player_tail
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import PageRange
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.players.players import RecordRow, StoredPlayer

_FIELDS = player_shapes.PlayerDocument.__struct_fields__
_FIRST_FIELD_COUNT = 25  # number of player fields in version 0.1.0, which every stored document has
_HAS_GROWN = len(_FIELDS) > _FIRST_FIELD_COUNT


def encode_record(record: RecordRow) -> bytes:
    return encode_records((record,))[0]


def encode_records(records: Iterable[RecordRow]) -> list[bytes]:
    """Encode each record: its stored document with class, map, online state and last online time appended.

    A page has up to 100 records. So the loop calls no Python function, not even to format a time.
    """
    if _HAS_GROWN:
        records = [(documents.fill_in_defaults(each[0]), *each[1:]) for each in records]
    found: list[bytes] = []
    for document, class_name, map_name, online, last_online in records:
        tail = encode_player_tail(class_name, map_name, online)
        if last_online is None:
            parts = document[:-1], tail, b"null}"
        else:
            rest = last_online % DAY_MS
            parts = (
                document[:-1],
                tail,
                b'"',
                encode_date(last_online // DAY_MS),
                MINUTES[rest // 60_000],
                SECONDS[rest // 1000 % 60],
                MILLISECONDS[rest % 1000],
                b'"}',
            )
        found.append(b"".join(parts))
    return found


def encode_rank(found: Ranking) -> bytes:
    ranks, around = [rank for rank, _ in found.around], encode_records(record for _, record in found.around)
    ranked = [player_shapes.encode_ranked_player(*each) for each in zip(ranks, around, strict=True)]
    return player_shapes.encode_rank(found.rank, found.total, encode_record(found.player), ranked)


GROUP = Group("Players", "Players: lists, rankings, who is online, and changes.", 10, READ_PLAYERS, REVALIDATED)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/v1/players",
    number=1,
    answer=shapes.Paged[player_shapes.PlayerRecord],
    refusals=(no.SearchNotReady, no.TooManyLongReads),
)
async def list_players(request: Request, query: player_shapes.PlayersQuery) -> bytes:
    """List players, sorted by name or level, in pages; with `search`, only matching ones."""
    return await paging.encode_page(request, query, PLAYERS, encode_records)


@GROUP.operation("GET /api/v1/players/rank", number=2, answer=shapes.Paged[player_shapes.PlayerRecord])
async def list_ranking(request: Request, query: player_shapes.RankQuery) -> bytes:
    """List players by level and experience, highest first, in pages."""
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    descending = query.sortDirection == "Descending"
    total, rows = await request.services.keeper.lists.load_page(RANK, page.offset, page.limit, descending=descending)
    return shapes.encode_paged(total, page.number, page.size, encode_records(rows))


@GROUP.operation(
    "GET /api/v1/players/online",
    answer=shapes.Paged[player_shapes.PlayerRecord],
    refusals=(no.SearchNotReady, no.TooManyLongReads),
)
async def list_online_players(request: Request, query: player_shapes.PlayersQuery) -> bytes:
    """List players who are online, in pages; with `search`, only matching ones."""
    return await paging.encode_page(request, query, ONLINE_PLAYERS, encode_records)


@GROUP.operation("POST /api/v1/players/online", number=3, access=READ, answer=shapes.Legacy[player_shapes.PlayerRecord])
async def list_online_players_legacy(request: Request, body: shapes.LegacyPage) -> bytes:
    """List players who are online, in the legacy format."""
    page = paging.read_legacy(request, body)
    return await _encode_legacy(request, ONLINE, page)


@GROUP.operation(
    "POST /api/v1/players",
    number=19,
    access=READ,
    answer=shapes.Legacy[player_shapes.PlayerRecord],
    successor="/api/v1/players",
)
async def list_players_legacy(request: Request, body: shapes.LegacyPage) -> bytes:
    """List players by name, in the legacy format."""
    page = paging.read_legacy(request, body)
    return await _encode_legacy(request, NAMES, page)


@GROUP.operation("GET /api/v1/players/online/count", number=4)
async def count_online_players(request: Request) -> player_shapes.OnlineCount:
    """Count the players who are online."""
    return player_shapes.OnlineCount(await request.services.keeper.lists.count(ONLINE))


@GROUP.operation("GET /api/v1/players/[lookupKey]", number=5, answer=player_shapes.PlayerRecord)
async def get_player(request: Request) -> bytes:
    """Get a player by name or id."""
    found = await lookup.find_player_record(request.services.keeper.store, request.params[0])
    return encode_record(found)


@GROUP.operation("GET /api/v1/players/[lookupKey]/rank", answer=player_shapes.Rank, rows=101)
async def get_rank(request: Request, query: player_shapes.AroundQuery) -> bytes:
    """Get a player's rank, with the players just above and below."""
    return encode_rank(await request.services.keeper.lists.find_rank(request.params[0], query.around))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/name",
    permissions=needs("players.rename"),
    answer=player_shapes.PlayerRecord,
    refusals=(no.ReservedName, no.NameTaken),
)
async def rename_player(request: Request, body: player_shapes.Rename) -> Response:
    """Rename a player."""
    name = values.require_name(body.name, "name", request.services.keeper.settings)
    return await change_player(request, partial(player_edits.rename, name=name))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/level",
    permissions=needs("players.progress"),
    answer=player_shapes.PlayerRecord,
)
async def set_level(request: Request, body: player_shapes.SetLevel) -> Response:
    """Set a player's level; the experience is set to 0."""
    level = player_edits.require_level(body.level, request.services.keeper.settings)
    return await change_player(request, partial(player_edits.set_level, level=level))


@GROUP.operation(
    "POST /api/v1/players/[lookupKey]/class",
    permissions=needs("players.progress"),
    answer=player_shapes.PlayerRecord,
    refusals=(no.NoSuchClass,),
)
async def set_class(request: Request, body: player_shapes.SetClass) -> Response:
    """Set a player's class."""
    return await change_player(request, partial(player_edits.set_class, class_id=body.classid))


@GROUP.operation(
    "DELETE /api/v1/players/[lookupKey]",
    permissions=needs("players.delete"),
    answer=player_shapes.PlayerRecord,
    refusals=(no.PlayerOnline,),
)
async def delete_player(request: Request) -> Response:
    """Delete a player who is not online, with all items, spells and variables."""
    return await change_player(request, player_edits.delete)


async def change_player(
    request: Request, decide: Callable[..., Coroutine[Any, Any, Decision[StoredPlayer]]]
) -> Response:
    """Make a change of the player in the path, and answer with its record."""
    chosen = partial(decide, key=request.params[0], codec=request.services.keeper.changes.codec)
    return await request.change(chosen, encode_record)


async def _encode_legacy(request: Request, listing: ListDefinition[RecordRow], page: PageRange) -> bytes:
    total, rows = await request.services.keeper.lists.load_page(listing, page.offset, page.limit)
    return shapes.encode_legacy(total, page.number, encode_records(rows))
