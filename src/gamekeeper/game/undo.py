"""Taking a change back: what it changed must still be as it left it, or nothing is done.

A stack that has grown or shrunk since is given or taken the difference, as long as that much is there: nothing is
invented. An undo is a change like others, so it can be undone too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from gamekeeper.game import account_undo, characters, history, items, link, lookup, powers, variables
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import (
    Change,
    ItemsChanged,
    PlayerChanged,
    PlayerCreated,
    PlayerDeleted,
    SpellsChanged,
    VariablesSet,
    World,
)
from gamekeeper.game.inventory import BANK, INVENTORY, Outcome, Sizes, Slots, Spot, Stack, Touched, after, cap
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import (
    AlreadyUndone,
    BadField,
    HistoryTrimmed,
    NoSuchChange,
    NoSuchItem,
    NoSuchUser,
    NotUndoable,
)
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.game.undoing import Actor, Rule, Undoing
from gamekeeper.store import history as rows
from gamekeeper.store import items as item_rows
from gamekeeper.store import ledger, players
from gamekeeper.store import spells as spell_rows
from gamekeeper.store import variables as variable_rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import NEVER, Step, Told

LINK = frozenset({"game.link"})
DEEPEST = 100  # an undo of an undo of an undo…
LATER = 1_000  # changes of what a character holds that are looked at to see whether something came back to it
MOVED_BY_PRESENCE = "last_online"
BAG_MOVED_ON = "a bag of it holds other things by now, or lies elsewhere"


class Taken(NamedTuple):
    """The change that is taken back, and the changes that do it."""

    told: Told
    changes: list[Change]


async def require(tx: Reading, seq: int) -> Told:
    told = await rows.one(tx, seq)
    if told is None:
        raise NoSuchChange(seq=seq)
    return told


async def undo(tx: Reading, seq: int, actor: Actor, spelling: Spelling, room: Sizes) -> Decision[Taken]:
    told = await require(tx, seq)
    actor.require(needed(told))
    rule = _rule(told)
    trimmed = await ledger.trimmed(tx)  # the first lock of every undo, so that none waits for one that waits for it
    if seq <= trimmed:  # what took it back may be gone, and so may what came after it
        raise HistoryTrimmed(trimmed=trimmed)
    await _lock(tx, told, actor)  # from here on nobody else undoes the same
    by = await rows.undoing(tx, [seq])
    if standing := history.standing(by, [seq]).get(seq):
        raise AlreadyUndone(seq=seq, by=standing)
    earlier = frozenset(each for numbers in by.values() for each in numbers)
    sides = _side(told.before, spelling), _side(told.after, spelling)
    undoing = Undoing(told, *sides, spelling, room, actor, earlier)
    if told.depth >= DEEPEST:
        raise undoing.conflict(f"it takes back what takes back another, {DEEPEST} times; make the change you want")
    changes = await rule(tx, undoing)
    if not changes:
        raise undoing.conflict("everything is as it was before it already")
    return Decision(changes, Taken(told, changes), about=(told.player_id, told.user_id), undoes=seq)


async def _items(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    world = await characters.belongings(tx, player.id)
    was, became = undoing.before.bags, undoing.after.bags
    touched: Touched = {
        spot: await _back(tx, undoing, spot, world.slots.get(spot))
        for spot in sorted(undoing.before.slots.keys() | undoing.after.slots.keys())
    }
    _require_room(undoing, world.slots, touched)
    await _require_nobodys(tx, undoing, was.keys() - became.keys())
    if undoing.told.from_game:
        await _require_not_back(tx, undoing)
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
        added = _added(sums(step.before), sums(step.after))
        if step.seq not in undoing.earlier and any(added[item] > 0 for item in wanted):
            raise undoing.conflict(f"the player got such an item again since, by change {step.seq}")


async def _later(tx: Reading, undoing: Undoing) -> list[Step]:
    """What was done since to what the character holds, the newest first."""
    steps = await rows.back(tx, undoing.player_id, NEVER, undoing.told.seq, LATER + 1)
    if len(steps) > LATER:
        raise undoing.conflict(f"what the player holds has changed more than {LATER} times since")
    return steps


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


async def _require_nobodys(tx: Reading, undoing: Undoing, bags: Iterable[str]) -> None:
    """A bag that comes back must not be with somebody by now."""
    if await item_rows.known_bags(tx, bags):
        raise undoing.conflict("a bag of it is with somebody by now")


async def _spells(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    known = await spell_rows.known(tx, player.id)
    now = {slot: known.get(slot) for slot in undoing.after.spells}
    if now != dict(undoing.after.spells):
        raise undoing.conflict("the spell's slot holds something else by now")
    elsewhere = {spell for slot, spell in known.items() if slot not in undoing.after.spells}
    if elsewhere & {spell for spell in undoing.before.spells.values() if spell}:
        raise undoing.conflict("the player has learnt the spell again")
    return [SpellsChanged("spells_set", player.id, now, undoing.before.spells)]


async def _variables(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    now = {row.variable_id: variables.typed(row) for row in await variable_rows.of_player(tx, player.id)}
    for each, became in undoing.after.variables.items():
        there = now.get(each)
        if there is not None if became is None else not variables.same(there, became):
            raise undoing.conflict("the variable has another value by now")
    held = {each: now.get(each) for each in undoing.after.variables}
    return [VariablesSet(player.id, held, undoing.before.variables)]


async def _record(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    wanted = {name: value for name, value in undoing.before.player.items() if name != MOVED_BY_PRESENCE}
    for name in wanted:
        if getattr(player, name) != undoing.after.player.get(name):
            raise undoing.conflict(f"its {name.replace('_', ' ')} is another by now")
    former = replace(player, **wanted)
    named = former.name != player.name
    if named:
        await characters.require_free(tx, former.name, player.id)
    if "user_id" in wanted:
        await _require_user(tx, undoing, former.user_id)
    if "equipment" in wanted:
        await _require_worn(tx, undoing, former, set(former.equipment) - set(player.equipment))
    return [PlayerChanged(player, former, named=named)] if former != player else []


async def _require_worn(tx: Reading, undoing: Undoing, former: Player, put_on: set[int]) -> None:
    """Each slot that is worn again holds what it held when it was taken off, before anything of that request."""
    worn = {(INVENTORY, slot) for slot in put_on if slot >= 0}
    held = items.stacks(await item_rows.slots_of_place(tx, former.id, INVENTORY))
    then: dict[Spot, Stack | None] = {spot: held.get(spot) for spot in worn}
    together = await rows.back(tx, former.id, undoing.told.seq, 0, 1)
    same = [step for step in together if step.request_id == undoing.told.request_id]
    for step in [*await _later(tx, undoing), *same] if worn else ():
        before, after_ = _side(step.before, undoing.spelling).slots, _side(step.after, undoing.spelling).slots
        then |= {spot: before.get(spot) for spot in worn & (before.keys() | after_.keys())}
    if any(spot not in held or not _same(held[spot], then[spot]) for spot in worn):
        raise undoing.conflict("what it wore is not in its slot any more")


async def _creation(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    _, change = await characters.deleted(tx, player.id, undoing.spelling)
    now = undoing.spelling.read_trace(undoing.spelling.trace(change.world.trace(player)))
    if _lasting(now) != _lasting(undoing.after):
        raise undoing.conflict("the player has changed since; delete it if that is what you want")
    return [change]


async def _deletion(tx: Reading, undoing: Undoing) -> list[Change]:
    held, wanted = undoing.before, {each.name for each in fields(Player)}
    if not wanted <= held.player.keys():  # an erased person's rows have lost the name
        raise undoing.conflict("the ledger no longer says who it was")
    player = Player(**{name: value for name, value in held.player.items() if name in wanted})  # pyright: ignore[reportArgumentType] - read by the names of Player's own fields
    await _require_user(tx, undoing, player.user_id)
    if await players.lock_by_id(tx, player.id):
        raise undoing.conflict("the player is there again")
    await characters.require_free(tx, player.name, player.id)
    await _require_nobodys(tx, undoing, held.bags)
    world = World(
        {spot: stack for spot, stack in held.slots.items() if stack},
        held.bags,
        {slot: spell for slot, spell in held.spells.items() if spell},
        {each: value for each, value in held.variables.items() if value is not None},
    )
    return [PlayerCreated(player, world)]


ANYBODY: frozenset[str] = frozenset()
RULES: Mapping[str, tuple[frozenset[str], Rule]] = {
    "items_given": (ANYBODY, _items),
    "items_taken": (ANYBODY, _items),
    "items_set": (ANYBODY, _items),
    "spell_taught": (ANYBODY, _spells),
    "spell_forgotten": (ANYBODY, _spells),
    "spells_set": (ANYBODY, _spells),
    VariablesSet.kind: (ANYBODY, _variables),
    PlayerChanged.kind: (ANYBODY, _record),
    PlayerCreated.kind: (ANYBODY, _creation),
    PlayerDeleted.kind: (ANYBODY, _deletion),
    **account_undo.RULES,
}
WHY_NOT = {
    "password_changed": "the old password is kept nowhere",
    "user_registered": "delete the account instead",
    "user_deleted": "who was erased is kept nowhere",
    "user_kicked": "they may have come back since",
    "reset_requested": "the mail may have been read; the code runs out by itself",
    "catalogue_put": "let the game send the catalogue again",
}
TOLD_TO_GAME = "it only told a game what was done to the account; undo that change"
LOADED = "it brought in, or threw away, very many rows at once"


def undoable(told: Told) -> bool:
    """Whether there is a way back at all; it may be too late for it."""
    return told.kind in RULES and not _told_to_game(told) and told.followed and told.depth < DEEPEST


def needed(told: Told) -> frozenset[str]:
    """Which roles and powers it takes to undo it, or to hear why that cannot be."""
    needs, _ = RULES.get(told.kind, (ANYBODY, None))
    return needs | (account_undo.QUERY if told.about_account else ANYBODY) | (LINK if told.from_game else ANYBODY)


def _rule(told: Told) -> Rule:
    if told.kind not in RULES:
        raise NotUndoable(kind=told.kind, why=WHY_NOT.get(told.kind, LOADED))
    if _told_to_game(told):
        raise NotUndoable(kind=told.kind, why=TOLD_TO_GAME)
    return RULES[told.kind][1]


def _told_to_game(told: Told) -> bool:
    return told.kind.startswith("user_") and told.player_id is not None


async def _lock(tx: Reading, told: Told, actor: Actor) -> None:
    """The character; of one that is gone, its account."""
    locked = await players.lock_by_id(tx, told.player_id) if told.player_id else None
    if locked is None and told.user_id:
        await powers.lock(tx, told.user_id, actor.id)


async def _locked(tx: Reading, undoing: Undoing) -> Player:
    locked = await players.lock_by_id(tx, undoing.player_id)
    if locked is None:
        raise undoing.conflict("the player is not there any more")
    return undoing.spelling.read_player(locked.document, locked.last_online)


async def _require_user(tx: Reading, undoing: Undoing, user_id: str) -> None:
    try:
        await lookup.locked_user(tx, user_id)
    except NoSuchUser:
        raise undoing.conflict("the account that owned it is not there any more") from None


def _side(side: bytes | str | None, spelling: Spelling) -> Trace:
    return spelling.read_trace(side) if side else Trace()


def _lasting(side: Trace) -> Trace:
    """Presence is not a change."""
    return replace(side, player={name: value for name, value in side.player.items() if name != MOVED_BY_PRESENCE})


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
