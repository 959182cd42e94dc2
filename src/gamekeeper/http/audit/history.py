"""The audit log: list changes, get a player's items, spells and variables of an earlier time, undo a change."""

import itertools
from collections.abc import Iterator, Sequence
from functools import partial

from gamekeeper.game.access.refusals import (
    HeldByRole,
    LastManager,
    OwnRole,
    PermissionMissing,
    RoleBeyondQuota,
    RoleOutOfReach,
)
from gamekeeper.game.audit import history, undo
from gamekeeper.game.audit.history import HistoryPage, PointInTime
from gamekeeper.game.audit.refusals import AlreadyUndone, NotUndoable
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.change import Change
from gamekeeper.game.core.player import BANK, INVENTORY
from gamekeeper.game.core.undo import UndoConflict
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.inventory import Slots, read_capacity
from gamekeeper.game.players.refusals import ItemMovedOn
from gamekeeper.game.players.undo_items import MINUTE_MS
from gamekeeper.game.world.commands import DeliveryState
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.audit import codec, history_shapes
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import GIFT_REFUSALS, OF_ONE_OWNER, Group, needs
from gamekeeper.http.players import documents, player_shapes, variable_shapes
from gamekeeper.http.server.caller import Caller
from gamekeeper.http.server.metrics import GAUGE, MetricFamily, RoomMetrics, Sample, format_sample
from gamekeeper.http.server.paging import CsvTable, answer_table, encode_pieces, encode_rows, join_pieces
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.audit.history import ALL, BY_ACTOR, OF_PLAYER, OF_USER, HistoryChange, HistoryFilter, find_change
from gamekeeper.store.core import ledger

JSON, CSV = "json", "csv"
ACCOUNTS_ROLE = "users.query"
NOTES = "notes.write"  # without this permission, the contents of notes are blank

PAST = needs("players.read", "audit.read")
PAST_REFUSALS = (no.NotThereThen, no.HistoryTrimmed, no.HistoryTooLong, no.TooManyLongReads)
GROUP = Group("History", "The audit log: changes, earlier states of players, and undo.", place=310)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/keeper/v1/changes",
    permissions=needs("audit.read"),
    answer=history_shapes.History,
    rows=shapes.LIMITS[CSV][1],
    gated=True,
)
async def list_history(request: Request, query: history_shapes.HistoryQuery) -> bytes | Response:
    """List changes of the audit log, newest first, with filters; `format=csv` for a table."""
    form, wanted, cursor = query.format, make_filter(query, request.caller), history_shapes.find_start(query.before)
    usual, most = shapes.LIMITS[form]
    limit = min(query.limit or usual, most)
    find_cursor = request.services.keeper.feed.cursors.find
    load = partial(history.load_pages, wanted=wanted, before=cursor, limit=limit, find_cursor=find_cursor)
    make = partial(make_changes, caller=request.caller)
    file, is_long = "changes.csv" if form == CSV else None, limit > history.PIECE_ROWS
    return await answer_table(request, load, make, history_shapes.History, file, long=is_long)


@GROUP.operation(
    "GET /api/keeper/v1/players/[lookupKey]/items",
    permissions=PAST,
    answer=player_shapes.ItemsThen,
    rows=OF_ONE_OWNER,
    refusals=PAST_REFUSALS,
)
async def get_past_items(request: Request, query: history_shapes.ThenQuery) -> bytes:
    """Get a player's inventory, bank and bags: now, or at an earlier time."""
    _, world = await _load_state(request, query.at)
    room, places = request.services.keeper.settings, dict[str, Slots]()
    for place, held in itertools.groupby(sorted(world.slots.items()), lambda each: each[0][0]):
        places[place] = dict(held)
    sizes = {INVENTORY: room.inventory_slots, BANK: room.bank_slots, **world.bags}
    numbers = {place: documents.number_slots(places.get(place, ()), place, size) for place, size in sizes.items()}

    def encode(place: str) -> Iterator[bytes]:
        held: Slots = places.get(place, {})
        return encode_pieces(
            numbers[place],
            lambda some: shapes.encode([documents.make_item_slot(slot, held.get((place, slot))) for slot in some]),
        )

    def encode_all() -> Iterator[bytes]:
        yield b'{"inventory":'
        yield from encode(INVENTORY)
        yield b',"bank":'
        yield from encode(BANK)
        yield b',"bags":['
        for number, (bag_id, size) in enumerate(sorted(world.bags.items())):
            yield (b"," if number else b"") + b'{"Id":"%b","SlotCount":%d,"Slots":' % (bag_id.encode(), size)
            yield from encode(bag_id)
            yield b"}"
        yield b"]}"

    return await join_pieces(request, sum(map(len, numbers.values())), encode_all())


@GROUP.operation(
    "GET /api/keeper/v1/players/[lookupKey]/spells",
    permissions=PAST,
    answer=list[player_shapes.KnownSpell],
    rows=OF_ONE_OWNER,
    refusals=PAST_REFUSALS,
)
async def get_past_spells(request: Request, query: history_shapes.ThenQuery) -> bytes:
    """List the spells a player knows: now, or at an earlier time."""
    _, world = await _load_state(request, query.at)
    return await encode_rows(
        request,
        sorted(world.spells.items()),
        lambda some: shapes.encode([player_shapes.KnownSpell(slot, spell) for slot, spell in some]),
    )


@GROUP.operation(
    "GET /api/keeper/v1/players/[lookupKey]/variables",
    permissions=PAST,
    answer=list[variable_shapes.Variable],
    rows=OF_ONE_OWNER,
    refusals=PAST_REFUSALS,
)
async def get_past_variables(request: Request, query: history_shapes.ThenQuery) -> bytes:
    """List a player's variables: now, or at an earlier time."""
    _, world = await _load_state(request, query.at)
    return await encode_rows(
        request,
        sorted(world.variables.items()),
        lambda some: shapes.encode([variable_shapes.Variable(each, value) for each, value in some]),
    )


@GROUP.operation(
    "POST /api/keeper/v1/changes/[seq]/undo",
    permissions=needs("audit.undo"),
    answer=history_shapes.Undone,
    refusals=(
        *(no.BadField, no.RoleMissing, no.PowerMissing, no.Outranked, no.OwnPowers, no.NoSuchUser),
        *(no.HistoryTrimmed, NotUndoable, AlreadyUndone, UndoConflict, ItemMovedOn),
        *(no.NameTaken, no.UsernameTaken, no.EmailTaken, no.PlayerOnline),
        *(no.AlreadyBanned, no.AlreadyMuted, no.OwnAccount, PermissionMissing),
        *(RoleOutOfReach, RoleBeyondQuota, OwnRole, HeldByRole, LastManager, *GIFT_REFUSALS),
    ),
)
async def undo_change(request: Request, query: history_shapes.UndoQuery, seq: int) -> Response:
    """Undo a change, if the changed data has not been changed again since."""
    keeper, caller = request.services.keeper, request.caller
    kept = await find_change(keeper.store, seq)
    # do not refuse an unknown change number here: a retry gets its stored answer first; else `undo.undo` refuses it
    if kept:
        _require_permissions(caller, undo.list_permissions(kept))
    by = caller.actor._replace(require=partial(_require_permissions, caller))
    trade_ms = 0 if query.force else keeper.settings.trade_minutes * MINUTE_MS
    room, words = read_capacity(keeper.settings), keeper.changes.codec
    decide = partial(undo.undo, seq=seq, actor=by, codec=words, room=room, trade_ms=trade_ms)
    return await request.change(
        decide, _make_undone, clear_callers=True
    )  # clear the cached callers: the undo may have changed permissions


def _require_permissions(caller: Caller, needs: frozenset[str]) -> None:
    # check the role for accounts first: an error about another missing permission would reveal the kind of change
    caller.require(needs & {ACCOUNTS_ROLE})
    caller.require(needs)


def make_filter(query: history_shapes.HistoryQuery, caller: Caller) -> HistoryFilter:
    player, user, actor = query.player or None, query.user or None, query.actor or None
    within, whose = next(
        ((within, each) for within, each in ((OF_PLAYER, player), (OF_USER, user), (BY_ACTOR, actor)) if each),
        (ALL, None),
    )
    return HistoryFilter(
        within=within,
        whose=whose,
        accounts=ACCOUNTS_ROLE in caller.permissions,
        me=caller.account_id,
        notes=NOTES in caller.permissions,
        since=query.since,
        until=query.to,
        kind=query.kind or None,
        request_id=query.request or None,
        reason=query.reason or None,
        item_id=query.item or None,
        user_id=user if within == OF_PLAYER else None,
        actor_id=actor if within != BY_ACTOR else None,
    )


async def _load_state(request: Request, moment: PointInTime) -> tuple[str, history.PlayerState]:
    key, trace = request.params[0], request.services.keeper.changes.codec
    if moment == PointInTime():
        return await request.services.keeper.store.read(lambda tx: history.load_state_at(tx, key, moment, trace))
    return await request.read_in_pieces(lambda tx, rest: history.load_state_at(tx, key, moment, trace, rest))


def make_changes(page: HistoryPage, caller: Caller) -> Iterator[history_shapes.ToldChange]:
    return (
        _make_log_change(each, page.undone.get(each.seq), page.deliveries.get(each.seq, ()), caller)
        for each in page.changes
    )


def make_csv(page: HistoryPage, caller: Caller) -> bytes:
    """Make a CSV table of changes. Cells that a spreadsheet could run as a formula get a leading apostrophe."""
    table = CsvTable(history_shapes.ToldChange)
    table.write(make_changes(page, caller))
    return table.encode()


def _make_log_change(
    change: HistoryChange, undone_by: int | None, delivered: Sequence[DeliveryState], caller: Caller
) -> history_shapes.ToldChange:
    """Convert a change of the audit log to its wire shape. `Undoable` depends on the caller's permissions."""
    allowed = undo.is_undoable(change) and undo.list_permissions(change) <= caller.permissions
    return history_shapes.ToldChange(
        change.seq,
        format_instant(change.at),
        change.kind,
        change.player_id,
        change.player,
        change.user_id,
        change.user,
        change.actor_id,
        change.actor or None,
        change.over_link,
        shapes.to_raw(change.before),
        shapes.to_raw(change.after),
        change.request_id,
        change.reason,
        change.undoes,
        undone_by,
        allowed and undone_by is None and not caller.read_only,
        None if change.key is None else change.token_id,
        change.key or None,
        [_make_change_delivery(each) for each in delivered],
    )


def _make_change_delivery(each: DeliveryState) -> history_shapes.ChangeDelivery:
    at = None if each.at is None else format_instant(each.at)
    return history_shapes.ChangeDelivery(each.server, each.state, each.reason, at)


def _make_undone(result: undo.UndoResult) -> history_shapes.Undone:
    changes = [_make_done_change(each) for each in result.changes]
    return history_shapes.Undone(result.change.seq, result.change.kind, changes)


def _make_done_change(change: Change) -> history_shapes.DoneChange:
    before, after = (side and codec.encode_side(side) for side in change.sides())
    return history_shapes.DoneChange(change.kind, *change.whose(), shapes.to_raw(before), shapes.to_raw(after))


async def _find_position(keeper: Keeper) -> Sequence[Sample]:
    return [format_sample("gamekeeper_ledger_position", {}, await ledger.read_last(keeper.store))]


POSITION = MetricFamily(GAUGE, "Number of the newest change in the audit log.")
METRICS = (RoomMetrics({"gamekeeper_ledger_position": POSITION}, _find_position),)
