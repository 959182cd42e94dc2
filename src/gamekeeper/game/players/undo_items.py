"""Undo of changes of a player's items. `undo.py` undoes the other changes of players.

An undo is refused if an item that a game took from the player went to another player: the undo would duplicate it. A
game reports a trade, or a drop and a pick-up, as two changes: one player loses the item, another gains it. Their order
is not known, and nothing links them but the item itself and the time.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import cast

from msgspec.structs import replace

from gamekeeper.game.core.change import Change, ChangeSide
from gamekeeper.game.core.player import BANK, INVENTORY, Player, SlotAddress, Stack
from gamekeeper.game.core.refusals import BadField, NoSuchItem
from gamekeeper.game.core.undo import SKIP_FACTOR, UndoContext, find_undone, lock_player, read_side, undoes
from gamekeeper.game.players import inventory, items, player_edits
from gamekeeper.game.players.changes import ITEM_KINDS, ITEMS_SET, ItemsChanged, PlayerChanged
from gamekeeper.game.players.inventory import InventoryChange, SlotChanges, Slots, apply_slot_changes, find_stack_limit
from gamekeeper.game.players.refusals import ItemMovedOn
from gamekeeper.ground.instants import MINUTE_MS
from gamekeeper.store.audit import history as rows
from gamekeeper.store.audit.history import NEVER, HistoryStep
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items as item_rows

WINDOW_CHANGES = 1_000  # change numbers that one statement searches for a trade
# windows of changes searched for a trade in each direction: limits the search, however busy the game is
MAX_WINDOWS = 20


async def require_not_traded(tx: Reading, context: UndoContext) -> None:
    """Refuse an undo if a game reported that the player lost the items, and that another player gained them then.

    For an undo of an undo, the report is the first change of the chain.
    """
    report = await rows.find_change(tx, context.change.first) if context.trade_ms and context.change.from_game else None
    lost = _find_gained(context.after, context.before) & _find_lost(report, context) if report else None
    if not report or not lost:
        return
    times = report.at - context.trade_ms, report.at + context.trade_ms
    items = {stack.item_id for stack in lost}
    async for numbers in _iterate_windows(tx, context, report.seq, times):
        gains = [
            each
            for each in await rows.find_reported_of_others(tx, context.player_id, numbers, times, items)
            if lost & _find_gained(read_side(each.before, context.codec), read_side(each.after, context.codec))
        ]
        undone = await find_undone(tx, [each.seq for each in gains])
        for each in gains:
            if each.seq not in undone:
                who = each.player or each.player_id
                raise _make_refusal(context, f"{who} gained the same item by change {each.seq}")


async def _iterate_windows(tx: Reading, context: UndoContext, seq: int, times: tuple[int, int]) -> AsyncIterator[range]:
    """Yield ranges of change numbers between two times: first those after change `seq`, then those before it."""
    start = seq + 1
    for _ in range(MAX_WINDOWS):
        first = await rows.find_first_from(tx, start)
        if first is None or first[1] > times[1]:
            break
        yield range(first[0], first[0] + WINDOW_CHANGES)
        start = first[0] + WINDOW_CHANGES
    else:
        raise _make_too_many_refusal(context)
    stop = seq
    for _ in range(MAX_WINDOWS):
        start = max(stop - WINDOW_CHANGES, 0)
        yield range(start, stop)
        first = await rows.find_first_from(tx, start)
        if not start or first is None or first[1] < times[0]:
            return
        stop = start
    raise _make_too_many_refusal(context)


def _find_lost(report: rows.HistoryChange, context: UndoContext) -> set[Stack]:
    return _find_gained(read_side(report.after, context.codec), read_side(report.before, context.codec))


def _find_gained(before: ChangeSide, after: ChangeSide) -> set[Stack]:
    """Return the items, with buffs and bag, of which the player has more after the change, as stacks of one.

    The id of an empty bag is ignored: Gamekeeper makes a new one when the game does not name it.
    """
    filled = {place for place, _ in (*before.slots, *after.slots)}
    sums: Counter[Stack] = Counter()
    for slots, sign in ((before.slots, -1), (after.slots, 1)):
        for stack in slots.values():
            if stack:
                bag_id = stack.bag_id if stack.bag_id in filled else None
                sums[stack._replace(quantity=1, bag_id=bag_id)] += sign * stack.quantity
    return {stack for stack, quantity in sums.items() if quantity > 0}


def _make_too_many_refusal(context: UndoContext) -> ItemMovedOn:
    most = f"{WINDOW_CHANGES * MAX_WINDOWS:,}"
    return _make_refusal(context, f"more than {most} changes, too many to search for a trade, were made")


def _make_refusal(context: UndoContext, trade: str) -> ItemMovedOn:
    return ItemMovedOn(seq=context.change.seq, trade=trade, minutes=context.trade_ms // MINUTE_MS)


MOST_LATER = 1_000  # later changes of a player's items that an undo searches for a return of the item
# earlier changes, and ms, in which an undo of a loss searches for a gain: both may be one move between slots
PRECEDING_CHANGES, PRECEDING_MS = 100, 60_000
EQUIPMENT = "equipment"
BAG_CHANGED = "a bag of this change holds other items now, or was moved"


@undoes(*ITEM_KINDS)
async def undo_items(tx: Reading, context: UndoContext) -> list[Change]:
    player = await lock_player(tx, context)
    world = await player_edits.load_state(tx, player.id)
    was, became = context.before.bags, context.after.bags
    touched: SlotChanges = {
        spot: await _restore_slot(tx, context, spot, world.slots.get(spot))
        for spot in sorted(context.before.slots.keys() | context.after.slots.keys())
    }
    _require_room(context, world.slots, touched)
    await require_free_bags(tx, context, was.keys() - became.keys())
    if context.change.from_game:
        await _require_not_regained(tx, context)
        await require_not_traded(tx, context)
    made = {bag: size for bag, size in became.items() if bag not in was}
    resized = {bag: size for bag, size in world.bags.items() if bag in was}
    if any(world.bags.get(bag) != size for bag, size in became.items()):
        raise context.make_conflict("a bag of this change has another size now, or was removed")
    _require_consistent_bags(
        context, apply_slot_changes(world.slots, touched), _remove_bags({**world.bags, **was}, made)
    )
    outcome = InventoryChange(touched, new_bags=dict(was), removed_bags=made, resized_bags=resized)
    return [
        ItemsChanged(ITEMS_SET, player.id, world.slots, outcome),
        *await _restore_equipment(tx, context, player, world.slots, touched),
    ]


async def _restore_equipment(
    tx: Reading, context: UndoContext, player: Player, slots: Slots, touched: SlotChanges
) -> list[Change]:
    """Return the change of the equipment that belongs to restored slots.

    The request may have unequipped an item because it took it. The item is then equipped again with its return,
    unless something else has been equipped there since.
    """
    followed = items.follow_equipment(player, slots, touched)
    seq = await rows.find_following(tx, player.id, context.change.seq, ())
    told = await rows.find_change(tx, seq) if seq is not None else None
    if told is None or told.kind != PlayerChanged.kind or told.request_id != context.change.request_id:
        return followed
    was, became = (read_side(side, context.codec).player.get(EQUIPMENT) for side in (told.before, told.after))
    if not isinstance(was, tuple) or became != player.equipment:
        return followed
    worn = cast("tuple[int, ...]", was)
    if not all((INVENTORY, slot) in touched for slot in set(worn) - set(player.equipment) if slot >= 0):
        return followed
    return [PlayerChanged(player, replace(player, equipment=worn))] if worn != player.equipment else []


async def _restore_slot(tx: Reading, context: UndoContext, spot: SlotAddress, now: Stack | None) -> Stack | None:
    """Return the content of a slot after an undo."""
    was, became = context.before.slots.get(spot), context.after.slots.get(spot)
    if now == became:
        return was
    kinds = {stack._replace(quantity=1) for stack in (was, became, now) if stack}
    if len(kinds) > 1 or any(stack.bag_id for stack in kinds):
        raise context.make_conflict(f"{_describe_slot(spot)} holds something else now")
    quantity = _read_quantity(now) - _read_quantity(became) + _read_quantity(was)
    if quantity < 0:
        raise context.make_conflict(
            f"{_describe_slot(spot)} has {_read_quantity(now)} left of {_read_quantity(became)}"
        )
    if not quantity:
        return None
    stack = min(kinds)._replace(quantity=quantity)
    if quantity > max(await _find_limit(tx, context, stack, now), _read_quantity(was), _read_quantity(now)):
        raise context.make_conflict(f"{_describe_slot(spot)} cannot hold {quantity}")
    return stack


async def _find_limit(tx: Reading, context: UndoContext, stack: Stack, now: Stack | None) -> int:
    """Find the largest stack that an undo may restore. Items missing in the catalogue can be taken, but not given."""
    if stack.quantity <= _read_quantity(now):
        return stack.quantity
    try:
        return find_stack_limit(await items.require_item(tx, stack.item_id), context.room)
    except NoSuchItem:
        raise context.make_conflict("the catalogue no longer has the item") from None


def _require_room(context: UndoContext, slots: Slots, touched: SlotChanges) -> None:
    for spot, stack in touched.items():
        place, slot = spot
        if stack and spot not in slots and place in (INVENTORY, BANK) and slot >= context.room.count_slots(place):
            raise context.make_conflict(f"{_describe_slot(spot)} no longer exists")


async def _require_not_regained(tx: Reading, context: UndoContext) -> None:
    """Refuse an undo if the player got the item back since, perhaps in another slot: it must not be given twice."""
    told, sums = context.change, context.codec.count_items
    wanted = {item for item, quantity in _count_added(sums(told.after), sums(told.before)).items() if quantity > 0}
    for step in await _load_later_steps(tx, context) if wanted else ():
        if step.seq not in context.undo_chain and _has_gained(context, step, wanted):
            raise context.make_conflict(f"the player got such an item again since, by change {step.seq}")
    if wanted and told.over_link:
        await _require_not_moved(tx, context, wanted)


async def _load_later_steps(tx: Reading, context: UndoContext) -> list[HistoryStep]:
    """Read the later changes of the player's items, newest first."""
    most = SKIP_FACTOR * MOST_LATER
    passed, told = await rows.count_since(tx, context.player_id, context.change.seq, most)
    if passed == most or told > MOST_LATER:
        raise context.make_conflict(
            f"the player's items have changed more than {MOST_LATER} times since, or the player {most} times"
        )
    return await rows.read_back(tx, context.player_id, NEVER, context.change.seq, MOST_LATER)


async def _require_not_moved(tx: Reading, context: UndoContext, wanted: set[str]) -> None:
    """Refuse an undo if the change may be half of a move, reported as a gain in one slot, then a loss in another."""
    told = context.change
    came = [
        step.seq
        for step in await rows.read_right_before(tx, context.player_id, told.seq, PRECEDING_CHANGES)
        if step.over_link and step.kind == ITEMS_SET and step.at >= told.at - PRECEDING_MS
        if _has_gained(context, step, wanted) and _has_gained_elsewhere(context, step, wanted)
    ]
    undone = await find_undone(tx, came)
    for seq in came:
        if seq not in undone:
            raise context.make_conflict(
                f"it may be half of a move: the player got such an item by change {seq}; undo that first"
            )


def _has_gained(context: UndoContext, step: HistoryStep, wanted: set[str]) -> bool:
    """Tell whether the player had more of one of these items after the change."""
    added = _count_added(context.codec.count_items(step.before), context.codec.count_items(step.after))
    return any(added[item] > 0 for item in wanted)


def _has_gained_elsewhere(context: UndoContext, step: HistoryStep, wanted: set[str]) -> bool:
    """Tell whether the items appeared in other slots than those they left, which means that they were moved."""
    before, after_ = read_side(step.before, context.codec), read_side(step.after, context.codec)
    return bool(_find_grown_slots(before, after_, wanted) - _find_grown_slots(context.after, context.before, wanted))


def _find_grown_slots(before: ChangeSide, after_: ChangeSide, wanted: set[str]) -> set[SlotAddress]:
    return {
        spot
        for spot, stack in after_.slots.items()
        if stack and stack.item_id in wanted
        if not stack.is_like(was := before.slots.get(spot)) or stack.quantity > _read_quantity(was)
    }


def _require_consistent_bags(context: UndoContext, slots: Slots, bags: Mapping[str, int]) -> None:
    """Refuse an undo unless each bag is in exactly one slot, and every item is in an existing slot or bag."""
    for (place, slot), stack in slots.items():
        there = place in (INVENTORY, BANK) or slot < bags.get(place, 0)
        if not there or (stack.bag_id and stack.bag_id not in bags):
            raise context.make_conflict(BAG_CHANGED)
    try:
        held = inventory.find_reachable_bags(slots, bags)
    except BadField:
        raise context.make_conflict(BAG_CHANGED) from None
    if held != set(bags):
        raise context.make_conflict(BAG_CHANGED)


async def require_free_bags(tx: Reading, context: UndoContext, bags: Iterable[str]) -> None:
    """Refuse an undo if a bag that it restores belongs to a player now."""
    if await item_rows.find_known_bags(tx, bags):
        raise context.make_conflict("a bag of this change belongs to a player now")


async def require_same_equipment(tx: Reading, context: UndoContext, former: Player, put_on: set[int]) -> None:
    """Refuse an undo unless each slot that is equipped again holds the item that was equipped.

    The comparison starts before the whole request: it may have changed the slot and the equipment together.
    """
    worn = {(INVENTORY, slot) for slot in put_on if slot >= 0}
    held = items.read_stacks(await item_rows.read_slots_of_place(tx, former.id, INVENTORY))
    then: dict[SlotAddress, Stack | None] = {spot: held.get(spot) for spot in worn}
    together = await rows.read_right_before(tx, former.id, context.change.seq, PRECEDING_CHANGES)
    same = [step for step in together if step.request_id == context.change.request_id]
    for step in [*await _load_later_steps(tx, context), *same] if worn else ():
        before, after_ = read_side(step.before, context.codec).slots, read_side(step.after, context.codec).slots
        then |= {spot: before.get(spot) for spot in worn & (before.keys() | after_.keys())}
    if any(spot not in held or not held[spot].is_like(then[spot]) for spot in worn):
        gone = "the equipped item is no longer in its slot"
        taken = [step.seq for step in same if step.kind in ITEM_KINDS]
        if taken and not await find_undone(tx, taken[:1]):
            gone = f"{gone}; undo change {taken[0]} first, which equips it again"
        raise context.make_conflict(gone)


def _remove_bags(bags: Mapping[str, int], gone: Mapping[str, int]) -> dict[str, int]:
    return {bag: size for bag, size in bags.items() if bag not in gone}


def _count_added(before: Mapping[str, int], after_: Mapping[str, int]) -> Counter[str]:
    added = Counter(after_)
    added.subtract(before)
    return added


def _read_quantity(stack: Stack | None) -> int:
    return stack.quantity if stack else 0


def _describe_slot(spot: SlotAddress) -> str:
    place, slot = spot
    return f"slot {slot} of the {place if place in (INVENTORY, BANK) else 'bag'}"
