"""Taking a change back: what it changed must still be as it left it, or nothing is done.

A stack that has grown or shrunk since is given or taken the difference, as long as that much is there: nothing is
invented. An undo is a change like others, so it can be undone too.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from gamekeeper.game import accounts, characters, history, items, lookup, moderation, variables
from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import (
    Change,
    EmailChanged,
    ItemsChanged,
    PlayerChanged,
    PlayerCreated,
    PlayerDeleted,
    PowersChanged,
    SpellsChanged,
    Untraced,
    UserBanned,
    UserMuted,
    UserRenamed,
    UserUnbanned,
    UserUnmuted,
    VariablesSet,
    World,
)
from gamekeeper.game.inventory import BANK, INVENTORY, Outcome, Sizes, Slots, Spot, Stack, Touched, cap
from gamekeeper.game.moderation import Order
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import AlreadyUndone, NoSuchChange, NoSuchUser, NotUndoable, Outranked, UndoConflict
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.store import history as rows
from gamekeeper.store import players, users
from gamekeeper.store import spells as spell_rows
from gamekeeper.store import variables as variable_rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import Told
from gamekeeper.store.moderation import Penalty
from gamekeeper.store.users import Powers

QUERY, MANAGE, LINK = frozenset({"users.query"}), frozenset({"users.query", "users.manage"}), frozenset({"game.link"})
BAN, MUTE = QUERY | {"ban"}, QUERY | {"mute"}
MOVED_BY_PRESENCE = "last_online"


class Taken(NamedTuple):
    """The change that is taken back, and the changes that do it."""

    told: Told
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Undoing:
    """One undo under way: the change with both its sides, and whoever asks."""

    told: Told
    before: Trace
    after: Trace
    spelling: Spelling
    room: Sizes
    actor_id: str
    actor: str

    def conflict(self, why: str) -> UndoConflict:
        return UndoConflict(seq=self.told.seq, why=why)

    @property
    def player_id(self) -> str:
        return self.told.player_id or ""

    @property
    def user_id(self) -> str:
        return self.told.user_id or ""


Rule = Callable[[Reading, Undoing], Coroutine[Any, Any, list[Change]]]


async def require(tx: Reading, seq: int) -> tuple[Told, frozenset[str]]:
    """The change, and which roles and powers it takes to undo it."""
    told = await rows.one(tx, seq)
    if told is None:
        raise NoSuchChange(seq=seq)
    needs, _ = _rule(told)
    return told, needs | LINK if told.over_link else needs


async def undo(tx: Reading, seq: int, actor: tuple[str, str], spelling: Spelling, room: Sizes) -> Decision[Taken]:
    """By an actor (id, name) of whom `require` was asked."""
    told, _ = await require(tx, seq)
    _, rule = _rule(told)
    before, after = _side(told.before, spelling), _side(told.after, spelling)
    undoing = Undoing(told, before, after, spelling, room, *actor)
    await _lock(tx, told)  # from here on nobody else undoes the same
    if by := (await history.undone_by(tx, [seq])).get(seq):
        raise AlreadyUndone(seq=seq, by=by)
    changes = await rule(tx, undoing)
    if not changes:
        raise undoing.conflict("everything is as it was before it already")
    return Decision(changes, Taken(told, changes), about=(told.player_id, told.user_id), undoes=seq)


async def _items(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    world = await characters.belongings(tx, player.id)
    made, lost = _only_in(undoing.after.bags, undoing.before.bags), _only_in(undoing.before.bags, undoing.after.bags)
    resized = {bag: size for bag, size in undoing.before.bags.items() if bag in undoing.after.bags}
    touched: Touched = {
        spot: await _back(tx, undoing, spot, world.slots.get(spot))
        for spot in sorted(undoing.before.slots.keys() | undoing.after.slots.keys())
    }
    _require_bags(undoing, world, touched, made, lost, resized)
    was = {bag: world.bags[bag] for bag in resized}
    outcome = Outcome(touched, new_bags=lost | resized, lost_bags=made, resized_bags=was)
    return [ItemsChanged("items_set", player.id, world.slots, outcome), *items.taken_off(player, touched)]


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
    known = await items.known_item(tx, stack.item_id)
    if quantity > max(cap(known, undoing.room), _quantity(was), _quantity(now)):
        raise undoing.conflict(f"{_where(spot)} cannot hold {quantity}")
    return stack


def _require_bags(
    undoing: Undoing,
    world: World,
    touched: Touched,
    made: Mapping[str, int],
    lost: Mapping[str, int],
    resized: Mapping[str, int],
) -> None:
    after: Slots = {spot: stack for spot, stack in {**world.slots, **touched}.items() if stack}
    for bag in made:
        if any(place == bag for place, _ in after):
            raise undoing.conflict("the bag holds items by now")
    for bag, size in resized.items():
        if bag not in world.bags or any(place == bag and slot >= size for place, slot in after):
            raise undoing.conflict("the bag is another by now")
    places = {INVENTORY, BANK, *lost, *(world.bags.keys() - made.keys())}
    if lost.keys() & world.bags.keys() or any(place not in places for place, _ in after):
        raise undoing.conflict("a bag that it moved is not what it was")


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
    after = replace(player, **wanted)
    named = "name" in wanted
    if named:
        await characters.require_free(tx, after.name, player.id)
    if "user_id" in wanted:
        await _require_user(tx, undoing, after.user_id)
    return [PlayerChanged(player, after, named=named)] if after != player or named else []


async def _creation(tx: Reading, undoing: Undoing) -> list[Change]:
    player = await _locked(tx, undoing)
    _, change = await characters.deleted(tx, player.id, undoing.spelling)
    made = replace(undoing.after, player={**undoing.after.player, MOVED_BY_PRESENCE: player.last_online})
    if undoing.spelling.trace(change.world.trace(player)) != undoing.spelling.trace(made):
        raise undoing.conflict("the player has changed since; delete it if that is what you want")
    return [change]


async def _deletion(tx: Reading, undoing: Undoing) -> list[Change]:
    held, wanted = undoing.before, {each.name for each in fields(Player)}
    if held.player.keys() < wanted:
        raise undoing.conflict("the ledger no longer says who it was")
    player = Player(**{name: value for name, value in held.player.items() if name in wanted})  # pyright: ignore[reportArgumentType] - read by the names of Player's own fields
    await _require_user(tx, undoing, player.user_id)
    if await players.lock_by_id(tx, player.id):
        raise undoing.conflict("the player is there again")
    await characters.require_free(tx, player.name, player.id)
    world = World(
        {spot: stack for spot, stack in held.slots.items() if stack},
        held.bags,
        {slot: spell for slot, spell in held.spells.items() if spell},
        {each: value for each, value in held.variables.items() if value is not None},
    )
    return [PlayerCreated(player, world)]


async def _email(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await lookup.locked_user(tx, undoing.user_id)
    if user.email != undoing.after.user.get("email"):
        raise undoing.conflict("the account has another address by now")
    return _changes(await accounts.change_email(tx, user.id, _text(undoing, "email"), None))


async def _account_name(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await lookup.locked_user(tx, undoing.user_id)
    if user.name != undoing.after.user.get("name"):
        raise undoing.conflict("the account has another name by now")
    return _changes(await accounts.rename(tx, user.id, _text(undoing, "name")))


async def _powers(tx: Reading, undoing: Undoing) -> list[Change]:
    user = await lookup.locked_user(tx, undoing.user_id)
    if user.powers != _powers_of(undoing.after):
        raise undoing.conflict("the account has other powers by now")
    former = _powers_of(undoing.before)
    actor = await lookup.user(tx, undoing.actor_id)
    if any(was and not now and not held for was, now, held in zip(former, user.powers, actor.powers, strict=True)):
        raise Outranked  # nobody gives what they do not have
    return [PowersChanged(user, former)]


async def _ban(tx: Reading, undoing: Undoing) -> list[Change]:
    _require_same(undoing, (await lookup.locked_user(tx, undoing.user_id)).ban_reason, "ban_reason")
    return _changes(await moderation.unban(tx, _order(undoing)))


async def _unban(tx: Reading, undoing: Undoing) -> list[Change]:
    return _changes(await moderation.ban(tx, _order(undoing, again="ban_reason")))


async def _mute(tx: Reading, undoing: Undoing) -> list[Change]:
    _require_same(undoing, (await lookup.locked_user(tx, undoing.user_id)).mute_reason, "mute_reason")
    return _changes(await moderation.unmute(tx, _order(undoing)))


async def _unmute(tx: Reading, undoing: Undoing) -> list[Change]:
    return _changes(await moderation.mute(tx, _order(undoing, again="mute_reason")))


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
    EmailChanged.kind: (MANAGE, _email),
    UserRenamed.kind: (MANAGE, _account_name),
    PowersChanged.kind: (MANAGE, _powers),
    UserBanned.kind: (BAN, _ban),
    UserUnbanned.kind: (BAN, _unban),
    UserMuted.kind: (MUTE, _mute),
    UserUnmuted.kind: (MUTE, _unmute),
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
    return told.kind in RULES and not _told_to_game(told)


def _rule(told: Told) -> tuple[frozenset[str], Rule]:
    if _told_to_game(told):
        raise NotUndoable(kind=told.kind, why=TOLD_TO_GAME)
    if told.kind not in RULES:
        raise NotUndoable(kind=told.kind, why=WHY_NOT.get(told.kind, LOADED))
    return RULES[told.kind]


def _told_to_game(told: Told) -> bool:
    return told.kind.startswith("user_") and told.player_id is not None


async def _lock(tx: Reading, told: Told) -> None:
    if told.player_id is None or await players.lock_by_id(tx, told.player_id) is None:
        await users.lock(tx, told.user_id or "")


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


def _require_same(undoing: Undoing, reason: str | None, name: str) -> None:
    if reason is None or reason != undoing.after.user.get(name):
        raise undoing.conflict("it ended, or another took its place")


def _order(undoing: Undoing, again: str | None = None) -> Order:
    former = undoing.before.user
    penalty = Penalty(str(former.get(again) or ""), str(former.get("moderator") or ""), _end(former)) if again else None
    said = f"undoes change {undoing.told.seq}"
    return Order(undoing.user_id, reason=said, moderator=undoing.actor, actor_id=undoing.actor_id, again=penalty)


def _end(former: Mapping[str, object]) -> int | None:
    ends_at = former.get("ends_at")
    return ends_at if isinstance(ends_at, int) else None


def _powers_of(side: Trace) -> Powers:
    return Powers(**{name: bool(side.user.get(name)) for name in Powers._fields})


def _text(undoing: Undoing, name: str) -> str:
    """An erased person's rows have lost it."""
    found = undoing.before.user.get(name)
    if not isinstance(found, str):
        raise undoing.conflict("the ledger no longer says what it was")
    return found


def _changes(decision: Decision[Any]) -> list[Change]:
    return [each for each in decision.changes if not isinstance(each, Untraced)]


def _side(side: bytes | str | None, spelling: Spelling) -> Trace:
    return spelling.read_trace(side) if side else Trace()


def _only_in(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {bag: size for bag, size in one.items() if bag not in other}


def _quantity(stack: Stack | None) -> int:
    return stack.quantity if stack else 0


def _where(spot: Spot) -> str:
    place, slot = spot
    return f"slot {slot} of the {place if place in (INVENTORY, BANK) else 'bag'}"
