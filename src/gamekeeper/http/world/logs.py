"""Logs of activity and trades: game servers report them in batches, and staff read them in the engine's pages."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.world import logs
from gamekeeper.game.world.logs import LogFilter
from gamekeeper.ground.instants import parse_instant
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import LINK, Group, H, needs
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.players import player_shapes
from gamekeeper.http.server import paging
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import log_shapes
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import logs as rows
from gamekeeper.store.world.logs import ActivityEntry, TradeEntry, TradeRow

E = TypeVar("E", ActivityEntry, TradeEntry)

GROUP = Group("Logs", "The game's logs of activity and trades.", place=300)
GROUPS = (GROUP,)
READ_LOGS = needs("logs.read")
SEE_ADDRESSES = "addresses.read"  # without this permission, addresses are left out
Page = shapes.EnginePage[Any] | shapes.SortedEnginePage[Any]
EMPTY_PAGE = shapes.EnginePage[log_shapes.NoEntry](0, 0, 5, 0, [])
decode_items = msgspec.json.Decoder(list[log_shapes.TradeItem]).decode


@GROUP.operation("POST /api/link/v1/logs/activity", permissions=LINK, answer=logs.LogReceipt)
async def report_activity(request: Request, body: log_shapes.ActivityBatch) -> Response:
    """Report activity of accounts and players, such as log-ins. Known entries are left out."""
    return await _report(request, [_read_activity(*each) for each in enumerate(body.Entries)], logs.add_activity)


@GROUP.operation("POST /api/link/v1/logs/trades", permissions=LINK, answer=logs.LogReceipt)
async def report_trades(request: Request, body: log_shapes.TradeBatch) -> Response:
    """Report trades between players, one entry for each party. Known entries are left out."""
    return await _report(request, [_read_trade(*each) for each in enumerate(body.Entries)], logs.add_trades)


async def _report(
    request: Request,
    entries: Sequence[E],
    add: Callable[[Reading, Sequence[E]], Coroutine[Any, Any, Decision[logs.LogReceipt]]],
) -> Response:
    async def decide(tx: Reading) -> Decision[logs.LogReceipt]:
        await logs.require_credible_times(tx, [each.at for each in entries])
        return await add(tx, entries)

    return await request.change(decide)


def _declare_list(path: str, answer: type[Page], example: Page | None = None) -> Callable[[H], H]:
    return GROUP.operation(f"GET /api/v1/logs/{path}", permissions=READ_LOGS, answer=answer, example_answer=example)


@_declare_list("user/[userId]/activity", shapes.EnginePage[log_shapes.Activity])
async def list_activity_of_user(request: Request, query: log_shapes.LogQuery, user_id: str) -> bytes:
    """List the activity of an account, oldest first. Without `addresses.read`, `Ip` is empty."""
    return await _list_activity(request, query, LogFilter(user_id=user_id))


@_declare_list("player/[playerId]/activity", shapes.EnginePage[log_shapes.Activity])
async def list_activity_of_player(request: Request, query: log_shapes.LogQuery, player_id: str) -> bytes:
    """List the activity of a player, oldest first. Without `addresses.read`, `Ip` is empty."""
    return await _list_activity(request, query, LogFilter(player_id=player_id))


@_declare_list("user/[userId]/ip", shapes.EnginePage[logs.UsedAddress])
async def list_addresses_of_user(request: Request, query: shapes.EngineQuery, user_id: str) -> bytes:
    """List the addresses of an account, and who else used them. It needs `addresses.read` too."""
    page = paging.read_engine_query(query)
    if not _can_see_addresses(request):
        return _encode_page(0, (), page)
    store = request.services.keeper.store
    return _encode_page(*await store.read(lambda tx: logs.load_addresses(tx, user_id, page)), page)


@_declare_list("trade", shapes.SortedEnginePage[log_shapes.Trade])
async def list_trades(request: Request, query: log_shapes.TradeQuery) -> bytes:
    """List trades, oldest first. Without `addresses.read`, `Ip` is empty."""
    page = paging.read_engine_query(query)
    wanted = LogFilter(*(None if each == ZERO_GUID else each for each in (query.userId, query.playerId)))
    newest_first = query.sortDirection == "Descending"

    async def read(tx: Reading) -> tuple[int, Sequence[TradeRow], Mapping[str, str]]:
        total, found = await logs.load_trades(tx, wanted, page, newest_first=newest_first)
        return total, found, await read_item_names(tx, found)

    total, found, names = await request.services.keeper.store.read(read)
    shown = _can_see_addresses(request)
    records = [make_trade(each, names, with_address=shown) for each in found]
    return _encode_page(total, records, page, [shapes.SortKey("TimeStamp", int(newest_first))])


@_declare_list("chat", shapes.EnginePage[log_shapes.NoEntry], EMPTY_PAGE)
async def list_chat(request: Request, query: shapes.EngineQuery) -> bytes:
    """List chat messages: always empty, because no game reports them."""
    del request
    return _encode_page(0, (), paging.read_engine_query(query))


@_declare_list("pm", shapes.EnginePage[log_shapes.NoEntry], EMPTY_PAGE)
async def list_private_messages(request: Request, query: shapes.EngineQuery) -> bytes:
    """List private messages: always empty, because no game reports them."""
    del request
    return _encode_page(0, (), paging.read_engine_query(query))


@_declare_list("guild/[guildId]/activity", shapes.EnginePage[log_shapes.NoEntry], EMPTY_PAGE)
async def list_activity_of_guild(request: Request, query: shapes.EngineQuery, guild_id: str) -> bytes:
    """List the activity of a guild: always empty, because no game reports it."""
    del request, guild_id
    return _encode_page(0, (), paging.read_engine_query(query))


async def _list_activity(request: Request, query: log_shapes.LogQuery, wanted: LogFilter) -> bytes:
    page = paging.read_engine_query(query)
    load = partial(logs.load_activity, wanted=wanted, page=page, newest_first=query.sortDirection == "Descending")
    total, found = await request.services.keeper.store.read(load)
    shown = _can_see_addresses(request)
    return _encode_page(total, [make_activity(each, with_address=shown) for each in found], page)


async def read_item_names(tx: Reading, trades: Iterable[TradeRow]) -> dict[str, str]:
    """Read the names of the traded items that are in the catalogue: id → name."""
    ids = {item.ItemId for row in trades for side in (row.items, row.target_items) for item in decode_items(side)}
    return await rows.read_item_names(tx, ids) if ids else {}


def make_activity(row: ActivityEntry, *, with_address: bool) -> log_shapes.Activity:
    own = {"PlayerId": row.player_id or ZERO_GUID, "Ip": (row.address or "") if with_address else ""}
    return make_record(log_shapes.Activity, row, TimeStamp=row.at, **own)


def make_trade(row: TradeRow, item_names: Mapping[str, str], *, with_address: bool) -> log_shapes.Trade:
    return make_record(
        *(log_shapes.Trade, row),
        Ip=(row.address or "") if with_address else "",
        TimeStamp=row.at,
        Items=list(_name_items(row.items, item_names)),
        TargetItems=list(_name_items(row.target_items, item_names)),
        Username=row.user,
        PlayerName=row.player,
        TargetName=row.target,
    )


def _name_items(items: bytes | str, names: Mapping[str, str]) -> Iterable[log_shapes.NamedTradeItem]:
    for each in decode_items(items):
        name = names.get(each.ItemId, player_shapes.DELETED)
        yield make_record(log_shapes.NamedTradeItem, each, ItemName=name)


def _read_activity(number: int, entry: log_shapes.ReportedActivity) -> ActivityEntry:
    _require_id(number, entry.Id)
    at, player = parse_instant(entry.TimeStamp), None if entry.PlayerId == ZERO_GUID else entry.PlayerId
    if player and entry.UserId == ZERO_GUID:
        raise BadField(field=f"Entries[{number}].UserId", problem="must be the player's account")
    known = (entry.UserId, player, entry.Action, entry.Peer)
    return ActivityEntry(entry.Id, at, *known, entry.Ip or None, entry.Meta)


def _read_trade(number: int, entry: log_shapes.ReportedTrade) -> TradeEntry:
    _require_id(number, entry.Id)
    for field, value in (("UserId", entry.UserId), ("PlayerId", entry.PlayerId), ("TargetId", entry.TargetId)):
        _require_id(number, value, field)
    items, got = (shapes.encode(side).decode() for side in (entry.Items, entry.TargetItems))
    parties = (entry.UserId, entry.PlayerId, entry.TargetId)
    return TradeEntry(entry.Id, entry.TradeId, parse_instant(entry.TimeStamp), *parties, entry.Ip or None, items, got)


def _require_id(number: int, value: str, field: str = "Id") -> None:
    if value == ZERO_GUID:
        raise BadField(field=f"Entries[{number}].{field}", problem="must not be all zeros")


def _can_see_addresses(request: Request) -> bool:
    return SEE_ADDRESSES in request.caller.permissions


def _encode_page(
    total: int, records: Sequence[Struct], page: paging.PageRange, sort: Sequence[shapes.SortKey] | None = None
) -> bytes:
    encoded = [shapes.encode(each) for each in records]
    return shapes.encode_engine_page(total, page.number, page.size, encoded, sort)
