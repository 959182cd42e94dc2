"""Taking back what was done to the things that a character holds, as undo.py has it for the rest of it."""

from collections import Counter
from collections.abc import Iterable, Mapping

from gamekeeper.game import characters, history, items, link, trades
from gamekeeper.game.effects import Change, ItemsChanged
from gamekeeper.game.inventory import BANK, INVENTORY, Outcome, Slots, Spot, Stack, Touched, after, cap
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import BadField, NoSuchItem
from gamekeeper.game.spelling import Trace
from gamekeeper.game.undoing import Undoing, locked, side
from gamekeeper.store import history as rows
from gamekeeper.store import items as item_rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER, HistoryStep

LATER = 1_000  # changes of what a character holds that are looked at to see whether something came back to it
NEAR, NEAR_MS = 100, 60_000  # changes right before one, and how long before, that may be the other half of a move
REPORTED = "items_set"  # what a game says of what a character holds
BAG_MOVED_ON = "a bag of it holds other things by now, or lies elsewhere"


async def items_back(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await locked(tx, undoing)
    world = await characters.belongings(tx, player.id)
    was, became = undoing.before.bags, undoing.after.bags
    touched: Touched = {
        spot: await _back(tx, undoing, spot, world.slots.get(spot))
        for spot in sorted(undoing.before.slots.keys() | undoing.after.slots.keys())
    }
    _require_room(undoing, world.slots, touched)
    await require_nobodys(tx, undoing, was.keys() - became.keys())
    if undoing.told.from_game:
        await _require_not_back(tx, undoing)
        await trades.require_not_traded(tx, undoing)
    made = {bag: size for bag, size in became.items() if bag not in was}
    resized = {bag: size for bag, size in world.bags.items() if bag in was}
    if any(world.bags.get(bag) != size for bag, size in became.items()):
        raise undoing.conflict("a bag of it has another size by now, or is gone")
    _require_bags(undoing, after(world.slots, touched), _without({**world.bags, **was}, made))
    outcome = Outcome(touched, new_bags=dict(was), lost_bags=made, resized_bags=resized)
    others = {spot: stack if _same(stack, world.slots.get(spot)) else None for spot, stack in touched.items()}
    return [ItemsChanged("items_set", player.id, world.slots, outcome), *items.taken_off(player, others)]


async def _back(tx: Reading, undoing: Undoing, spot: Spot, now: Stack | None) -> Stack | None:
    """What the slot holds when the change is taken back."""
    was, became = undoing.before.slots.get(spot), undoing.after.slots.get(spot)
    if now == became:
        return was
    kinds = {stack._replace(quantity=1) for stack in (was, became, now) if stack}
    if len(kinds) > 1 or any(stack.bag_id for stack in kinds):
        raise undoing.conflict(f"{_where(spot)} holds something else by now")
    quantity = _quantity(now) - _quantity(became) + _quantity(was)
    if quantity < 0:
        raise undoing.conflict(f"{_where(spot)} has {_quantity(now)} left of {_quantity(became)}")
    if not quantity:
        return None
    stack = min(kinds)._replace(quantity=quantity)
    if quantity > max(await _cap(tx, undoing, stack, now), _quantity(was), _quantity(now)):
        raise undoing.conflict(f"{_where(spot)} cannot hold {quantity}")
    return stack


async def _cap(tx: Reading, undoing: Undoing, stack: Stack, now: Stack | None) -> int:
    """Of what the catalogue no longer has there will be less, but not more."""
    if stack.quantity <= _quantity(now):
        return stack.quantity
    try:
        return cap(await items.known_item(tx, stack.item_id), undoing.room)
    except NoSuchItem:
        raise undoing.conflict("the catalogue does not have the item any more") from None


def _require_room(undoing: Undoing, slots: Slots, touched: Touched) -> None:
    for spot, stack in touched.items():
        place, slot = spot
        if stack and spot not in slots and place in (INVENTORY, BANK) and slot >= undoing.room.of(place):
            raise undoing.conflict(f"there is no {_where(spot)} any more")


async def _require_not_back(tx: Reading, undoing: Undoing) -> None:
    """What left a character in the game may have come back to it, in another slot: it is not given twice."""
    told, sums = undoing.told, undoing.spelling.sums
    wanted = {item for item, quantity in _added(sums(told.after), sums(told.before)).items() if quantity > 0}
    for step in await _later(tx, undoing) if wanted else ():
        if step.seq not in undoing.kin and _got(undoing, step, wanted):
            raise undoing.conflict(f"the player got such an item again since, by change {step.seq}")
    if wanted and told.over_link:
        await _require_not_moved(tx, undoing, wanted)


async def _later(tx: Reading, undoing: Undoing) -> list[HistoryStep]:
    """What was done since to what the character holds, the newest first."""
    most = history.PASSED * LATER
    passed, told = await rows.count_since(tx, undoing.player_id, undoing.told.seq, most)
    if passed == most or told > LATER:
        raise undoing.conflict(
            f"what the player holds has changed more than {LATER} times since, or anything of it {most} times"
        )
    return await rows.read_back(tx, undoing.player_id, NEVER, undoing.told.seq, LATER)


async def _require_not_moved(tx: Reading, undoing: Undoing, wanted: set[str]) -> None:
    """A game may report a move within a character as two: what came to one slot, then what went from another."""
    told = undoing.told
    came = [
        step.seq
        for step in await rows.read_right_before(tx, undoing.player_id, told.seq, NEAR)
        if step.over_link and step.kind == REPORTED and step.at >= told.at - NEAR_MS
        if _got(undoing, step, wanted) and _elsewhere(undoing, step, wanted)
    ]
    undone = await history.undone_by(tx, came)
    for seq in came:
        if seq not in undone:
            raise undoing.conflict(
                f"it may be half of a move: the player got such an item by change {seq}; undo that first"
            )


def _got(undoing: Undoing, step: HistoryStep, wanted: set[str]) -> bool:
    """Whether the character had more of one of these after it."""
    added = _added(undoing.spelling.sums(step.before), undoing.spelling.sums(step.after))
    return any(added[item] > 0 for item in wanted)


def _elsewhere(undoing: Undoing, step: HistoryStep, wanted: set[str]) -> bool:
    """Whether they came to other slots than those that they went from: what comes and goes in one was not moved."""
    before, after_ = side(step.before, undoing.spelling), side(step.after, undoing.spelling)
    return bool(_grown(before, after_, wanted) - _grown(undoing.after, undoing.before, wanted))


def _grown(before: Trace, after_: Trace, wanted: set[str]) -> set[Spot]:
    return {
        spot
        for spot, stack in after_.slots.items()
        if stack and stack.item_id in wanted
        if not _same(stack, was := before.slots.get(spot)) or stack.quantity > _quantity(was)
    }


def _require_bags(undoing: Undoing, slots: Slots, bags: Mapping[str, int]) -> None:
    """One gets to each bag through one slot, and nothing lies in a bag that is not there."""
    for (place, slot), stack in slots.items():
        there = place in (INVENTORY, BANK) or slot < bags.get(place, 0)
        if not there or (stack.bag_id and stack.bag_id not in bags):
            raise undoing.conflict(BAG_MOVED_ON)
    try:
        held = link.reachable(slots, bags)
    except BadField:
        raise undoing.conflict(BAG_MOVED_ON) from None
    if held != set(bags):
        raise undoing.conflict(BAG_MOVED_ON)


async def require_nobodys(tx: Reading, undoing: Undoing, bags: Iterable[str]) -> None:
    """A bag that comes back must not be with somebody by now."""
    if await item_rows.find_known_bags(tx, bags):
        raise undoing.conflict("a bag of it is with somebody by now")


async def require_worn(tx: Reading, undoing: Undoing, former: Player, put_on: set[int]) -> None:
    """Each slot that is worn again holds what it held when it was taken off, before anything of that request."""
    worn = {(INVENTORY, slot) for slot in put_on if slot >= 0}
    held = items.stacks(await item_rows.read_slots_of_place(tx, former.id, INVENTORY))
    then: dict[Spot, Stack | None] = {spot: held.get(spot) for spot in worn}
    together = await rows.read_right_before(tx, former.id, undoing.told.seq, NEAR)
    same = [step for step in together if step.request_id == undoing.told.request_id]
    for step in [*await _later(tx, undoing), *same] if worn else ():
        before, after_ = side(step.before, undoing.spelling).slots, side(step.after, undoing.spelling).slots
        then |= {spot: before.get(spot) for spot in worn & (before.keys() | after_.keys())}
    if any(spot not in held or not _same(held[spot], then[spot]) for spot in worn):
        raise undoing.conflict("what it wore is not in its slot any more")


def _without(bags: Mapping[str, int], gone: Mapping[str, int]) -> dict[str, int]:
    return {bag: size for bag, size in bags.items() if bag not in gone}


def _added(before: Mapping[str, int], after_: Mapping[str, int]) -> Counter[str]:
    added = Counter(after_)
    added.subtract(before)
    return added


def _same(one: Stack | None, other: Stack | None) -> bool:
    """The same thing, be it more or less of it."""
    return one is not None and other is not None and one._replace(quantity=1) == other._replace(quantity=1)


def _quantity(stack: Stack | None) -> int:
    return stack.quantity if stack else 0


def _where(spot: Spot) -> str:
    place, slot = spot
    return f"slot {slot} of the {place if place in (INVENTORY, BANK) else 'bag'}"
